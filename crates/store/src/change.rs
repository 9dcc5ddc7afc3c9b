//! The changes that the journal records. They stay readable for ever, so fields are only ever added.

use crate::digest::Digest;
use crate::entry::Entry;
use crate::record::{RepositoryId, RepositoryRecord};
use crate::token::TokenRecord;
use serde::{Deserialize, Serialize};

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
    /// Whether there is something after the change. A change to null facts leaves nothing.
    pub(crate) fn leaves_something(&self) -> bool {
        !matches!(self, Change::Unit { facts, .. } if facts.is_null())
    }
}
