//! Transactions of the writer.

use super::connection::Sqlite;
use super::history::parsed;
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::truth::catalog::{Batch, Committed, Conflict, JournalReads as _, JournalRow, Others, Transactions};
use telemetry::Millis;

/// The most rows of other processes, and the most bytes of them, that are read at once.
const OTHERS_ROWS: usize = 1_000;
const OTHERS_BYTES: usize = 8 << 20;

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

    fn commit(&mut self) -> Result<Committed> {
        match self.run("COMMIT", []) {
            Ok(()) => Ok(Committed::Made),
            Err(error) => {
                self.rollback();
                if error.is_disk_full() { Ok(Committed::Failed(error)) } else { Err(error) }
            }
        }
    }

    fn rollback(&mut self) {
        self.wrote = None;
        // After some errors SQLite has already rolled back. This then fails, and nothing else is to be done.
        let _ = self.run("ROLLBACK", []);
    }

    fn replay(&mut self, rows: &[JournalRow]) -> Result<()> {
        self.run("BEGIN IMMEDIATE", [])?;
        self.wrote = None;
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
        self.end()
    }

    fn others(&mut self, after: Seq) -> Result<Others> {
        let rows = parsed(&self.journal_text(after, OTHERS_ROWS, OTHERS_BYTES)?)?;
        Ok(Others { more: !rows.is_empty(), rows })
    }

    fn take_in(&mut self, _: &[JournalRow]) -> Result<()> {
        // The other process wrote them into this database.
        Ok(())
    }

    fn change_note(&mut self, name: &str, change: &mut dyn FnMut(Option<&str>) -> Option<String>) -> Result<()> {
        self.run("BEGIN IMMEDIATE", [])?;
        let known = self.rows("SELECT body FROM note WHERE name = ?", [name], |row| row.get::<_, String>(0));
        let changed = known.and_then(|known| match change(known.first().map(String::as_str)) {
            Some(body) => self.run("INSERT OR REPLACE INTO note VALUES (?, ?)", [name, &body]),
            None => Ok(()),
        });
        if changed.is_err() {
            self.rollback();
            return changed;
        }
        self.end()
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
        // Another process may have written since.
        let wrote = self.wrote.filter(|(seq, _)| *seq == last).map(|(_, moment)| moment);
        let known = wrote.map_or_else(|| self.last_moment(), |moment| Ok(Some(moment)))?;
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
        self.wrote = (last > Seq(0)).then_some((last, moment));
        Ok(answers)
    }

    /// Commits a transaction whose changes nobody waits to be numbered.
    fn end(&mut self) -> Result<()> {
        match self.commit()? {
            Committed::Failed(error) => Err(error),
            Committed::Made | Committed::Behind(_) => Ok(()),
        }
    }
}
