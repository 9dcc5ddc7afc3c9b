//! Entries: the published files of repositories.

use crate::digest::Hashes;
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// Whether an entry is published or withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Published.
    Live,
    /// A tombstone. Its key can never get other bytes.
    Withdrawn,
}

/// A published file, as it is after its last change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The group of entries that change together, for which revisions are counted. An entry never moves to another unit.
    pub unit: String,
    /// Unique in its repository.
    pub key: String,
    /// Whether it is published or withdrawn.
    pub state: State,
    /// When it was first published.
    pub published: Millis,
    /// When it last changed.
    pub changed: Millis,
    /// The digests of its bytes.
    pub hashes: Hashes,
    /// What the format extracted from it. Opaque: the format alone writes, reads and versions it.
    pub facts: serde_json::Value,
    /// The line that this change appends to the repository's index. It is rendered once and never again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}
