//! Changes to be made together, and the conditions under which they may be made.

use crate::change::Change;
use crate::digest::Digest;
use crate::entry::State;
use crate::error::Error;
use crate::holds::Hold;
use crate::record::{RepositoryId, RepositoryRecord, Seq};
use crate::token::TokenRecord;
use telemetry::Millis;

/// A condition that must hold when the transaction is decided. If it does not, nothing of the batch happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// The unit has not changed since it was read: its last change is `seq` (0: it has none).
    UnitAt {
        /// Where.
        repository: RepositoryId,
        /// Which unit.
        unit: String,
        /// Its last change as it was read.
        seq: Seq,
    },
    /// Nothing more was first seen of the unit: its last row of that kind is `seq` (0: it has none).
    FirstSeenAt {
        /// Where.
        repository: RepositoryId,
        /// Which unit.
        unit: String,
        /// Its last row as it was read.
        seq: Seq,
    },
    /// The repository has no entry with this key, in whichever unit.
    KeyFree {
        /// Where.
        repository: RepositoryId,
        /// Which key.
        key: String,
    },
    /// The repository has no entry whose key equals this one when the case of ASCII letters is ignored, in whichever unit.
    KeyFreeInAnyCase {
        /// Where.
        repository: RepositoryId,
        /// Which key.
        key: String,
    },
    /// The repository has no other unit with a live entry whose name equals this one when the case of ASCII letters is ignored.
    UnitSpeltOneWay {
        /// Where.
        repository: RepositoryId,
        /// Which unit.
        unit: String,
    },
    /// The repository exists and has not been removed.
    RepositoryLives(RepositoryId),
    /// The settings of the repository are still these, from which the changes were made.
    RepositoryIs {
        /// Which.
        id: RepositoryId,
        /// Its settings as they were read.
        record: Box<RepositoryRecord>,
    },
    /// No repository was made, changed or removed since: this is the number of the last such change (0: there is none).
    RepositoriesAt(Seq),
    /// Nothing at all was changed since: this is the number of the last change.
    JournalAt(Seq),
    /// No change was made after this moment. A batch with an index line implies this for its own moment: the line was rendered for that
    /// moment, so the batch cannot be given a later one.
    NoChangeAfter(Millis),
    /// No repository that is not removed has this name.
    RepositoryNameFree(String),
    /// No token that is not revoked has this name.
    TokenNameFree(String),
    /// The token with this hash exists and is not revoked.
    TokenLives(Digest),
    /// The bytes of the blob are not deleted. Expected of every entry that a batch makes live, unless the batch holds the bytes.
    BlobKept(Digest),
    /// No bytes of a live entry of the repository are deleted. Expected of every repository that a batch brings back.
    RepositoryWhole(RepositoryId),
    /// The token with this record's hash still has this record, from which the changes were made.
    TokenIs(Box<TokenRecord>),
}

/// Changes that happen together or not at all.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Who made them: the name of a token, or `daylight`. Never empty.
    pub by: String,
    /// From where: the address of the client, `cli`, or `server` for changes that the server makes itself. Never empty.
    pub from: String,
    /// When. The rows have this moment or that of the last change, whichever is later.
    pub at: Millis,
    /// The conditions.
    pub expect: Vec<Expect>,
    /// The states after the changes.
    pub changes: Vec<Change>,
    /// Keeps the bytes that the batch publishes from being deleted until it is answered.
    pub holds: Vec<Hold>,
}

impl Batch {
    /// What must hold although nobody said so: the bytes that the batch names are there, or it holds them.
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
    /// Refuses a batch that no catalog may write, because its rows would stay for ever: without an author, or with a name that
    /// contains a NUL character.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (what, text) in [("by", &self.by), ("from", &self.from)] {
            if text.is_empty() {
                return Err(Error::NoAuthor(what));
            }
        }
        self.changes.iter().try_for_each(Change::check_names)
    }

    /// The moment of the rows: the batch's own, or `last`, that of the last change, if that is later. A batch with an index line cannot
    /// be given another moment.
    pub(crate) fn moment(&self, last: Millis) -> Result<Millis, Conflict> {
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
#[error("somebody else changed it first: {0:?} no longer holds")]
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
