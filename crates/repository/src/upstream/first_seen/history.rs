//! What was seen of a folder of an upstream so far: all its rows, one after the other.

use crate::upstream::release_age::{AgeRecord, KnownAge};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use telemetry::Millis;

/// A plugin of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plugin {
    pub(crate) prefix: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
}

/// What is known of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FolderHistory {
    /// When something was seen of it first.
    pub(crate) seen: Millis,
    /// Whether a list of all that it has was seen. What turns up later is new.
    pub(crate) listed: bool,
    /// When POMs of it were looked for last, to see how old versions are.
    pub(crate) looked: Option<Millis>,
    /// How often in sequence that told nothing.
    pub(crate) in_vain: u32,
    pub(crate) versions: BTreeMap<String, AgeRecord>,
    pub(crate) plugins: BTreeMap<String, Plugin>,
    /// Whether some of it is in units of the form before.
    pub(crate) older: bool,
    /// How many rows were read for it.
    pub(crate) rows: usize,
}

impl FolderHistory {
    /// What is known of something that was not met in the folder.
    pub(crate) fn unmet(&self) -> KnownAge {
        if self.listed { KnownAge::Appeared } else { KnownAge::Nothing }
    }
}
