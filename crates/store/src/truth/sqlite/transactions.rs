//! Transactions of the writer.

use super::connection::Sqlite;
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::truth::catalog::{Batch, Conflict, JournalReads as _, JournalRow, Transactions};
use telemetry::Millis;

impl Transactions for Sqlite {
    fn begin(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>> {
        batches.iter().try_for_each(Batch::check)?;
        self.run("BEGIN IMMEDIATE", [])?;
        let decided = self.decide(batches);
        if decided.is_err() {
            self.rollback();
        }
        decided
    }

    fn commit(&mut self) -> Result<()> {
        let committed = self.run("COMMIT", []);
        if committed.is_err() {
            self.rollback();
        }
        committed
    }

    fn rollback(&mut self) {
        self.moment = None;
        // After some errors SQLite has already rolled back. This then fails, and nothing else is to be done.
        let _ = self.run("ROLLBACK", []);
    }

    fn replay(&mut self, rows: &[JournalRow]) -> Result<()> {
        self.run("BEGIN IMMEDIATE", [])?;
        self.moment = None;
        let written = self.last().and_then(|mut last| {
            for row in rows {
                row.follows(last)?;
                self.apply(row)?;
                last = row.seq;
            }
            self.set_last(last)
        });
        if written.is_err() {
            self.rollback();
            return written;
        }
        self.commit()
    }

    fn close(self: Box<Self>) -> Result<()> {
        let failed = Error::sqlite("close the truth");
        // Moves the write-ahead log into the database.
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(&failed)?;
        self.connection.close().map_err(|(_, e)| failed(e))
    }
}

impl Sqlite {
    /// Decides each batch and makes its changes. The conditions of a batch are checked before its first change, so a refused batch
    /// leaves nothing to roll back.
    fn decide(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>> {
        let mut last = self.last()?;
        let known = self.moment.map_or_else(|| self.last_moment(), |moment| Ok(Some(moment)))?;
        let mut moment = known.unwrap_or(Millis(i64::MIN));
        let mut answers = Vec::with_capacity(batches.len());
        for batch in batches {
            let decided = match self.broken(batch, last, moment)? {
                Some(broken) => Err(Conflict(broken)),
                None => batch.moment(moment),
            };
            if let (Ok(at), false) = (&decided, batch.changes.is_empty()) {
                moment = *at;
            }
            for (index, change) in batch.changes.iter().enumerate().filter(|_| decided.is_ok()) {
                last.0 += 1;
                self.apply(&JournalRow::new(last, moment, batch, index, change))?;
            }
            answers.push(decided.map(|_| last));
        }
        self.set_last(last)?;
        self.moment = (last > Seq(0)).then_some(moment);
        Ok(answers)
    }
}
