//! Transactions of the model: a rollback restores a copy of the state.

use super::state::Model;
use crate::error::Result;
use crate::journal::record::Seq;
use crate::truth::catalog::{Batch, Committed, Conflict, JournalReads as _, JournalRow, Others, Transactions};
use telemetry::Millis;

impl Transactions for Model {
    fn begin(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>> {
        batches.iter().try_for_each(Batch::check)?;
        self.before = Some(Box::new(self.clone()));
        let one = |batch: &Batch| {
            let mut expect = batch.expect.iter().cloned().chain(batch.implied());
            if let Some(broken) = expect.find(|expect| !self.holds(expect)) {
                return Err(Conflict(broken));
            }
            let at = batch.moment(self.moment().unwrap_or(Millis(i64::MIN)))?;
            for (index, change) in batch.changes.iter().enumerate() {
                self.apply(JournalRow::new(Seq(self.seq().0 + 1), at, batch, index, change));
            }
            Ok(self.seq())
        };
        Ok(batches.iter().map(one).collect())
    }

    fn commit(&mut self) -> Result<Committed> {
        self.before = None;
        Ok(Committed::Made)
    }

    fn rollback(&mut self) {
        if let Some(before) = self.before.take() {
            *self = *before;
        }
    }

    fn replay(&mut self, rows: &[JournalRow]) -> Result<()> {
        let mut last = self.seq();
        for row in rows {
            row.follows(last)?;
            last = row.seq;
        }
        rows.iter().for_each(|row| self.apply(row.clone()));
        Ok(())
    }

    fn others(&mut self, after: Seq) -> Result<Others> {
        Ok(Others { rows: self.journal(after, usize::MAX)?, more: false })
    }

    fn take_in(&mut self, _: &[JournalRow]) -> Result<()> {
        Ok(())
    }

    fn change_note(&mut self, name: &str, change: &mut dyn FnMut(Option<&str>) -> Option<String>) -> Result<()> {
        if let Some(body) = change(self.notes.get(name).map(String::as_str)) {
            self.notes.insert(name.to_owned(), body);
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
