//! Reads of first-seen rows, and the budget for new ones.

use super::Store;
use crate::error::Result;
use crate::journal::record::{RepositoryId, Seq};
use crate::pool::lane::Lane;
use crate::truth::catalog::{Catalog, FirstSeen};
use crate::writer::first_seen_budget::{Admitted, cost};
use serde_json::Value;
use telemetry::Event;

/// A number after those of all changes.
const LAST: Seq = Seq(i64::MAX.cast_unsigned());
/// Bytes of a journal row without its unit and its facts: numbers, names and punctuation.
const FRAME_BYTES: usize = 128;

impl Store {
    /// Calls `read` with the first-seen rows of a unit up to the change `through` (`None`: until now), oldest first. It runs on a
    /// reader's thread, because there may be many rows.
    pub async fn first_seen<T: Send + 'static>(
        &self,
        repository: RepositoryId,
        unit: &str,
        through: Option<Seq>,
        read: impl FnOnce(Vec<FirstSeen>) -> T + Send + 'static,
        event: &mut Event,
    ) -> Result<T> {
        let (unit, through) = (unit.to_owned(), through.unwrap_or(LAST));
        let rows = move |truth: &mut dyn Catalog| truth.first_seen(repository, &unit, through).map(read);
        self.read(Lane::Single, event, rows).await
    }

    /// Calls `read` with all first-seen rows of each of these units, oldest first, and returns its results with the facts of the unit.
    /// All are read in one turn of a reader.
    pub async fn first_seen_units<T: Send + 'static>(
        &self,
        repository: RepositoryId,
        units: Vec<String>,
        read: impl Fn(Vec<FirstSeen>) -> T + Send + 'static,
        event: &mut Event,
    ) -> Result<Vec<(T, Value)>> {
        let rows = move |truth: &mut dyn Catalog| {
            let of_unit = |unit: &String| {
                let rows = truth.first_seen(repository, unit, LAST)?;
                Ok((read(rows), truth.facts(repository, unit)?.facts))
            };
            units.iter().map(of_unit).collect()
        };
        self.read(Lane::Single, event, rows).await
    }

    /// The budget of each repository, in bytes.
    pub fn first_seen_max_bytes(&self) -> u64 {
        self.first_seen.bound().capacity()
    }

    /// Admits a row with this many bytes of JSON, if the budget of the repository has room. It counts until the result is dropped,
    /// after its commit. A refusal is counted. `was_full`: the budget was used up before, so more free space is required.
    pub fn admit_first_seen(
        &self,
        id: RepositoryId,
        unit: &str,
        seen_bytes: usize,
        was_full: bool,
    ) -> Option<Admitted> {
        self.first_seen.admit(id, cost(FRAME_BYTES + unit.len() + seen_bytes, unit), was_full)
    }
}
