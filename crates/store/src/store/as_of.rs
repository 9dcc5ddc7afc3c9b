//! The truth as of an earlier change: the public interface.

use super::Store;
use crate::error::Result;
use crate::journal::change::Change;
use crate::journal::entry::Entry;
use crate::journal::record::{RepositoryId, Seq};
use crate::pool::lane::Lane;
use crate::truth::as_of::{CatalogAsOf, last_change_by};
use crate::truth::catalog::{Catalog, JournalRow, Subject};
use serde_json::Value;
use telemetry::{Event, Millis};

/// The truth as of the change `through`.
#[derive(Debug, Clone, Copy)]
pub struct AsOf<'a> {
    store: &'a Store,
    through: Seq,
}

impl Store {
    /// The truth as of the change `through`, which is at most [`Store::last`].
    pub fn as_of(&self, through: Seq) -> AsOf<'_> {
        AsOf { store: self, through }
    }

    /// The last change that was made by `moment`. Waits for changes that are being written now, because they may count: two calls
    /// with the same past moment return the same.
    pub async fn last_change_by(&self, moment: Millis, event: &mut Event) -> Result<Seq> {
        self.writer.settled(event).await?;
        self.read(Lane::Single, event, move |truth| last_change_by(truth, moment)).await
    }

    /// The moment of the change `through`. The smallest moment if there is none.
    pub async fn changed_at(&self, through: Seq, event: &mut Event) -> Result<Millis> {
        let Some(before) = through.0.checked_sub(1).map(Seq) else { return Ok(Millis(i64::MIN)) };
        let row = self.read(Lane::Single, event, move |truth| truth.dated_journal(before, 1)).await?.pop();
        Ok(row.map_or(Millis(i64::MIN), |row| row.at))
    }

    /// The row of the last change of an entry.
    pub async fn last_row_of(&self, id: RepositoryId, key: &str, event: &mut Event) -> Result<Option<JournalRow>> {
        let key = key.to_owned();
        let read = move |truth: &mut dyn Catalog| {
            let last = truth.last()?;
            truth.row_as_of(id, Subject::Entry(&key), last)
        };
        self.read(Lane::Single, event, read).await
    }

    /// The row of the last change of an entry by a moment.
    pub async fn row_by(
        &self,
        id: RepositoryId,
        key: &str,
        moment: Millis,
        event: &mut Event,
    ) -> Result<Option<JournalRow>> {
        let key = key.to_owned();
        let read = move |truth: &mut dyn Catalog| {
            let last = last_change_by(truth, moment)?;
            truth.row_as_of(id, Subject::Entry(&key), last)
        };
        self.read(Lane::Single, event, read).await
    }

    /// The number of the last index line of a repository up to `through`; 0: there was none.
    pub async fn last_line(&self, id: RepositoryId, through: Seq, event: &mut Event) -> Result<Seq> {
        self.read(Lane::Single, event, move |truth| truth.last_line(id, through)).await
    }
}

impl AsOf<'_> {
    /// One entry.
    pub async fn entry(self, id: RepositoryId, key: &str, event: &mut Event) -> Result<Option<Entry>> {
        let key = key.to_owned();
        self.read(Lane::Single, event, move |mut then| then.entry(id, &key)).await
    }

    /// The entries of one unit, including withdrawn ones, ordered by `published`, then `key`.
    pub async fn unit(self, id: RepositoryId, unit: &str, event: &mut Event) -> Result<Vec<Entry>> {
        let unit = unit.to_owned();
        self.read(Lane::Index, event, move |mut then| then.unit(id, &unit)).await
    }

    /// The facts of a unit itself; null: it had none.
    pub async fn facts(self, id: RepositoryId, unit: &str, event: &mut Event) -> Result<Value> {
        let (unit, through) = (unit.to_owned(), self.through);
        let state = move |truth: &mut dyn Catalog| truth.state_as_of(id, Subject::Unit(&unit), through);
        Ok(match self.store.read(Lane::Single, event, state).await? {
            Some(Change::Unit { facts, .. }) => facts,
            _ => Value::Null,
        })
    }

    /// Calls `read` with each of the next `limit` units after `after` and its entries, including withdrawn ones, all in one job.
    /// Units that had no entries at that time are included. Returns the results, and the last unit unless there are no more.
    pub async fn units<T: Send + 'static>(
        self,
        id: RepositoryId,
        after: &str,
        limit: usize,
        read: impl FnMut(&str, Vec<Entry>) -> T + Send + 'static,
        event: &mut Event,
    ) -> Result<(Vec<T>, Option<String>)> {
        let after = after.to_owned();
        self.read(Lane::Index, event, move |mut then| then.units(id, &after, limit, read)).await
    }

    /// Entries whose keys begin with `prefix`, ordered by key. Considers the first `limit` entries that exist now.
    pub async fn entries_beginning(
        self,
        id: RepositoryId,
        prefix: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<Entry>> {
        let prefix = prefix.to_owned();
        self.read(Lane::Single, event, move |mut then| then.entries_beginning(id, &prefix, limit)).await
    }

    /// Units whose names begin with `prefix` and come after `after`, and which had facts of their own, ordered by name, at most
    /// `limit`.
    pub async fn units_with_facts(
        self,
        id: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(String, Value)>> {
        let (prefix, after, through) = (prefix.to_owned(), after.to_owned(), self.through);
        let read = move |truth: &mut dyn Catalog| truth.units_with_facts_as_of(id, &prefix, &after, limit, through);
        self.store.read(Lane::Index, event, read).await
    }

    async fn read<T: Send + 'static>(
        self,
        lane: Lane,
        event: &mut Event,
        read: impl FnOnce(CatalogAsOf<'_, dyn Catalog>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let through = self.through;
        self.store.read(lane, event, move |truth| read(CatalogAsOf::new(truth, through))).await
    }
}
