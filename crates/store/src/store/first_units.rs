//! Units a kind at a time: what begins alike is passed over, so that what there is of each kind is not read.

use super::Store;
use crate::{Catalog as _, Error, Lane, RepositoryId, Sqlite};
use telemetry::Event;

/// Which units are looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    /// Those with a live entry.
    Live,
    /// All that there ever were, but for the one that has no name.
    Ever,
}

impl Store {
    /// The first unit of each kind, in byte order, `limit` at most: `behind` names where those of a unit's kind end. All is done in
    /// one turn of a reader.
    pub async fn first_units(
        &self,
        (id, which): (RepositoryId, Units),
        behind: impl Fn(&str) -> String + Send + 'static,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<String>, Error> {
        let walk = move |truth: &mut Sqlite| {
            let (mut found, mut after) = (Vec::new(), String::new());
            while found.len() < limit {
                let next = match which {
                    Units::Live => truth.units(id, &after, 1)?.pop(),
                    Units::Ever => truth.units_ever(id, &after, 1)?.pop(),
                };
                let Some(unit) = next else { break };
                after = behind(&unit);
                found.push(unit);
            }
            Ok(found)
        };
        self.read(Lane::Index, event, walk).await
    }
}
