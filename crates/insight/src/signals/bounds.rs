//! Figures of bounds: how full they were second by second, and how long callers waited.

use crate::hash::FastMap;
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
    /// The samples in which more than 80 % of it were used.
    pub(crate) near: u64,
    /// The sum of what was used and of callers that waited, over all samples.
    pub(crate) demand: u64,
    /// The same sums, one of each sample in which it was full and callers waited.
    pub(crate) demands: Histogram,
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
        self.near += other.near;
        self.demand += other.demand;
        if other.demands.count() > 0 {
            self.demands.merge(&other.demands);
        }
        self.demand_max = self.demand_max.max(other.demand_max);
        self.used_max = self.used_max.max(other.used_max);
        self.rejected += other.rejected;
        if other.waits.count() > 0 {
            self.waits.merge(&other.waits);
        }
    }
}

/// The bounds, by name and what distinguishes bounds of that name.
#[derive(Debug, Clone, Default)]
pub(crate) struct BoundsSeen(pub(crate) FastMap<(BoundName, Box<str>), BoundSeen>);

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

/// The counts of the bounds at the last sample, from which the next ones are told apart. There may be hundreds of bounds, so a sample of
/// all neither looks up names nor allocates.
#[derive(Debug, Default)]
pub(crate) struct BoundsBefore(Vec<Before>);

/// A bound, its counts at the last sample, and its figures since they were read last.
#[derive(Debug)]
struct Before {
    bound: Arc<Bound>,
    rejected: u64,
    waits: Histogram,
    seen: BoundSeen,
}

impl Before {
    fn new(bound: &Arc<Bound>) -> Self {
        let seen = BoundSeen::default();
        Self { bound: bound.clone(), rejected: bound.rejected(), waits: bound.waits(), seen }
    }

    fn sample(&mut self, whole: bool) {
        let Self { bound, seen, .. } = self;
        let (capacity, used, waiters) = (bound.capacity(), bound.used(), bound.waiters());
        (seen.setting, seen.capacity) = (bound.setting(), capacity);
        seen.samples += 1;
        seen.full += u64::from(used >= capacity && capacity > 0);
        seen.near += u64::from(u128::from(used) * 5 > u128::from(capacity) * 4);
        if waiters > 0 && used >= capacity {
            seen.demands.record(used + waiters);
        }
        seen.demand += used + waiters;
        seen.demand_max = seen.demand_max.max(used + waiters);
        seen.used_max = seen.used_max.max(used);
        if whole {
            let rejected = bound.rejected();
            seen.rejected += rejected.saturating_sub(std::mem::replace(&mut self.rejected, rejected));
            let waits = bound.waits();
            if waits.count() != self.waits.count() {
                seen.waits.merge(&difference(&waits, &self.waits));
                self.waits = waits;
            }
        }
    }
}

impl BoundsBefore {
    /// Samples all bounds once. `whole`: also reads what costs more, and passes all figures on.
    pub(crate) fn sample(&mut self, bounds: &[Arc<Bound>], whole: bool, into: &mut BoundsSeen) {
        for (place, bound) in bounds.iter().enumerate() {
            match self.0.get(place) {
                Some(before) if Arc::ptr_eq(&before.bound, bound) => {}
                Some(_) => match self.0.iter().position(|before| Arc::ptr_eq(&before.bound, bound)) {
                    Some(other) => self.0.swap(place, other),
                    None => self.0.insert(place, Before::new(bound)),
                },
                None => self.0.push(Before::new(bound)),
            }
        }
        // Some are not registered any more. Their figures since the last look go with them.
        self.0.truncate(bounds.len());
        for before in &mut self.0 {
            before.sample(whole);
            if whole {
                let seen = std::mem::take(&mut before.seen);
                let key = (before.bound.name(), Box::from(before.bound.which()));
                into.0.entry(key).or_default().add(&seen);
            }
        }
    }
}

/// The values that `now` has and `before` had not.
pub(crate) fn difference(now: &Histogram, before: &Histogram) -> Histogram {
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
    fn bounds_that_come_and_go_keep_the_figures_of_the_others() {
        let bound = |which| Bound::new(BoundName::UpstreamCalls, which, 2);
        let (one, two, three) = (bound("1"), bound("2"), bound("3"));
        let (mut before, mut seen) = (BoundsBefore::default(), BoundsSeen::default());
        before.sample(&[one.clone(), two.clone()], false, &mut seen);
        assert!(seen.0.is_empty(), "only a whole sample passes figures on");
        let _slot = two.enter().unwrap();
        two.waited(7);
        before.sample(&[three.clone(), two.clone()], false, &mut seen);
        before.sample(&[two, three], true, &mut seen);
        let figures = |which| seen.of(BoundName::UpstreamCalls, which).map(|seen| (seen.samples, seen.used_max));
        assert_eq!([figures("1"), figures("2"), figures("3")], [None, Some((3, 1)), Some((2, 0))]);
        assert_eq!(seen.of(BoundName::UpstreamCalls, "2").unwrap().waits.sum(), 7);
    }

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
