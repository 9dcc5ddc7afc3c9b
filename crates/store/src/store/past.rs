//! What the truth was once a change had been made, as its callers see it.

use super::Store;
use crate::past::{self, Past};
use crate::{Catalog, Change, Entry, Error, Lane, RepositoryId, Seq, Sqlite, Subject};
use telemetry::{Event, Millis};

/// The truth as it was when `through` was its last change.
#[derive(Debug, Clone, Copy)]
pub struct Then<'a> {
    store: &'a Store,
    through: Seq,
}

impl Store {
    /// The truth as it was when `through` was its last change. That is at most [`Store::last`].
    pub fn then(&self, through: Seq) -> Then<'_> {
        Then { store: self, through }
    }

    /// The last change that was made by `moment`. One that is being written now may be of it, and is waited for: who asks twice as
    /// of a moment that is over is told the same.
    pub async fn through(&self, moment: Millis, event: &mut Event) -> Result<Seq, Error> {
        self.writer.settled(event).await?;
        self.read(Lane::Single, event, move |truth| past::through(truth, moment)).await
    }

    /// When the last change up to `through` was made, by the clock of then; the beginning of time where there is none.
    pub async fn changed_at(&self, through: Seq, event: &mut Event) -> Result<Millis, Error> {
        let Some(before) = through.0.checked_sub(1).map(Seq) else { return Ok(Millis(i64::MIN)) };
        let row = self.read(Lane::Single, event, move |truth| truth.journal(before, 1)).await?.pop();
        Ok(row.map_or(Millis(i64::MIN), |row| row.at))
    }

    /// The number of the last index line of a repository that was said by `through`; 0: there was none.
    pub async fn last_line(&self, id: RepositoryId, through: Seq, event: &mut Event) -> Result<Seq, Error> {
        self.read(Lane::Single, event, move |truth| truth.last_line(id, through)).await
    }
}

impl Then<'_> {
    /// One entry.
    pub async fn entry(self, id: RepositoryId, key: &str, event: &mut Event) -> Result<Option<Entry>, Error> {
        let key = key.to_owned();
        self.read(Lane::Single, event, move |mut past| past.entry(id, &key)).await
    }

    /// The entries of one unit, withdrawn ones too, ordered by `published`, then `key`.
    pub async fn unit(self, id: RepositoryId, unit: &str, event: &mut Event) -> Result<Vec<Entry>, Error> {
        let unit = unit.to_owned();
        self.read(Lane::Index, event, move |mut past| past.unit(id, &unit)).await
    }

    /// What was known of a unit beside its entries; null: nothing.
    pub async fn facts(self, id: RepositoryId, unit: &str, event: &mut Event) -> Result<serde_json::Value, Error> {
        let (unit, through) = (unit.to_owned(), self.through);
        let state = move |truth: &mut Sqlite| truth.state(id, Subject::Unit(&unit), through);
        Ok(match self.store.read(Lane::Single, event, state).await? {
            Some(Change::Unit { facts, .. }) => facts,
            _ => serde_json::Value::Null,
        })
    }

    /// What `read` makes of each of the next `limit` units after `after`, given its entries, withdrawn ones too: all in one turn of
    /// one thread. And the last of them, unless there are no more. Units that had none then are among them.
    pub async fn units<T: Send + 'static>(
        self,
        id: RepositoryId,
        (after, limit): (&str, usize),
        read: impl FnMut(&str, Vec<Entry>) -> T + Send + 'static,
        event: &mut Event,
    ) -> Result<(Vec<T>, Option<String>), Error> {
        let after = after.to_owned();
        self.read(Lane::Index, event, move |mut past| past.units(id, &after, limit, read)).await
    }

    /// Entries whose keys begin with `prefix`, in byte order of those, of the first `limit` that there are now.
    pub async fn entries_beginning(
        self,
        id: RepositoryId,
        prefix: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<Entry>, Error> {
        let prefix = prefix.to_owned();
        self.read(Lane::Single, event, move |mut past| past.entries_beginning(id, &prefix, limit)).await
    }

    /// Units whose names begin with `prefix` and come after `after`, and of which something was known then beside their entries, in
    /// byte order, `limit` at most.
    pub async fn known(
        self,
        id: RepositoryId,
        (prefix, after): (&str, &str),
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(String, serde_json::Value)>, Error> {
        let (prefix, after, through) = (prefix.to_owned(), after.to_owned(), self.through);
        let known = move |truth: &mut Sqlite| truth.known_then(id, (&prefix, &after), limit, through);
        self.store.read(Lane::Index, event, known).await
    }

    async fn read<T: Send + 'static>(
        self,
        lane: Lane,
        event: &mut Event,
        read: impl FnOnce(Past<'_, Sqlite>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let through = self.through;
        self.store.read(lane, event, move |truth| read(Past::of(truth, through))).await
    }
}
