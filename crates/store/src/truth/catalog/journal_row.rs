//! One row of the journal.

use super::batch::Batch;
use crate::error::{Error, Result};
use crate::journal::change::Change;
use crate::journal::record::{RepositoryId, Seq};
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// One row of the journal, as it is stored, copied to segments and replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalRow {
    /// The version of the row's format. Version 2 adds `from`, and `origin` and `withdrawal` of entries.
    pub v: u32,
    /// Its number.
    pub seq: Seq,
    /// The time of the change.
    pub at: Millis,
    /// Its author.
    pub by: String,
    /// Its source: the address of a client, `cli` or `server`. Empty in rows of version 1.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// The change.
    #[serde(flatten)]
    pub change: Change,
}

/// The parts of a journal row that tell who made a change, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorship {
    /// The number of the row.
    pub seq: Seq,
    /// The time of the change.
    pub at: Millis,
    /// Its author.
    pub by: String,
}

impl JournalRow {
    /// The version that is written, and the newest one that can be read.
    pub const VERSION: u32 = 2;

    /// The change number `index` of a batch as number `seq`, made at the moment `at`. A new repository takes this number as its id.
    pub(crate) fn new(seq: Seq, at: Millis, batch: &Batch, index: usize, change: &Change) -> Self {
        let mut change = change.clone();
        if at != batch.at {
            change.move_moments(batch.at, at);
        }
        if let Change::Repository { id: id @ RepositoryId(0), .. } = &mut change {
            *id = RepositoryId(seq.0);
        }
        let own = batch.authors.get(index).cloned().flatten();
        let (by, from) = own.unwrap_or_else(|| (batch.by.clone(), batch.from.clone()));
        Self { v: Self::VERSION, seq, at, by, from, change }
    }

    /// A row as it is stored. A later version may have changes that this program does not know.
    pub(crate) fn read(seq: Seq, body: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            v: u32,
        }
        serde_json::from_str(body).map_err(|why| match serde_json::from_str(body) {
            Ok(Version { v }) if v > Self::VERSION => Self::later(seq, v),
            _ => Error::row(seq)(why),
        })
    }

    fn later(seq: Seq, v: u32) -> Error {
        let why = format!("it has version `{v}`, and this program reads up to `{}`", Self::VERSION);
        Error::Row { seq, why }
    }

    /// An error unless the row directly follows `last` and has a version that this program can replay.
    pub(crate) fn follows(&self, last: Seq) -> Result<()> {
        if self.seq.0 != last.0 + 1 {
            return Err(Error::Gap { after: last, found: self.seq });
        }
        if self.v > Self::VERSION {
            return Err(Self::later(self.seq, self.v));
        }
        Ok(())
    }
}
