//! The closed set of operations on the truth. One suite runs against every implementation (SQLite, the model in memory).

use crate::{Change, Digest, Entry, Error, RepositoryId, RepositoryRecord, Seq, State, TokenRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
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
    /// Nothing more was first seen of the unit: its last row of that kind is `seq` (0: it has none).
    FirstSeenAt {
        /// Where.
        repository: RepositoryId,
        /// Which unit.
        unit: String,
        /// Its last row as it was read.
        seq: Seq,
    },
    /// The repository has no entry of this key, in whichever unit: two units may come by one key.
    KeyFree {
        /// Where.
        repository: RepositoryId,
        /// Which key.
        key: String,
    },
    /// The repository has no entry whose key is this one but for the case of ASCII letters, in whichever unit.
    KeyFreeInAnyCase {
        /// Where.
        repository: RepositoryId,
        /// Which key.
        key: String,
    },
    /// The repository has no other unit with a live entry that is called like this one but for the case of ASCII
    /// letters.
    UnitSpeltOneWay {
        /// Where.
        repository: RepositoryId,
        /// Which unit.
        unit: String,
    },
    /// The repository exists under this id and has not been removed.
    RepositoryLives(RepositoryId),
    /// The settings of the repository are these: what is written was made from them.
    RepositoryIs {
        /// Which.
        id: RepositoryId,
        /// Its settings as they were read.
        record: Box<RepositoryRecord>,
    },
    /// Nothing at all was changed since: this is the number of the last change.
    JournalAt(Seq),
    /// No living repository has this name.
    RepositoryNameFree(String),
    /// No token that is not revoked has this name.
    TokenNameFree(String),
    /// The token with this hash exists and is not revoked.
    TokenLives(Digest),
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

impl JournalRow {
    /// The form that is written, and the newest that is read.
    pub const VERSION: u32 = 1;

    /// A batch's change as number `seq`; a new repository takes its id from there.
    pub(crate) fn new(seq: Seq, batch: &Batch, change: &Change) -> Self {
        let mut change = change.clone();
        if let Change::Repository { id: id @ RepositoryId(0), .. } = &mut change {
            *id = RepositoryId(seq.0);
        }
        Self { v: Self::VERSION, seq, at: batch.at, by: batch.by.clone(), change }
    }

    /// Whether this version can replay the row, and it is the one after `last`.
    pub(crate) fn follows(&self, last: Seq) -> Result<(), Error> {
        if self.seq.0 != last.0 + 1 {
            return Err(Error::Gap { after: last, found: self.seq });
        }
        if self.v > Self::VERSION {
            let why = format!("its form is `{}`, and this version reads `{}`", self.v, Self::VERSION);
            return Err(Error::Row { seq: self.seq, why });
        }
        Ok(())
    }
}

/// A unit as it was read: all its entries, oldest change first, with the number of its last change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnitRows {
    /// The number of the last change in it; 0: it has nothing.
    pub seq: Seq,
    /// Its entries, withdrawn ones too, ordered by `published`, then `key`.
    pub entries: Vec<Entry>,
}

/// Of an entry what those need to know who read many.
#[derive(Debug, Clone)]
pub struct Outline {
    /// Its unit, which all of its unit share.
    pub unit: Arc<str>,
    /// Whether it is offered.
    pub state: State,
    /// When it was first published.
    pub published: Millis,
    /// When it last changed.
    pub changed: Millis,
    /// What the format took out of it.
    pub facts: Facts,
}

/// The facts of an [`Outline`].
#[derive(Debug, Clone)]
pub enum Facts {
    /// What the format says in short: the text that it put among the facts under [`Facts::BRIEF`].
    Brief(String),
    /// All of them, as JSON, where it put none.
    Whole(Box<RawValue>),
}

impl Facts {
    /// Where the format puts what lists need of an entry. It is kept at hand, apart from the rest.
    pub const BRIEF: &'static str = "brief";
}

/// What is known of a unit beside its entries, with the number of the unit's last change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnitFacts {
    /// The number of the last change in it.
    pub seq: Seq,
    /// As it was last set; null: nothing.
    pub facts: serde_json::Value,
}

/// One row of what was first seen of a unit.
#[derive(Debug, Clone, Deserialize)]
pub struct FirstSeen {
    /// The number of the change.
    pub seq: Seq,
    /// When it was seen.
    pub at: Millis,
    /// Whether it says everything that was known then.
    #[serde(default)]
    pub whole: bool,
    /// What was new then, as JSON.
    pub seen: Box<RawValue>,
}

/// How much a repository holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holding {
    /// How many files: live entries, or files of an upstream that are kept.
    pub files: u64,
    /// The sum of their sizes, in bytes.
    pub size_bytes: u64,
}

/// What has a history: an entry, or what is known of a unit beside its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// The entry of this key.
    Entry(&'a str),
    /// The unit of this name.
    Unit(&'a str),
}

/// A time, and which of what was published in it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first moment.
    pub from: Millis,
    /// The last moment.
    pub until: Millis,
    /// How many of the newest to leave out.
    pub skip: usize,
    /// How many to tell at most.
    pub limit: usize,
}

/// Why a batch was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("somebody else changed it first: {0:?} no longer holds")]
pub struct Conflict(pub Expect);

/// Why nothing was written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CommitError {
    /// An expectation of this batch no longer holds.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// The store could not.
    #[error(transparent)]
    Error(#[from] Error),
}

/// The closed set. Synchronous: threads of the store call it, never a runtime.
pub trait Catalog: Send {
    /// Makes each batch or refuses it, all in one durable transaction; answers in order with the number of each
    /// batch's last change. A refused batch changes nothing and uses no number.
    fn commit(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>, Error>;

    /// Replays rows whose numbers follow the last one without a gap.
    fn replay(&mut self, rows: &[JournalRow]) -> Result<(), Error>;

    /// The number of the last change.
    fn last(&mut self) -> Result<Seq, Error>;

    /// One unit.
    fn unit(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitRows, Error>;

    /// The entries of the units after `after` up to `through`, withdrawn ones too: by unit in byte order, then as in a unit.
    fn entries(&mut self, repository: RepositoryId, after: &str, through: &str) -> Result<Vec<Entry>, Error>;

    /// The keys of the entries of one unit, withdrawn ones too, in the order of [`Catalog::unit`], `limit` at most.
    fn keys(&mut self, repository: RepositoryId, unit: &str, limit: usize) -> Result<Vec<String>, Error>;

    /// The entries of one unit in outline, withdrawn ones too, in the order of [`Catalog::unit`].
    fn outlines(&mut self, repository: RepositoryId, unit: &str) -> Result<Vec<Outline>, Error>;

    /// What is known of a unit beside its entries.
    fn facts(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitFacts, Error>;

    /// Units whose names begin with `prefix` and come after `after`, and of which something is known beside their entries, in
    /// byte order, `limit` at most.
    fn known(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, serde_json::Value)>, Error>;

    /// What was so of an entry, or of what is known of a unit beside its entries, when `through` was the last change.
    fn state(&mut self, repository: RepositoryId, of: Subject<'_>, through: Seq) -> Result<Option<Change>, Error>;

    /// Units whose names begin with the first text and come after the second, and of which something was known beside their
    /// entries when `through` was the last change, in byte order, `limit` at most.
    fn known_then(
        &mut self,
        repository: RepositoryId,
        within: (&str, &str),
        limit: usize,
        through: Seq,
    ) -> Result<Vec<(String, serde_json::Value)>, Error>;

    /// What was first seen of a unit by the change `through`, oldest first, from the last row on that says everything.
    fn first_seen(&mut self, repository: RepositoryId, unit: &str, through: Seq) -> Result<Vec<FirstSeen>, Error>;

    /// Bytes that what was first seen takes on the disk, about: of each repository that has any.
    fn first_seen_bytes(&mut self) -> Result<Vec<(RepositoryId, u64)>, Error>;

    /// The live entries published in a time, newest first.
    fn published(&mut self, repository: RepositoryId, span: Span) -> Result<Vec<Entry>, Error>;

    /// One entry.
    fn entry(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>, Error>;

    /// Entries whose keys begin with `prefix` and come after `after`, in byte order of those, `limit` at most.
    fn entries_beginning(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Entry>, Error>;

    /// The entry whose key is `key` but for the case of ASCII letters: the first in byte order.
    fn entry_in_any_case(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>, Error>;

    /// Another unit with a live entry that is called `unit` but for the case of ASCII letters: the first in byte order.
    fn unit_in_other_case(&mut self, repository: RepositoryId, unit: &str) -> Result<Option<String>, Error>;

    /// Names of the units that have at least one live entry, after `after`, in byte order, `limit` at most.
    fn units(&mut self, repository: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>, Error>;

    /// Names of all units that ever had a change, after `after`, in byte order, `limit` at most.
    fn units_ever(&mut self, repository: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>, Error>;

    /// Index lines of a repository in the order of their numbers, after `after`, `limit` at most.
    fn lines(&mut self, repository: RepositoryId, after: Seq, limit: usize) -> Result<Vec<(Seq, String)>, Error>;

    /// The number of the last index line of a repository that was said by `through`; 0: there was none.
    fn last_line(&mut self, repository: RepositoryId, through: Seq) -> Result<Seq, Error>;

    /// Repositories that live, in byte order of their names.
    fn repositories(&mut self) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error>;

    /// Repositories that had this name when they were removed, in the order in which they were made.
    fn removed_repositories(&mut self, name: &str) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error>;

    /// How much the live entries of a repository come to. Reads all of them.
    fn holding(&mut self, repository: RepositoryId) -> Result<Holding, Error>;

    /// Tokens that are not revoked, in byte order of their names.
    fn tokens(&mut self) -> Result<Vec<TokenRecord>, Error>;

    /// A setting; `None` where it was never set or is back to its default.
    fn setting(&mut self, key: &str) -> Result<Option<serde_json::Value>, Error>;

    /// The journal after `after`, `limit` rows at most.
    fn journal(&mut self, after: Seq, limit: usize) -> Result<Vec<JournalRow>, Error>;

    /// Blobs that any entry refers to or ever did, after `after` in byte order, `limit` at most, with their sizes.
    fn blobs(&mut self, after: Option<Digest>, limit: usize) -> Result<Vec<(Digest, u64)>, Error>;
}
