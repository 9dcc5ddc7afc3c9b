//! The truth as it was once a change had been made: read from what it is, and where that changed since, from the journal.

use crate::{Catalog, Change, Entry, Error, RepositoryId, Seq, Subject};
use telemetry::Millis;

/// A catalog as it was when `through` was its last change.
#[derive(Debug)]
pub struct Past<'a, C> {
    truth: &'a mut C,
    through: Seq,
}

impl<'a, C: Catalog> Past<'a, C> {
    /// `truth` as of a change that it has.
    pub fn of(truth: &'a mut C, through: Seq) -> Self {
        Self { truth, through }
    }

    /// One entry.
    pub fn entry(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>, Error> {
        // No entry is ever taken away, so one that is not there now never was.
        match self.truth.entry(repository, key)? {
            Some(entry) => self.then(repository, entry, None),
            None => Ok(None),
        }
    }

    /// The entries of one unit, withdrawn ones too, ordered by `published`, then `key`.
    pub fn unit(&mut self, repository: RepositoryId, unit: &str) -> Result<Vec<Entry>, Error> {
        let now = self.truth.unit(repository, unit)?;
        let mut entries = Vec::with_capacity(now.entries.len());
        for entry in now.entries {
            entries.extend(self.then(repository, entry, Some(now.seq))?);
        }
        entries.sort_by(|a, b| (a.published, &a.key).cmp(&(b.published, &b.key)));
        Ok(entries)
    }

    /// Entries whose keys begin with `prefix`, in byte order of those, of the first `limit` that there are now.
    pub fn entries_beginning(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        for entry in self.truth.entries_beginning(repository, prefix, "", limit)? {
            entries.extend(self.then(repository, entry, None)?);
        }
        Ok(entries)
    }

    /// What `read` makes of each of the next `limit` units after `after`, given its entries, withdrawn ones too; and the last of
    /// them, unless there are no more. Units that had none then are among them.
    pub fn units<T>(
        &mut self,
        repository: RepositoryId,
        after: &str,
        limit: usize,
        mut read: impl FnMut(&str, Vec<Entry>) -> T,
    ) -> Result<(Vec<T>, Option<String>), Error> {
        let units = self.truth.units_ever(repository, after, limit)?;
        let made =
            units.iter().map(|unit| Ok(read(unit, self.unit(repository, unit)?))).collect::<Result<_, Error>>()?;
        Ok((made, units.last().filter(|_| units.len() == limit).cloned()))
    }

    /// What an entry was. `unit`: the last change of its unit, where that is known.
    fn then(&mut self, repository: RepositoryId, now: Entry, unit: Option<Seq>) -> Result<Option<Entry>, Error> {
        let unit = unit.map_or_else(|| self.truth.facts(repository, &now.unit).map(|facts| facts.seq), Ok)?;
        if unit <= self.through {
            return Ok(Some(now));
        }
        match self.truth.state(repository, Subject::Entry(&now.key), self.through)? {
            Some(Change::Entry { entry, .. }) => Ok(Some(entry)),
            _ => Ok(None),
        }
    }
}

/// The last change that was made by `moment`, by the clock of then: where that was put back for a while, one of those of which
/// that is true, and always the same.
pub(crate) fn through(truth: &mut impl Catalog, moment: Millis) -> Result<Seq, Error> {
    let last = truth.last()?.0;
    let mut through = 0;
    for bit in (0..u64::BITS - last.leading_zeros()).rev() {
        let next = through | 1 << bit;
        let row = if next <= last { truth.journal(Seq(next - 1), 1)?.pop() } else { None };
        if row.is_some_and(|row| row.at <= moment) {
            through = next;
        }
    }
    Ok(Seq(through))
}
