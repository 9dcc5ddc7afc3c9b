//! Writes of the truth.

use super::batch::{Batch, Conflict};
use super::journal_row::JournalRow;
use crate::error::Result;
use crate::journal::record::Seq;

/// Transactions of one writer.
pub trait Transactions {
    /// Begins a transaction, and applies or refuses each batch in it. Returns for each batch the number of its last change. A
    /// refused batch changes nothing and takes no number. After an error the transaction is rolled back.
    fn begin(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>>;

    /// Commits the transaction: when this returns, its changes are durable. After an error it is rolled back if possible.
    fn commit(&mut self) -> Result<()>;

    /// Rolls the transaction back.
    fn rollback(&mut self);

    /// Replays rows that follow the last one without a gap, all of them in one transaction or none.
    fn replay(&mut self, rows: &[JournalRow]) -> Result<()>;

    /// Closes the database. Nothing is lost if it is dropped instead, but the next start takes longer.
    fn close(self: Box<Self>) -> Result<()>;

    /// [`Transactions::begin`] and [`Transactions::commit`].
    fn commit_batches(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>> {
        let answers = self.begin(batches)?;
        self.commit()?;
        Ok(answers)
    }
}
