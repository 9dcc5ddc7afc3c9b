//! The changes that the journal records. They stay readable for ever, so fields are only ever added.

use crate::digest::Digest;
use crate::entry::{Entry, State};
use crate::error::Error;
use crate::record::{RepositoryId, RepositoryRecord};
use crate::token::TokenRecord;
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// One change of the truth: the state after it. Each is one row of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "lowercase")]
pub enum Change {
    /// An entry was published, withdrawn or otherwise changed.
    Entry {
        /// Where.
        repository: RepositoryId,
        /// Its state now.
        entry: Entry,
    },
    /// The facts of a unit itself changed.
    Unit {
        /// Where.
        repository: RepositoryId,
        /// Which unit.
        unit: String,
        /// Its facts now; null: it has none any more. Opaque: the caller writes and reads them.
        facts: serde_json::Value,
    },
    /// Something of an upstream was seen for the first time. A row says only what is new and adds to the earlier rows of its unit; or
    /// it repeats everything, and no earlier row is read any more.
    FirstSeen {
        /// Where.
        repository: RepositoryId,
        /// Of which unit.
        unit: String,
        /// Whether it repeats everything that is known of the unit.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        whole: bool,
        /// Whether it takes nothing of the repository's budget for such rows, because no reader causes it and its caller limits it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        uncounted: bool,
        /// What is new. Opaque: the caller writes and reads it.
        seen: serde_json::Value,
    },
    /// A repository was made, changed or removed.
    Repository {
        /// Which; 0 makes a new one, which takes this change's number.
        id: RepositoryId,
        /// Its settings now.
        record: RepositoryRecord,
    },
    /// A token was made, changed or revoked. Its hash identifies it.
    Token {
        /// Its state now.
        record: TokenRecord,
    },
    /// A setting of the server.
    Setting {
        /// Its name.
        key: String,
        /// Its value now; null: back to the default.
        value: serde_json::Value,
    },
    /// The bytes of blobs were deleted, because nothing had named them for long enough. Each is named by earlier rows.
    Collected {
        /// Which.
        blobs: Vec<Digest>,
    },
}

impl Change {
    /// The repository that it is about.
    pub fn repository(&self) -> Option<RepositoryId> {
        match self {
            Change::Entry { repository, .. }
            | Change::Unit { repository, .. }
            | Change::FirstSeen { repository, .. } => Some(*repository),
            Change::Repository { id, .. } => Some(*id),
            Change::Token { .. } | Change::Setting { .. } | Change::Collected { .. } => None,
        }
    }

    /// Whether there is something after the change. A change to null facts leaves nothing.
    pub(crate) fn leaves_something(&self) -> bool {
        !matches!(self, Change::Unit { facts, .. } if facts.is_null())
    }

    /// Refuses names with a NUL character. Other databases than SQLite cannot store them as text.
    pub(crate) fn check_names(&self) -> Result<(), Error> {
        let names: &[(&'static str, &str)] = match self {
            Change::Entry { entry, .. } => &[("unit", &entry.unit), ("key", &entry.key)],
            Change::Unit { unit, .. } | Change::FirstSeen { unit, .. } => &[("unit", unit)],
            Change::Repository { record, .. } => &[("repository", &record.name)],
            Change::Token { record } => &[("token", &record.name)],
            Change::Setting { key, .. } => &[("setting", key)],
            Change::Collected { .. } => &[],
        };
        match names.iter().find(|(_, name)| name.contains('\0')) {
            Some((what, name)) => Err(Error::Nul { what, name: (*name).to_owned() }),
            None => Ok(()),
        }
    }

    /// Replaces the moment of the batch by a later one, wherever the change has it. A tombstone keeps its moment: one removal may take
    /// several batches, and undoing it finds its entries by the moment that they share.
    pub(crate) fn move_moments(&mut self, from: Millis, to: Millis) {
        let moved = |at: &mut Millis| {
            if *at == from {
                *at = to;
            }
        };
        match self {
            Change::Entry { entry, .. } if entry.state == State::Live => {
                // An entry whose publication is this change has both moments.
                if entry.published == entry.changed {
                    moved(&mut entry.published);
                }
                moved(&mut entry.changed);
            }
            Change::Repository { record, .. } => {
                moved(&mut record.created);
                record.removed.iter_mut().for_each(moved);
            }
            Change::Token { record } => {
                moved(&mut record.created);
                record.revoked.iter_mut().for_each(moved);
            }
            Change::Entry { .. }
            | Change::Unit { .. }
            | Change::FirstSeen { .. }
            | Change::Setting { .. }
            | Change::Collected { .. } => {}
        }
    }
}
