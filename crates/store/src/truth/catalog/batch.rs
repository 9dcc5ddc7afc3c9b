//! Changes that are made together, and the conditions for making them.

use crate::blobs::digest::Digest;
use crate::blobs::holds::Hold;
use crate::error::{Error, Result};
use crate::journal::change::Change;
use crate::journal::entry::State;
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::journal::token::TokenRecord;
use telemetry::Millis;

/// A condition that must hold when the transaction is decided. Otherwise nothing of the batch is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// The unit has not changed since it was read: its last change is `seq` (0: it has none).
    UnitAt {
        /// The repository.
        repository: RepositoryId,
        /// The unit.
        unit: String,
        /// Its last change when it was read.
        seq: Seq,
    },
    /// The unit has no newer first-seen row: its last one is `seq` (0: it has none).
    FirstSeenAt {
        /// The repository.
        repository: RepositoryId,
        /// The unit.
        unit: String,
        /// Its last first-seen row when it was read.
        seq: Seq,
    },
    /// The repository has no entry with this key, in any unit.
    KeyFree {
        /// The repository.
        repository: RepositoryId,
        /// The key.
        key: String,
    },
    /// The repository has no entry whose key equals this one without regard to the case of ASCII letters, in any unit.
    KeyFreeInAnyCase {
        /// The repository.
        repository: RepositoryId,
        /// The key.
        key: String,
    },
    /// The repository has no other unit with a live entry whose name equals this one without regard to the case of ASCII letters.
    UnitSpeltOneWay {
        /// The repository.
        repository: RepositoryId,
        /// The unit.
        unit: String,
    },
    /// The repository exists and has not been removed.
    RepositoryLives(RepositoryId),
    /// The settings of the repository are still these, from which the changes were made.
    RepositoryIs {
        /// The repository.
        id: RepositoryId,
        /// Its settings when they were read.
        record: Box<RepositoryRecord>,
    },
    /// No repository was created, changed or removed since this change (0: there was none).
    RepositoriesAt(Seq),
    /// Nothing was changed since this change, the last one.
    JournalAt(Seq),
    /// No change was made after this moment. A batch with an index line implies this for its own moment: the line was rendered
    /// for that moment, so the batch cannot get a later one.
    NoChangeAfter(Millis),
    /// No repository that is not removed has this name.
    RepositoryNameFree(String),
    /// No token that is not revoked has this name.
    TokenNameFree(String),
    /// The token with this hash exists and is not revoked.
    TokenLives(Digest),
    /// The bytes of the blob are not deleted. Expected for every entry that a batch makes live, unless the batch holds the bytes.
    BlobKept(Digest),
    /// The bytes of the blob were not deleted since the change `generation`, nor before it if that is 0. Expected for every blob
    /// that a batch publishes and that is an object of this generation.
    BlobAt {
        /// The blob.
        digest: Digest,
        /// Its generation, as of the object.
        generation: Seq,
    },
    /// No bytes of a live entry of the repository are deleted. Expected for every repository that a batch restores.
    RepositoryWhole(RepositoryId),
    /// The token with this record's hash still has this record, from which the changes were made.
    TokenIs(Box<TokenRecord>),
}

/// Changes that are all made or not at all.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The author: the name of a token, or `daylight`. Never empty.
    pub by: String,
    /// The source: the address of the client, `cli`, or `server` for the server's own changes. Never empty.
    pub from: String,
    /// The time of the changes. The rows get this moment or that of the last change, whichever is later.
    pub at: Millis,
    /// The conditions.
    pub expect: Vec<Expect>,
    /// The new states.
    pub changes: Vec<Change>,
    /// The authors and sources of the changes, where they are others than those of the batch: one for each change, or none.
    pub authors: Vec<Option<(String, String)>>,
    /// Keep the bytes that the batch publishes from being deleted until the batch is decided.
    pub holds: Vec<Hold>,
}

impl Batch {
    /// The implied conditions: the bytes that the batch names exist, or it holds them.
    pub(crate) fn implied(&self) -> impl Iterator<Item = Expect> {
        self.changes.iter().filter_map(|change| match change {
            Change::Entry { entry, .. } if entry.state == State::Live => {
                let digest = entry.hashes.sha256;
                (!self.holds.iter().any(|hold| hold.digest() == digest)).then_some(Expect::BlobKept(digest))
            }
            Change::Repository { id, record } if record.removed.is_none() && id.0 > 0 => {
                Some(Expect::RepositoryWhole(*id))
            }
            _ => None,
        })
    }
}

impl Batch {
    /// Refuses a batch that no catalog may write, because its rows would stay forever: without an author, or with a name that
    /// contains a NUL character.
    pub(crate) fn check(&self) -> Result<()> {
        for (what, text) in [("by", &self.by), ("from", &self.from)] {
            if text.is_empty() {
                return Err(Error::NoAuthor(what));
            }
        }
        self.changes.iter().try_for_each(Change::check_names)
    }

    /// The moment of the rows: the batch's own, or that of the last change (`last`) if that is later. A batch with an index line
    /// cannot get another moment, and one that redates rows has its own.
    pub(crate) fn moment(&self, last: Millis) -> Result<Millis, Conflict> {
        // Its rows count as of its own moment, and so do those before it.
        let redates = self.changes.iter().any(|change| matches!(change, Change::Redate { .. }));
        if redates {
            return Ok(self.at);
        }
        if self.at >= last || self.changes.is_empty() {
            return Ok(self.at.max(last));
        }
        let has_line = |change: &Change| matches!(change, Change::Entry { entry, .. } if entry.line.is_some());
        match self.changes.iter().any(has_line) {
            true => Err(Conflict(Expect::NoChangeAfter(self.at))),
            false => Ok(last),
        }
    }
}

/// The condition of a refused batch that did not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("another request changed it first: {0:?} no longer holds")]
pub struct Conflict(pub Expect);

/// Why nothing was written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CommitError {
    /// A condition of this batch did not hold.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// The store failed.
    #[error(transparent)]
    Error(#[from] Error),
}
