//! What was first seen of upstreams, as its callers read it and ask for room.

use super::Store;
use crate::first_seen::cost;
use crate::{Catalog as _, Error, FirstSeen, Lane, RepositoryId, Seq, Sqlite};
use telemetry::Event;

/// Bytes of a journal row beside its unit and what it says: its numbers, names and punctuation.
const FRAME_BYTES: usize = 128;

impl Store {
    /// What `read` makes of what was first seen of a unit, oldest first, by the change `through` (`None`: until now). It runs on a
    /// reader's thread, as there may be much.
    pub async fn first_seen<T: Send + 'static>(
        &self,
        repository: RepositoryId,
        unit: &str,
        through: Option<Seq>,
        read: impl FnOnce(Vec<FirstSeen>) -> T + Send + 'static,
        event: &mut Event,
    ) -> Result<T, Error> {
        let (unit, through) = (unit.to_owned(), through.unwrap_or(Seq(i64::MAX.cast_unsigned())));
        let rows = move |truth: &mut Sqlite| truth.first_seen(repository, &unit, through).map(read);
        self.read(Lane::Single, event, rows).await
    }

    /// Whether the budget of a repository has room for a row of a unit that says so many bytes of JSON; `had_none`: whether it was
    /// used up before, so that only plenty of room counts. Counts a refusal.
    pub fn has_room_for_first_seen(&self, id: RepositoryId, unit: &str, seen_bytes: usize, had_none: bool) -> bool {
        self.first_seen.has_room(id, cost(FRAME_BYTES + unit.len() + seen_bytes, unit), had_none)
    }
}
