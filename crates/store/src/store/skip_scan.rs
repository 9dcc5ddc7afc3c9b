//! A skip scan over units: finds the first unit of each group without reading the others of the group.

use super::Store;
use crate::error::Result;
use crate::journal::record::{RepositoryId, Seq};
use crate::pool::lane::Lane;
use crate::truth::catalog::Catalog;
use telemetry::{Event, give_way};

/// The units that a scan considers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitFilter {
    /// Units with a live entry.
    Live,
    /// All units that ever had a change, except the one with the empty name.
    Ever,
    /// Units with facts of their own: now, or directly after a change.
    WithFacts(Option<Seq>),
}

impl Store {
    /// The first unit of each kind after `after`, in byte order, at most `limit`, all in one job. `end_of_kind` returns a name that is
    /// not less than any unit of the same kind.
    pub async fn first_of_each_kind(
        &self,
        id: RepositoryId,
        filter: UnitFilter,
        after: &str,
        end_of_kind: impl Fn(&str) -> String + Send + 'static,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<String>> {
        let mut after = after.to_owned();
        let scan = move |truth: &mut dyn Catalog| {
            let mut found = Vec::new();
            while found.len() < limit {
                give_way();
                let next = match filter {
                    UnitFilter::Live => truth.units(id, &after, 1)?.pop(),
                    UnitFilter::Ever => truth.units_ever(id, &after, 1)?.pop(),
                    UnitFilter::WithFacts(None) => {
                        truth.units_with_facts(id, "", &after, 1)?.pop().map(|(unit, _)| unit)
                    }
                    UnitFilter::WithFacts(Some(through)) => {
                        truth.units_with_facts_as_of(id, "", &after, 1, through)?.pop().map(|(unit, _)| unit)
                    }
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
