//! Entries: the published files of repositories.

use crate::blobs::digest::Hashes;
use crate::blobs::life::Keep;
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

/// A published file after its last change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The group of entries that change together, for which revisions are counted. An entry never moves to another unit.
    pub unit: String,
    /// Unique in its repository.
    pub key: String,
    /// Whether it is published or withdrawn.
    pub state: State,
    /// When it was first published here.
    pub published: Millis,
    /// When it last changed.
    pub changed: Millis,
    /// The digests of its bytes.
    pub hashes: Hashes,
    /// The facts that the format extracted from it. Opaque: only the format writes, reads and versions them.
    pub facts: serde_json::Value,
    /// The line that this change appends to the repository's index. It is never rendered again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Where and when it was published before it was imported, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<EntryOrigin>>,
    /// The reason of its withdrawal. `None`: it is live, or an earlier version of Daylight withdrew it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawal: Option<Withdrawal>,
}

impl Entry {
    /// A live entry that is published at `at`, without facts, an index line and an origin.
    pub fn live(unit: String, key: String, hashes: Hashes, at: Millis) -> Self {
        let (facts, line, origin, withdrawal) = (serde_json::Value::Null, None, None, None);
        Self { unit, key, state: State::Live, published: at, changed: at, hashes, facts, line, origin, withdrawal }
    }

    /// When it was first published: at its origin, if that is known, otherwise here. Its age counts from then.
    pub fn first_published(&self) -> Millis {
        self.origin.as_ref().map_or(self.published, |origin| origin.at)
    }

    /// The entry after a change at `at` that withdraws it. It has no index line: the caller adds the line of this change.
    pub fn withdrawn(&self, withdrawal: Withdrawal, at: Millis) -> Self {
        let withdrawal = Some(withdrawal);
        Self { state: State::Withdrawn, changed: at, line: None, withdrawal, ..self.clone() }
    }

    /// The period of its bytes that its withdrawal began. Rows of earlier versions have no reason.
    pub fn keep(&self) -> Keep {
        self.withdrawal.as_ref().map_or(Keep::Horizon, Withdrawal::keep)
    }

    /// The entry after a change at `at` that restores it. It has no index line: the caller adds the line of this change.
    pub fn restored(&self, at: Millis) -> Self {
        Self { state: State::Live, changed: at, line: None, withdrawal: None, ..self.clone() }
    }
}

/// The publication of an entry on another server, before it was imported. An admin claims it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryOrigin {
    /// When it was published there. Never later than the change that claims it.
    pub at: Millis,
    /// Who published it there, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The name of the token that claimed it.
    pub claimed_by: String,
}

/// The reason of a withdrawal. It decides when the bytes may be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "lowercase")]
pub enum Withdrawal {
    /// Its publisher withdrew it. As-of views show it within the horizon.
    Retracted,
    /// The retention of snapshots removed it.
    Pruned,
    /// A client deleted it. That can be undone for a while.
    Deleted,
    /// A rule of `cleanup` removed it. That can be undone for a while.
    Cleanup {
        /// The rule's name in the settings.
        rule: String,
        /// Whether it was removed for its space: that cannot be undone, and the bytes are deleted at once.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        no_undo: bool,
    },
    /// An admin removed it with its bytes. That can never be undone.
    Purged {
        /// The reason that the admin gave.
        why: String,
    },
}

impl Withdrawal {
    /// The period of its bytes that it begins.
    pub fn keep(&self) -> Keep {
        match self {
            Self::Retracted => Keep::Horizon,
            Self::Deleted | Self::Cleanup { no_undo: false, .. } => Keep::Undo,
            Self::Pruned => Keep::Nothing,
            Self::Purged { .. } | Self::Cleanup { no_undo: true, .. } => Keep::Purged,
        }
    }
}
