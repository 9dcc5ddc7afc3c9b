//! The fetches in flight, and their limits.

use crate::upstream::flight::{Flight, Stage};
use crate::upstream::flight_use::FlightUse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use store::{Origin, RepositoryId};
use telemetry::{Bound, BoundName, EventId, Full, Slot, lock};
use tokio::sync::watch;

/// The upstream is part of the key: after a change of the URL, no request follows a fetch from the former upstream.
pub(crate) type FlightKey = (Origin, String);

/// The number of slots in which ended fetches are counted. Two paths rarely have one slot, and then a fetch looks once more.
const LANDINGS: usize = 1024;

/// The fetches in flight.
#[derive(Debug)]
pub(crate) struct Flights {
    table: Mutex<Table>,
    /// The fetches that ended, by a hash of their keys.
    landings: Box<[AtomicU64]>,
    bound: Arc<Bound>,
    /// The capacity for each repository. The bound shows the use of the repository with most fetches.
    each: Arc<Bound>,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) lines: HashMap<FlightKey, FlightEntry>,
    /// The number of each repository's fetches, without zeros.
    of: HashMap<RepositoryId, u64>,
}

/// A fetch in the table. The table is not a follower.
#[derive(Debug)]
pub(crate) struct FlightEntry {
    pub(crate) id: EventId,
    pub(crate) stages: watch::Sender<Stage>,
    pub(crate) used: FlightUse,
}

impl Flights {
    /// No fetches yet. At most `most` are in flight at once; each has a few pieces of 64 KiB in memory. At most an eighth is for one
    /// repository, so that a hanging upstream leaves room for the others.
    pub(crate) fn new(most: u64) -> Self {
        Self {
            table: Mutex::default(),
            landings: (0..LANDINGS).map(|_| AtomicU64::default()).collect(),
            bound: Bound::new(BoundName::Flights, "", most),
            each: Bound::new(BoundName::RepositoryFlights, "", most.div_ceil(8)),
        }
    }

    pub(crate) fn bounds(&self) -> [&Arc<Bound>; 2] {
        [&self.bound, &self.each]
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }

    /// The number of fetches of a path that ended, or of others with its slot. While it stays the same, no fetch of the path
    /// has ended.
    pub(crate) fn landings(&self, of: Origin, path: &str) -> u64 {
        self.slot(of, path).load(Ordering::Acquire)
    }

    /// Removes a fetch that has ended.
    pub(crate) fn land(&self, key: &FlightKey, id: EventId) {
        let mut table = self.table();
        // A fetch without followers was removed before, and another one may have begun since.
        if table.lines.get(key).is_some_and(|line| line.id == id) {
            table.lines.remove(key);
        }
        self.slot(key.0, &key.1).fetch_add(1, Ordering::AcqRel);
        self.leave(&mut table, key.0.repository);
    }

    fn slot(&self, of: Origin, path: &str) -> &AtomicU64 {
        &self.landings[of.hash_of(path) as usize % LANDINGS]
    }

    /// Takes a place for one more fetch of a repository.
    pub(crate) fn enter(&self, table: &mut Table, id: RepositoryId) -> Result<Slot, Full> {
        let has = table.of.get(&id).copied().unwrap_or(0);
        if has >= self.each.capacity() {
            self.each.reject();
            return Err(Full(BoundName::RepositoryFlights));
        }
        let place = self.bound.enter()?;
        table.of.insert(id, has + 1);
        self.each.observe(table.most());
        Ok(place)
    }

    /// Returns the place of a repository's fetch.
    fn leave(&self, table: &mut Table, id: RepositoryId) {
        if let Some(has) = table.of.get_mut(&id) {
            *has -= 1;
        }
        table.of.retain(|_, has| *has > 0);
        self.each.observe(table.most());
    }

    /// Whether no request follows a fetch. If so, the fetch is removed from the table, and no later request can follow
    /// it.
    pub(crate) fn left(&self, key: &FlightKey, stages: &watch::Sender<Stage>) -> bool {
        let mut table = self.table();
        let left = stages.receiver_count() == 0;
        if left {
            table.lines.remove(key);
        }
        left
    }
}

impl Table {
    fn most(&self) -> u64 {
        self.of.values().copied().max().unwrap_or(0)
    }
}

impl FlightEntry {
    pub(crate) fn flight(&self) -> Flight {
        Flight { id: self.id, stage: self.stages.subscribe(), used: self.used.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fetch_that_has_ended_is_counted_at_its_path_and_gives_its_place_back() {
        let flights = Flights::new(8);
        let key = (Origin::new(RepositoryId(1), &["http://a.test".to_owned()]), "org/a.jar".to_owned());
        let before = flights.landings(key.0, &key.1);
        let place = flights.enter(&mut flights.table(), key.0.repository).unwrap();
        assert!(flights.enter(&mut flights.table(), key.0.repository).is_err());
        assert_eq!(flights.landings(key.0, &key.1), before);
        drop(place);
        flights.land(&key, EventId(1));
        assert_eq!(flights.landings(key.0, &key.1), before + 1);
        assert!(flights.enter(&mut flights.table(), key.0.repository).is_ok());
    }
}
