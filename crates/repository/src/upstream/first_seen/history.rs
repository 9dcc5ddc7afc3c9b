//! Everything that was seen of an upstream's folder: the sum of its rows.

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

/// The known facts about a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FolderHistory {
    /// When something of the folder was first seen.
    pub(crate) seen: Millis,
    /// Whether a complete list of the folder was seen. A version that appears later is new.
    pub(crate) listed: bool,
    /// When Daylight last requested POMs to find the ages of versions.
    pub(crate) looked: Option<Millis>,
    /// How many consecutive requests of that kind brought no date.
    pub(crate) in_vain: u32,
    pub(crate) versions: BTreeMap<String, AgeRecord>,
    pub(crate) plugins: BTreeMap<String, Plugin>,
    /// Whether some of the facts are in units of the earlier form.
    pub(crate) older: bool,
    /// The number of rows that were read.
    pub(crate) rows: usize,
}

impl FolderHistory {
    /// The facts about a version that was never seen in the folder.
    pub(crate) fn unmet(&self) -> KnownAge {
        if self.listed { KnownAge::Appeared } else { KnownAge::Nothing }
    }
}
