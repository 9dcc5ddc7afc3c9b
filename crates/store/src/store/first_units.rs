//! Units a kind at a time: what begins alike is passed over, so that what there is of each kind is not read.

use super::Store;
use crate::{Catalog as _, Error, Lane, RepositoryId, Sqlite};
use telemetry::Event;

impl Store {
    /// The first unit with a live entry of each kind, in byte order, `limit` at most: `behind` names where those of a unit's kind
    /// end. All is done in one turn of a reader.
    pub async fn first_units(
        &self,
        id: RepositoryId,
        behind: impl Fn(&str) -> String + Send + 'static,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<String>, Error> {
        let next = move |truth: &mut Sqlite, after: &str| truth.units(id, after, 1);
        self.read(Lane::Index, event, move |truth| walk(truth, next, behind, limit)).await
    }

    /// The same of all units that there ever were, but for the one that has no name.
    pub async fn first_units_ever(
        &self,
        id: RepositoryId,
        behind: impl Fn(&str) -> String + Send + 'static,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<String>, Error> {
        let next = move |truth: &mut Sqlite, after: &str| truth.units_ever(id, after, 1);
        self.read(Lane::Index, event, move |truth| walk(truth, next, behind, limit)).await
    }
}

fn walk(
    truth: &mut Sqlite,
    next: impl Fn(&mut Sqlite, &str) -> Result<Vec<String>, Error>,
    behind: impl Fn(&str) -> String,
    limit: usize,
) -> Result<Vec<String>, Error> {
    let (mut found, mut after) = (Vec::new(), String::new());
    while found.len() < limit
        && let Some(unit) = next(truth, &after)?.pop()
    {
        after = behind(&unit);
        found.push(unit);
    }
    Ok(found)
}
