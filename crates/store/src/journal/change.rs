//! The changes that the journal records. They must stay readable forever, so fields are only ever added.

use crate::blobs::digest::Digest;
use crate::error::{Error, Result};
use crate::journal::entry::{Entry, State};
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::journal::token::TokenRecord;
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// One change of the truth: the state after it. Each is one row of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "lowercase")]
pub enum Change {
    /// An entry was published, withdrawn or otherwise changed.
    Entry {
        /// The repository.
        repository: RepositoryId,
        /// Its new state.
        entry: Entry,
    },
    /// The facts of a unit itself changed.
    Unit {
        /// The repository.
        repository: RepositoryId,
        /// The unit.
        unit: String,
        /// Its new facts; null: it has none any more. Opaque to the store.
        facts: serde_json::Value,
    },
    /// Something of an upstream was seen for the first time. A row contains only new facts and adds to the earlier rows of its
    /// unit; or it is complete, and earlier rows are no longer read.
    FirstSeen {
        /// The repository.
        repository: RepositoryId,
        /// The unit.
        unit: String,
        /// Whether it repeats all known facts of the unit.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        whole: bool,
        /// Whether it does not count in the repository's budget for such rows. Set if no client's request causes the row and the
        /// code that writes it limits the number.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        uncounted: bool,
        /// The new facts. Opaque to the store.
        seen: serde_json::Value,
    },
    /// A repository was created, changed or removed.
    Repository {
        /// Its id; 0 creates a repository, which takes this change's number.
        id: RepositoryId,
        /// Its new settings.
        record: RepositoryRecord,
    },
    /// A token was created, changed or revoked. Its hash identifies it.
    Token {
        /// Its new state.
        record: TokenRecord,
    },
    /// A setting of the server.
    Setting {
        /// Its name.
        key: String,
        /// Its new value; null: the default.
        value: serde_json::Value,
    },
    /// Rows were made while the clock was ahead: the rows from `first` up to this one count as of the moment of this one. Rows with
    /// the new moments of what they changed follow in the same batch.
    Redate {
        /// The first of them.
        first: Seq,
    },
    /// The bytes of blobs were deleted, because nothing had named them for long enough. Each is named by earlier rows, or an object.
    Collected {
        /// Their digests.
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
            Change::Token { .. } | Change::Setting { .. } | Change::Redate { .. } | Change::Collected { .. } => None,
        }
    }

    /// Whether anything is left after the change. A change to null facts leaves nothing.
    pub(crate) fn leaves_something(&self) -> bool {
        !matches!(self, Change::Unit { facts, .. } if facts.is_null())
    }

    /// Refuses names with a NUL character. Other databases than SQLite cannot store them as text.
    pub(crate) fn check_names(&self) -> Result<()> {
        let names: &[(&'static str, &str)] = match self {
            Change::Entry { entry, .. } => &[("unit", &entry.unit), ("key", &entry.key)],
            Change::Unit { unit, .. } | Change::FirstSeen { unit, .. } => &[("unit", unit)],
            Change::Repository { record, .. } => &[("repository", &record.name)],
            Change::Token { record } => &[("token", &record.name)],
            Change::Setting { key, .. } => &[("setting", key)],
            Change::Redate { .. } | Change::Collected { .. } => &[],
        };
        match names.iter().find(|(_, name)| name.contains('\0')) {
            Some((what, name)) => Err(Error::Nul { what, name: (*name).to_owned() }),
            None => Ok(()),
        }
    }

    /// Replaces the moment of the batch by a later one, everywhere in the change. A tombstone keeps its moment: one removal may
    /// take several batches, and undoing it finds its entries by their common moment.
    pub(crate) fn move_moments(&mut self, from: Millis, to: Millis) {
        let moved = |at: &mut Millis| {
            if *at == from {
                *at = to;
            }
        };
        match self {
            Change::Entry { entry, .. } if entry.state == State::Live => {
                // An entry that is published by this change has both moments.
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
            | Change::Redate { .. }
            | Change::Collected { .. } => {}
        }
    }

    /// Replaces the moments after `limit` by it, everywhere in the change. Settings and facts are opaque.
    pub fn date_by(&mut self, limit: Millis) {
        match self {
            Change::Entry { entry, .. } => {
                entry.published = entry.published.min(limit);
                entry.changed = entry.changed.min(limit);
                entry.origin.iter_mut().for_each(|origin| origin.at = origin.at.min(limit));
            }
            Change::Repository { record, .. } => {
                record.created = record.created.min(limit);
                record.removed = record.removed.map(|at| at.min(limit));
            }
            Change::Token { record } => {
                record.created = record.created.min(limit);
                record.revoked = record.revoked.map(|at| at.min(limit));
            }
            _ => {}
        }
    }
}
