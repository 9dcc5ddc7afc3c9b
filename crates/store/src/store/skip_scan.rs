//! A skip scan over units: finds the first unit of each group without reading the others of the group.

use super::Store;
use crate::catalog::Catalog;
use crate::error::Error;
use crate::lane::Lane;
use crate::record::RepositoryId;
use telemetry::Event;

/// The units that a scan considers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitFilter {
    /// Units with a live entry.
    Live,
    /// All units that ever had a change, except the one with the empty name.
    Ever,
}

impl Store {
    /// The first unit of each kind, in byte order, at most `limit`, all in one job. `end_of_kind` returns a name that is not less
    /// than any unit of the same kind.
    pub async fn first_of_each_kind(
        &self,
        id: RepositoryId,
        filter: UnitFilter,
        end_of_kind: impl Fn(&str) -> String + Send + 'static,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<String>, Error> {
        let scan = move |truth: &mut dyn Catalog| {
            let (mut found, mut after) = (Vec::new(), String::new());
            while found.len() < limit {
                let next = match filter {
                    UnitFilter::Live => truth.units(id, &after, 1)?.pop(),
                    UnitFilter::Ever => truth.units_ever(id, &after, 1)?.pop(),
                };
                let Some(unit) = next else { break };
                after = end_of_kind(&unit);
                found.push(unit);
            }
            Ok(found)
        };
        self.read(Lane::Index, event, scan).await
    }
}
