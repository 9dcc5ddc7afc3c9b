//! Figures of pools of threads: how many of them were busy second by second, and how many were wanted.

use std::collections::HashMap;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Histogram, PoolName, PoolThreads, Recorder};

/// The figures of one pool.
#[derive(Debug, Clone, Default)]
pub(crate) struct PoolSeen {
    /// Its threads.
    pub(crate) threads: u64,
    /// The samples, one a second.
    pub(crate) samples: u64,
    /// The samples in which all threads worked.
    pub(crate) full: u64,
    /// What was wanted at once in each of these samples: work in progress, and work that waited.
    pub(crate) demands: Histogram,
    /// How long the threads worked, in nanoseconds.
    pub(crate) nanos: u64,
}

impl PoolSeen {
    /// The share of the samples in which all threads worked, 0 to 1.
    pub(crate) fn full_share(&self) -> f64 {
        if self.samples == 0 { 0.0 } else { self.full as f64 / self.samples as f64 }
    }

    fn add(&mut self, other: &Self) {
        if other.samples == 0 {
            return;
        }
        self.threads = other.threads;
        self.samples += other.samples;
        self.full += other.full;
        self.demands.merge(&other.demands);
        self.nanos += other.nanos;
    }
}

/// The pools.
#[derive(Debug, Clone, Default)]
pub(crate) struct PoolsSeen(pub(crate) HashMap<PoolName, PoolSeen>);

impl PoolsSeen {
    /// The figures of a pool.
    pub(crate) fn of(&self, name: PoolName) -> Option<&PoolSeen> {
        self.0.get(&name)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(name, theirs)| self.0.entry(*name).or_default().add(theirs));
    }
}

/// The time that the pools had worked at the last sample.
#[derive(Debug, Default)]
pub(crate) struct PoolsBefore(HashMap<PoolName, u64>);

impl PoolsBefore {
    /// Takes a sample.
    pub(crate) fn sample(&mut self, recorder: &Recorder, bounds: &[Arc<Bound>], into: &mut PoolsSeen) {
        for pool in recorder.pools() {
            self.see(&pool, bounds, into);
        }
    }

    fn see(&mut self, pool: &PoolThreads, bounds: &[Arc<Bound>], into: &mut PoolsSeen) {
        let work = pool.read();
        let before = self.0.insert(pool.name(), work.nanos);
        let seen = into.0.entry(pool.name()).or_default();
        seen.threads = pool.threads();
        seen.samples += 1;
        seen.nanos += work.nanos.saturating_sub(before.unwrap_or(work.nanos));
        if work.busy < pool.threads() {
            return;
        }
        seen.full += 1;
        // What waits and what runs is in the bound of the same name, in one for each lane.
        let own = BoundName::ALL.iter().find(|name| name.as_str() == pool.name().as_str());
        let used = bounds.iter().filter(|bound| Some(&bound.name()) == own).map(|bound| bound.used()).sum::<u64>();
        let wanted = used.max(work.busy);
        seen.demands.record(wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::Clock;

    #[test]
    fn a_pool_whose_threads_all_work_is_full_and_its_bound_tells_what_is_wanted() {
        let recorder = Recorder::silent(Clock::default());
        let pool = recorder.pool(PoolName::BlobThreads, 1);
        let bound = Bound::new(BoundName::BlobThreads, "read", 10);
        let (mut before, mut seen) = (PoolsBefore::default(), PoolsSeen::default());
        before.sample(&recorder, std::slice::from_ref(&bound), &mut seen);
        let (_working, _slots) = (pool.work(), [bound.enter(), bound.enter(), bound.enter()]);
        before.sample(&recorder, std::slice::from_ref(&bound), &mut seen);
        let mut twice = PoolsSeen::default();
        twice.add(&seen);
        twice.add(&seen);
        let figures = twice.of(PoolName::BlobThreads).unwrap();
        assert_eq!((figures.samples, figures.full, figures.demands.sum(), figures.full_share()), (4, 2, 6, 0.5));
    }
}
