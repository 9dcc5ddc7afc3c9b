//! Figures of caches: their lookups as differences between samples, and their reuse curves.

use crate::reuse::curve::Curve;
use crate::reuse::streams::{COUNT, place};
use std::collections::HashMap;
use std::sync::Arc;
use telemetry::{Bound, CacheName, Miss};

/// The figures of one cache, or of one of several tables that share a name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CacheSeen {
    /// Lookups that found an entry; of pages 0, because the events of requests count these.
    pub(crate) hits: u64,
    /// Lookups of entries that were never made, or were evicted.
    pub(crate) absent: u64,
    /// Lookups of entries that could not be stored.
    pub(crate) refused: u64,
    /// Lookups of entries that were no longer valid.
    pub(crate) stale: u64,
    /// Entries that were stored.
    pub(crate) inserts: u64,
    /// Entries that made room for others.
    pub(crate) evictions: u64,
    /// Entries at the last sample.
    pub(crate) entries: u64,
    /// What they take, in the unit of the bound.
    pub(crate) used: u64,
    /// The most that they may take.
    pub(crate) capacity: u64,
}

impl CacheSeen {
    /// Adds the counts of a later stretch, and takes its state.
    fn add(&mut self, later: &Self) {
        let sums = *self;
        *self = *later;
        self.add_counts(&sums);
    }

    fn add_counts(&mut self, other: &Self) {
        self.hits += other.hits;
        self.absent += other.absent;
        self.refused += other.refused;
        self.stale += other.stale;
        self.inserts += other.inserts;
        self.evictions += other.evictions;
    }
}

/// All caches.
#[derive(Debug, Clone, Default)]
pub(crate) struct CachesSeen {
    /// By name and what distinguishes tables of that name.
    pub(crate) tables: HashMap<(CacheName, Box<str>), CacheSeen>,
    /// The reuse curves, by place.
    pub(crate) curves: [Curve; COUNT],
}

impl CachesSeen {
    /// The sum of all tables of a name.
    pub(crate) fn of(&self, name: CacheName) -> CacheSeen {
        let tables = self.tables.iter().filter(|((of, _), _)| *of == name);
        tables.fold(CacheSeen::default(), |mut sum, (_, table)| {
            sum.add_counts(table);
            sum.entries += table.entries;
            sum.used += table.used;
            sum.capacity += table.capacity;
            sum
        })
    }

    /// One table.
    pub(crate) fn table(&self, name: CacheName, which: &str) -> CacheSeen {
        self.tables.get(&(name, which.into())).copied().unwrap_or_default()
    }

    /// The reuse curve of a cache. `None`: it has none.
    pub(crate) fn curve(&self, name: CacheName) -> Option<&Curve> {
        place(name).map(|place| &self.curves[place])
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (key, theirs) in &other.tables {
            match self.tables.get_mut(key) {
                Some(mine) => mine.add(theirs),
                None => drop(self.tables.insert(key.clone(), *theirs)),
            }
        }
        self.curves.iter_mut().zip(&other.curves).for_each(|(mine, theirs)| mine.add(theirs));
    }
}

/// The counts of all caches at the last sample.
#[derive(Debug, Default)]
pub(crate) struct CachesBefore(HashMap<(CacheName, Box<str>), CacheSeen>);

impl CachesBefore {
    /// Samples all caches once. The counts of a cache begin at 0.
    pub(crate) fn sample(&mut self, bounds: &[Arc<Bound>], into: &mut CachesSeen) {
        for bound in bounds {
            let Some(name) = CacheName::ALL.iter().copied().find(|name| name.bound() == bound.name()) else { continue };
            let (key, cache) = ((name, Box::from(bound.which())), bound.cache());
            let now = CacheSeen {
                hits: cache.hits(),
                absent: cache.misses(Miss::Absent),
                refused: cache.misses(Miss::Refused),
                stale: cache.misses(Miss::Stale),
                inserts: cache.inserts(),
                evictions: cache.evictions(),
                entries: cache.entries(),
                used: bound.used(),
                capacity: bound.capacity(),
            };
            let before = self.0.insert(key.clone(), now).unwrap_or_default();
            let new = CacheSeen {
                hits: now.hits.saturating_sub(before.hits),
                absent: now.absent.saturating_sub(before.absent),
                refused: now.refused.saturating_sub(before.refused),
                stale: now.stale.saturating_sub(before.stale),
                inserts: now.inserts.saturating_sub(before.inserts),
                evictions: now.evictions.saturating_sub(before.evictions),
                ..now
            };
            into.tables.entry(key).or_default().add(&new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::BoundName;

    #[test]
    fn a_sample_has_what_was_counted_since_the_one_before_and_the_present_state() {
        let bound = Bound::new(BoundName::Pages, "found", 100);
        let (mut before, mut seen) = (CachesBefore::default(), CachesSeen::default());
        let bounds = std::slice::from_ref(&bound);
        bound.cache().miss(Miss::Absent);
        for _ in 0..2 {
            bound.cache().miss(Miss::Stale);
            bound.cache().insert();
            bound.observe(40);
            bound.cache().observe(4);
            before.sample(bounds, &mut seen);
        }
        let pages = seen.of(CacheName::Pages);
        assert_eq!((pages.absent, pages.stale, pages.inserts), (1, 2, 2));
        assert_eq!((pages.used, pages.capacity, pages.entries), (40, 100, 4));
        assert_eq!(pages, seen.table(CacheName::Pages, "found"));
    }
}
