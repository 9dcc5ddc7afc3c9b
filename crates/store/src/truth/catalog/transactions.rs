//! Writes of the truth.

use super::batch::{Batch, Conflict};
use super::journal_row::JournalRow;
use crate::error::{Error, Result};
use crate::journal::record::Seq;

/// What became of a transaction.
#[derive(Debug)]
pub enum Committed {
    /// Its changes are durable.
    Made,
    /// It was rolled back, because other processes were quicker: these rows follow the last one that this catalog had.
    Behind(Vec<JournalRow>),
    /// It was rolled back, and further ones may succeed. If its changes are in the database nevertheless, the catalog finds them
    /// before its next transaction, like rows of another process.
    Failed(Error),
}

/// Rows of other processes.
#[derive(Debug, Default)]
pub struct Others {
    /// In the order of their numbers.
    pub rows: Vec<JournalRow>,
    /// Whether there may be others after them, of this moment.
    pub more: bool,
}

/// Transactions of one writer.
pub trait Transactions {
    /// Begins a transaction, and applies or refuses each batch in it. Returns for each batch the number of its last change. A
    /// refused batch changes nothing and takes no number. After an error the transaction is rolled back.
    fn begin(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>>;

    /// Commits the transaction. After an error it is rolled back if possible, and only a restart shows which changes are durable.
    fn commit(&mut self) -> Result<Committed>;

    /// Rolls the transaction back.
    fn rollback(&mut self);

    /// Replays rows that follow the last one without a gap, all of them in one transaction or none.
    fn replay(&mut self, rows: &[JournalRow]) -> Result<()>;

    /// Rows that follow `after`, at most some of them. Called again and again while there are more, it returns all rows of other
    /// processes.
    fn others(&mut self, after: Seq) -> Result<Others>;

    /// Makes rows of other processes readable here, where they are not yet.
    fn take_in(&mut self, rows: &[JournalRow]) -> Result<()>;

    /// The effects of all changes up to this one are done in this process: every answer from now on is made with them.
    fn took_effect(&mut self, _last: Seq) {}

    /// Adds rows that were lost and that follow the last one. `false`: another process has added rows meanwhile, and these are not added.
    fn put_back(&mut self, rows: &[JournalRow]) -> Result<bool> {
        self.replay(rows).map(|()| true)
    }

    /// Replaces a note by what `change` makes of it, in a transaction of its own; `None`: it stays. A note is a small text under a
    /// name that all processes share and that is no part of the history. `change` may be called again, if another process was
    /// quicker.
    fn change_note(&mut self, name: &str, change: &mut dyn FnMut(Option<&str>) -> Option<String>) -> Result<()>;

    /// Closes the database. Nothing is lost if it is dropped instead, but the next start takes longer.
    fn close(self: Box<Self>) -> Result<()>;

    /// [`Transactions::begin`] and [`Transactions::commit`], again after rows of other processes.
    fn commit_batches(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>> {
        loop {
            let answers = self.begin(batches)?;
            match self.commit()? {
                Committed::Made => return Ok(answers),
                Committed::Behind(rows) => self.take_in(&rows)?,
                Committed::Failed(error) => return Err(error),
            }
        }
    }
}
