//! Figures of bounds: how full they were second by second, and how long callers waited.

use std::collections::HashMap;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Histogram};

/// The figures of one bound.
#[derive(Debug, Clone, Default)]
pub(crate) struct BoundSeen {
    /// The setting that governs its capacity.
    pub(crate) setting: Option<&'static str>,
    /// Its capacity at the last sample, in its unit.
    pub(crate) capacity: u64,
    /// The samples, one a second.
    pub(crate) samples: u64,
    /// The samples in which it was full.
    pub(crate) full: u64,
    /// The sum of what was used and of callers that waited, over all samples.
    pub(crate) demand: u64,
    /// The largest sum of what was used and of callers that waited, of any sample.
    pub(crate) demand_max: u64,
    /// The largest use of any sample.
    pub(crate) used_max: u64,
    /// Rejections.
    pub(crate) rejected: u64,
    /// The waits of callers, in nanoseconds.
    pub(crate) waits: Histogram,
}

impl BoundSeen {
    /// The share of samples in which it was full, 0 to 1.
    pub(crate) fn full_share(&self) -> f64 {
        if self.samples == 0 { 0.0 } else { self.full as f64 / self.samples as f64 }
    }

    fn add(&mut self, other: &Self) {
        (self.setting, self.capacity) = (other.setting.or(self.setting), other.capacity);
        self.samples += other.samples;
        self.full += other.full;
        self.demand += other.demand;
        self.demand_max = self.demand_max.max(other.demand_max);
        self.used_max = self.used_max.max(other.used_max);
        self.rejected += other.rejected;
        self.waits.merge(&other.waits);
    }
}

/// The bounds, by name and what distinguishes bounds of that name.
#[derive(Debug, Clone, Default)]
pub(crate) struct BoundsSeen(pub(crate) HashMap<(BoundName, Box<str>), BoundSeen>);

impl BoundsSeen {
    /// The figures of a bound.
    pub(crate) fn of(&self, name: BoundName, which: &str) -> Option<&BoundSeen> {
        self.0.get(&(name, which.into()))
    }

    /// All bounds of a name, with what distinguishes them.
    pub(crate) fn named(&self, name: BoundName) -> impl Iterator<Item = (&str, &BoundSeen)> {
        self.0.iter().filter(move |((of, _), _)| *of == name).map(|((_, which), seen)| (&**which, seen))
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (key, theirs) in &other.0 {
            match self.0.get_mut(key) {
                Some(mine) => mine.add(theirs),
                None => drop(self.0.insert(key.clone(), theirs.clone())),
            }
        }
    }
}

/// The counts of a bound at the last sample, from which the next ones are told apart.
#[derive(Debug, Default)]
pub(crate) struct BoundsBefore(HashMap<(BoundName, Box<str>), Before>);

#[derive(Debug, Default)]
struct Before {
    rejected: u64,
    waits: Histogram,
}

impl BoundsBefore {
    /// Samples all bounds once. `waits`: also reads the histograms of waits, which costs more.
    pub(crate) fn sample(&mut self, bounds: &[Arc<Bound>], waits: bool, into: &mut BoundsSeen) {
        for bound in bounds {
            let key = (bound.name(), Box::from(bound.which()));
            let (capacity, used, waiters) = (bound.capacity(), bound.used(), bound.waiters());
            let first = !self.0.contains_key(&key);
            let before = self.0.entry(key.clone()).or_default();
            let seen = into.0.entry(key).or_default();
            (seen.setting, seen.capacity) = (bound.setting(), capacity);
            seen.samples += 1;
            seen.full += u64::from(used >= capacity && capacity > 0);
            seen.demand += used + waiters;
            seen.demand_max = seen.demand_max.max(used + waiters);
            seen.used_max = seen.used_max.max(used);
            let rejected = bound.rejected();
            if !first {
                seen.rejected += rejected.saturating_sub(before.rejected);
            }
            before.rejected = rejected;
            if waits || first {
                let now = bound.waits();
                if !first {
                    seen.waits.merge(&difference(&now, &before.waits));
                }
                before.waits = now;
            }
        }
    }
}

/// The values that `now` has and `before` had not.
fn difference(now: &Histogram, before: &Histogram) -> Histogram {
    let mut difference = Histogram::default();
    if now.count() == before.count() {
        return difference;
    }
    let mut earlier = before.buckets().peekable();
    for bucket in now.buckets() {
        while earlier.peek().is_some_and(|other| other.upper < bucket.upper) {
            earlier.next();
        }
        let had = earlier.peek().filter(|other| other.upper == bucket.upper).map_or(0, |other| other.count);
        if bucket.count > had {
            difference.record_at(Histogram::place_of(bucket.upper), bucket.count - had);
        }
    }
    difference.add_sum(now.sum().saturating_sub(before.sum()));
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_count_how_often_a_bound_was_full_and_only_what_is_new() {
        let bound = Bound::new(BoundName::TruthReaders, "", 1);
        let (mut before, mut seen) = (BoundsBefore::default(), BoundsSeen::default());
        bound.waited(5);
        bound.reject();
        before.sample(std::slice::from_ref(&bound), true, &mut seen);
        bound.waited(1000);
        bound.reject();
        let slot = bound.enter().unwrap();
        before.sample(std::slice::from_ref(&bound), true, &mut seen);
        drop(slot);
        let seen = seen.of(BoundName::TruthReaders, "").unwrap();
        assert_eq!((seen.samples, seen.full, seen.demand_max, seen.rejected), (2, 1, 1, 1));
        assert_eq!((seen.waits.count(), seen.waits.sum(), seen.full_share()), (1, 1000, 0.5));
    }
}
