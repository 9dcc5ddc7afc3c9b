//! The truth as of an earlier change: current rows, and for entries that changed since, rows of the journal.

use crate::error::Result;
use crate::journal::change::Change;
use crate::journal::entry::Entry;
use crate::journal::record::{RepositoryId, Seq};
use crate::truth::catalog::{Catalog, Subject};
use telemetry::Millis;

/// A catalog as of the change `through`.
#[derive(Debug)]
pub struct CatalogAsOf<'a, C: ?Sized + 'a> {
    truth: &'a mut C,
    through: Seq,
}

impl<'a, C: Catalog + ?Sized> CatalogAsOf<'a, C> {
    /// `truth` as of the change `through`, which must exist.
    pub fn new(truth: &'a mut C, through: Seq) -> Self {
        Self { truth, through }
    }

    /// One entry.
    pub fn entry(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>> {
        // Entries are never deleted, so one that does not exist now never existed.
        match self.truth.entry(repository, key)? {
            Some(entry) => self.entry_as_of(repository, entry, None),
            None => Ok(None),
        }
    }

    /// The entries of one unit, including withdrawn ones, ordered by `published`, then `key`.
    pub fn unit(&mut self, repository: RepositoryId, unit: &str) -> Result<Vec<Entry>> {
        let now = self.truth.unit(repository, unit)?;
        let mut entries = Vec::with_capacity(now.entries.len());
        for entry in now.entries {
            entries.extend(self.entry_as_of(repository, entry, Some(now.seq))?);
        }
        entries.sort_by(|a, b| (a.published, &a.key).cmp(&(b.published, &b.key)));
        Ok(entries)
    }

    /// Entries whose keys begin with `prefix`, ordered by key. Considers the first `limit` entries that exist now.
    pub fn entries_beginning(&mut self, repository: RepositoryId, prefix: &str, limit: usize) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in self.truth.entries_beginning(repository, prefix, "", limit)? {
            entries.extend(self.entry_as_of(repository, entry, None)?);
        }
        Ok(entries)
    }

    /// Calls `read` with each of the next `limit` units after `after` and its entries, including withdrawn ones. Units that had
    /// no entries at that time are included. Returns the results, and the last unit unless there are no more.
    pub fn units<T>(
        &mut self,
        repository: RepositoryId,
        after: &str,
        limit: usize,
        mut read: impl FnMut(&str, Vec<Entry>) -> T,
    ) -> Result<(Vec<T>, Option<String>)> {
        let units = self.truth.units_ever(repository, after, limit)?;
        let made = units.iter().map(|unit| Ok(read(unit, self.unit(repository, unit)?))).collect::<Result<_>>()?;
        Ok((made, units.last().filter(|_| units.len() == limit).cloned()))
    }

    /// The state of an entry at that change. `unit_seq`: the last change of its unit, if the caller knows it.
    fn entry_as_of(&mut self, repository: RepositoryId, now: Entry, unit_seq: Option<Seq>) -> Result<Option<Entry>> {
        let unit_seq = unit_seq.map_or_else(|| self.truth.facts(repository, &now.unit).map(|facts| facts.seq), Ok)?;
        if unit_seq <= self.through {
            return Ok(Some(now));
        }
        match self.truth.state_as_of(repository, Subject::Entry(&now.key), self.through)? {
            Some(Change::Entry { entry, .. }) => Ok(Some(entry)),
            _ => Ok(None),
        }
    }
}

/// The last change that was made by `moment`. Moments never decrease from row to row, except in rows of earlier versions of
/// Daylight, where the clock was set back. Several changes qualify then, and the result is always the same one of them.
pub(crate) fn last_change_by<C: Catalog + ?Sized>(truth: &mut C, moment: Millis) -> Result<Seq> {
    let last = truth.last()?.0;
    let mut through = 0;
    for bit in (0..u64::BITS - last.leading_zeros()).rev() {
        let next = through | 1 << bit;
        let row = if next <= last { truth.dated_journal(Seq(next - 1), 1)?.pop() } else { None };
        if row.is_some_and(|row| row.at <= moment) {
            through = next;
        }
    }
    Ok(Seq(through))
}
