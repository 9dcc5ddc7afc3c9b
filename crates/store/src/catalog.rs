//! The closed set of operations on the truth. One suite runs against every implementation (SQLite, the model in memory).

use crate::{Change, Digest, Entry, RepositoryId, RepositoryRecord, Seq, TokenRecord};
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// What must still be so when the transaction decides, else nothing of the batch happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// The unit has not changed since: the highest number of a change in it is `seq` (0: it has nothing).
    UnitAt {
        /// Where.
        repository: RepositoryId,
        /// Which unit.
        unit: String,
        /// Its last change as it was read.
        seq: Seq,
    },
    /// The repository exists under this id and has not been removed.
    RepositoryLives(RepositoryId),
    /// No living repository has this name.
    RepositoryNameFree(String),
    /// No token that is not revoked has this name.
    TokenNameFree(String),
}

/// Changes that happen together or not at all.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Who did it: a token's name, or `daylight`.
    pub by: String,
    /// When.
    pub at: Millis,
    /// What must still be so.
    pub expect: Vec<Expect>,
    /// The states after.
    pub changes: Vec<Change>,
}

/// One row of the journal, as segments and replay see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalRow {
    /// Version of this row's form; 1 so far.
    pub v: u32,
    /// Its number.
    pub seq: Seq,
    /// When.
    pub at: Millis,
    /// Who.
    pub by: String,
    /// What.
    #[serde(flatten)]
    pub change: Change,
}

/// A unit as it was read: all its entries, oldest change first, with the number of its last change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnitRows {
    /// The number of the last change in it; 0: it has nothing.
    pub seq: Seq,
    /// Its entries, withdrawn ones too, ordered by `published`, then `key`.
    pub entries: Vec<Entry>,
}

/// Why a batch was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("somebody else changed it first: {0:?} no longer holds")]
pub struct Conflict(pub Expect);

/// The closed set. Synchronous: threads of the store call it, never a runtime.
pub trait Catalog: Send {
    /// What went wrong underneath.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Makes each batch or refuses it, all in one durable transaction; answers in order with the number of each
    /// batch's last change. A refused batch changes nothing and uses no number.
    fn commit(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>, Self::Error>;

    /// Replays rows whose numbers follow the last one without a gap.
    fn replay(&mut self, rows: &[JournalRow]) -> Result<(), Self::Error>;

    /// The number of the last change.
    fn last(&mut self) -> Result<Seq, Self::Error>;

    /// One unit.
    fn unit(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitRows, Self::Error>;

    /// One entry.
    fn entry(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>, Self::Error>;

    /// Names of the units that have at least one live entry, after `after`, in byte order, `limit` at most.
    fn units(&mut self, repository: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>, Self::Error>;

    /// Index lines of a repository in the order of their numbers, after `after`, `limit` at most.
    fn lines(&mut self, repository: RepositoryId, after: Seq, limit: usize) -> Result<Vec<(Seq, String)>, Self::Error>;

    /// Repositories that live, in byte order of their names.
    fn repositories(&mut self) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Self::Error>;

    /// Tokens that are not revoked, in byte order of their names.
    fn tokens(&mut self) -> Result<Vec<TokenRecord>, Self::Error>;

    /// A setting; `None` where it was never set or is back to its default.
    fn setting(&mut self, key: &str) -> Result<Option<serde_json::Value>, Self::Error>;

    /// The journal after `after`, `limit` rows at most.
    fn journal(&mut self, after: Seq, limit: usize) -> Result<Vec<JournalRow>, Self::Error>;

    /// Blobs that any entry refers to, after `after` in byte order, `limit` at most, with their sizes.
    fn blobs(&mut self, after: Option<Digest>, limit: usize) -> Result<Vec<(Digest, u64)>, Self::Error>;
}
