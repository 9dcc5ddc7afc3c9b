//! A reuse curve: how many lookups a cache of any size would answer, and what the lookups took that it did not answer.

use super::miniature::Use;
use super::shards::Reuse;
use crate::signals::worst::Worst;
use telemetry::EventId;

/// The lookups of a cache, by the size that would have answered them. Curves of adjacent stretches add up.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Curve {
    /// In ascending order of their sizes.
    buckets: Vec<Bucket>,
    /// All lookups, sampled or not.
    lookups: f64,
    /// The lookups that the sampled ones stand for.
    sampled: f64,
    /// Lookups that the cache answered, and the nanoseconds until their first byte.
    answered: f64,
    answered_nanos: f64,
    /// All that it did not answer.
    missed: Missed,
    /// Those of them that found an entry which was no longer valid, where requests tell. They miss at every size.
    stale: Missed,
}

/// Lookups that a size answers and the next smaller one does not.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bucket {
    /// The smaller size.
    low: u64,
    /// The size.
    high: u64,
    /// May be below 0: a larger cache may have evicted what a smaller one has.
    lookups: f64,
    missed: Missed,
}

/// Lookups that the cache did not answer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Missed {
    /// Their number.
    pub(crate) lookups: f64,
    /// The nanoseconds until their first byte.
    pub(crate) nanos: f64,
    /// The slowest.
    pub(crate) worst: Worst,
}

impl Missed {
    fn see(&mut self, lookups: f64, nanos: u64) {
        self.lookups += lookups;
        self.nanos += lookups * nanos as f64;
    }

    /// Adds others.
    pub(crate) fn add(&mut self, other: &Self) {
        self.lookups += other.lookups;
        self.nanos += other.nanos;
        self.worst.add(&other.worst);
    }

    /// The nanoseconds until the first byte, on average; 0: there is none.
    pub(crate) fn mean(&self) -> f64 {
        if self.lookups > 0.0 { self.nanos / self.lookups } else { 0.0 }
    }
}

/// The smallest size that has all distances near this one, and the largest that has none of them: four for each power of two.
fn limits(distance: u64) -> (u64, u64) {
    let power = distance.max(1).ilog2();
    let quarter = (u128::from(distance.max(1)) << 2 >> power) & 3;
    let upper = |power: u32, quarter: u128| u64::try_from(((5 + quarter) << power).div_ceil(4) - 1).unwrap_or(u64::MAX);
    let low = match (power, quarter) {
        (0, 0) => 0,
        (_, 0) => upper(power - 1, 3),
        (_, quarter) => upper(power, quarter - 1),
    };
    (low, upper(power, quarter))
}

impl Curve {
    /// Counts a lookup by its distance, whether its key is sampled or not. `nanos`: until the first byte. Returns whether the event is worth
    /// storing.
    pub(crate) fn see(&mut self, reuse: Option<Reuse>, missed: bool, nanos: u64, event: EventId) -> bool {
        self.look(missed, nanos);
        let Some(reuse) = reuse else { return false };
        self.sampled += reuse.uses;
        let Some(distance) = reuse.distance else { return false };
        let (low, high) = limits(distance);
        let at = self.place(low, high);
        let bucket = &mut self.buckets[at];
        bucket.lookups += reuse.uses;
        if !missed {
            return false;
        }
        bucket.missed.see(reuse.uses, nanos);
        bucket.missed.worst.see(nanos, event)
    }

    /// Counts a lookup by caches of several sizes, in ascending order: for each its size, and for how many misses this one stands. `None`: this
    /// size does not sample the key.
    pub(crate) fn simulated(&mut self, sizes: &[(u64, Option<f64>)], one: &Use, nanos: u64, event: EventId) -> bool {
        self.look(one.missed, nanos);
        if one.stale {
            self.stale.see(1.0, nanos);
            self.stale.worst.see(nanos, event);
        }
        self.sampled += 1.0;
        // No cache at all misses.
        let (mut before, mut low, mut shows) = (Some(1.0), 0, false);
        for (number, (size, misses)) in sizes.iter().enumerate() {
            let at = match self.buckets.get(number) {
                Some(bucket) if bucket.high == *size => number,
                _ => self.place(low, *size),
            };
            let bucket = &mut self.buckets[at];
            let answers = before.unwrap_or(0.0) - misses.unwrap_or(0.0);
            bucket.lookups += answers;
            if one.missed && !one.soon && answers != 0.0 {
                bucket.missed.see(answers, nanos);
                // Both sizes must have seen it: a size that does not sample the key answers nothing.
                let is_seen = before.is_some() && misses.is_some();
                shows |= is_seen && answers > 0.0 && *misses == Some(0.0) && bucket.missed.worst.see(nanos, event);
            }
            (before, low) = (*misses, *size);
        }
        shows
    }

    fn look(&mut self, missed: bool, nanos: u64) {
        self.lookups += 1.0;
        if missed {
            self.missed.see(1.0, nanos);
        } else {
            self.answered += 1.0;
            self.answered_nanos += nanos as f64;
        }
    }

    /// The place of the bucket of these sizes.
    fn place(&mut self, low: u64, high: u64) -> usize {
        self.buckets.binary_search_by_key(&high, |bucket| bucket.high).unwrap_or_else(|at| {
            self.buckets.insert(at, Bucket { low, high, ..Bucket::default() });
            at
        })
    }

    /// Adds the lookups of a later stretch.
    pub(crate) fn add(&mut self, other: &Self) {
        for theirs in &other.buckets {
            let at = self.place(theirs.low, theirs.high);
            self.buckets[at].lookups += theirs.lookups;
            self.buckets[at].missed.add(&theirs.missed);
        }
        self.lookups += other.lookups;
        self.sampled += other.sampled;
        self.answered += other.answered;
        self.answered_nanos += other.answered_nanos;
        self.missed.add(&other.missed);
        self.stale.add(&other.stale);
    }

    /// All lookups.
    pub(crate) fn lookups(&self) -> f64 {
        self.lookups
    }

    /// Lookups that the cache answered.
    pub(crate) fn answered(&self) -> f64 {
        self.answered
    }

    /// Lookups of what was looked up before.
    pub(crate) fn again(&self) -> f64 {
        self.buckets.iter().map(|bucket| bucket.lookups).sum()
    }

    /// The share of lookups that a cache of this size would answer, 0 to 1.
    pub(crate) fn share(&self, size: u64) -> f64 {
        if self.lookups == 0.0 || self.buckets.is_empty() {
            return 0.0;
        }
        let found: f64 = self.buckets.iter().map(|bucket| bucket.lookups * bucket.part(size)).sum();
        // Popular keys are sampled or not. What the sample has too few or too many of are lookups of these, at short distances.
        ((found + self.lookups - self.sampled) / self.lookups).clamp(0.0, 1.0)
    }

    /// The missed lookups that a cache of size `to` would have answered, and one of size `from` would not.
    pub(crate) fn missed(&self, from: u64, to: u64) -> Missed {
        let mut missed = Missed::default();
        for bucket in &self.buckets {
            let part = bucket.part(to) - bucket.part(from);
            if part > 0.0 {
                let Missed { lookups, nanos, worst } = bucket.missed;
                missed.add(&Missed { lookups: part * lookups, nanos: part * nanos, worst });
            }
        }
        missed
    }

    /// All lookups that the cache did not answer.
    pub(crate) fn all_missed(&self) -> &Missed {
        &self.missed
    }

    /// The lookups that found an entry which was no longer valid, where requests tell.
    pub(crate) fn stale(&self) -> &Missed {
        &self.stale
    }

    /// The nanoseconds until the first byte of a lookup that the cache answers, on average; 0: there is none.
    pub(crate) fn answer_nanos(&self) -> f64 {
        if self.answered == 0.0 { 0.0 } else { self.answered_nanos / self.answered }
    }

    /// Sizes at which the curve may rise, in ascending order: at most a quarter of a power of two apart, above the smallest.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> + '_ {
        self.buckets.iter().flat_map(Bucket::steps)
    }

    /// The sizes that were simulated, in ascending order.
    pub(crate) fn simulated_sizes(&self) -> impl Iterator<Item = u64> + '_ {
        self.buckets.iter().map(|bucket| bucket.high)
    }
}

impl Bucket {
    /// The part of its lookups that a size has, 0 to 1, as if they were spread evenly over powers of two.
    fn part(&self, size: u64) -> f64 {
        if size >= self.high {
            return 1.0;
        }
        if size <= self.low {
            return 0.0;
        }
        if self.low == 0 {
            return size as f64 / self.high as f64;
        }
        let ratio = |one: u64, other: u64| (one as f64 / other as f64).ln();
        ratio(size, self.low) / ratio(self.high, self.low)
    }

    fn steps(&self) -> impl Iterator<Item = u64> + use<> {
        let (low, high) = (self.low as f64, self.high as f64);
        let count = if self.low == 0 { 1 } else { (4.0 * (high / low).log2()).round().max(1.0) as i32 };
        let (last, high_size) = (count, self.high);
        (1..=count).map(move |step| match step {
            step if step == last => high_size,
            step => (low * (high / low).powf(f64::from(step) / f64::from(count))) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distance_is_in_a_bucket_whose_limits_hold_it() {
        for distance in (1..5000).chain([1 << 40, (1 << 40) + 7, u64::MAX / 2]) {
            let (low, high) = limits(distance);
            assert!(low < distance && distance <= high, "{low} {distance} {high}");
            assert_eq!(limits(high), (low, high), "{distance}");
        }
    }

    #[test]
    fn a_size_answers_what_is_near_enough_and_misses_between_two_sizes_are_what_the_larger_one_would_answer() {
        let mut curve = Curve::default();
        let mut see = |distance, missed, nanos| {
            curve.see(Some(Reuse { distance, uses: 1.0 }), missed, nanos, EventId(nanos));
        };
        see(None, true, 900);
        see(Some(1000), false, 100);
        see(Some(50_000), true, 2_000_000);
        see(Some(60_000), true, 3_000_000);
        assert_eq!([500, 2000, 1 << 20].map(|size| curve.share(size)), [0.0, 0.25, 0.75]);
        let missed = curve.missed(2000, 1 << 20);
        assert_eq!((missed.lookups, missed.nanos, missed.worst.nanos), (2.0, 5_000_000.0, 3_000_000));
        assert_eq!((curve.all_missed().lookups, curve.all_missed().nanos), (3.0, 5_000_900.0));
        assert_eq!(
            (curve.missed(1 << 20, 1 << 30).lookups, curve.answer_nanos(), curve.share(u64::MAX)),
            (0.0, 100.0, 0.75)
        );
    }

    #[test]
    fn a_miss_of_every_size_that_samples_it_shows_nothing_that_a_larger_cache_would_save() {
        let mut curve = Curve::default();
        let one = Use { key: 1, weight: None, missed: true, stale: false, soon: false };
        let sizes = |misses: [Option<f64>; 2]| [(100, misses[0]), (200, misses[1])];
        for misses in [[None, Some(1.0)], [Some(1.0), None], [None, Some(0.0)], [None, None]] {
            assert!(!curve.simulated(&sizes(misses), &one, 9_000_000, EventId(1)), "{misses:?}");
        }
        assert_eq!(curve.missed(0, 1000).worst.nanos, 0);
        assert!(curve.simulated(&sizes([Some(1.0), Some(0.0)]), &one, 5_000_000, EventId(2)));
    }

    #[test]
    fn sizes_that_were_simulated_have_what_they_answered_and_sizes_between_them_a_part_of_it() {
        let mut curve = Curve::default();
        const HIT: Option<f64> = Some(0.0);
        const MISS: Option<f64> = Some(1.0);
        let see = |curve: &mut Curve, misses: [Option<f64>; 3], missed, stale, nanos| {
            let one = Use { key: 1, weight: None, missed, stale, soon: false };
            curve.simulated(&[(100, misses[0]), (200, misses[1]), (400, misses[2])], &one, nanos, EventId(nanos))
        };
        see(&mut curve, [MISS, MISS, MISS], true, false, 1_000);
        assert!(see(&mut curve, [MISS, MISS, HIT], true, false, 5_000_000));
        see(&mut curve, [MISS, HIT, HIT], false, false, 10);
        // The largest evicted what a smaller one has; the smallest does not sample this key.
        see(&mut curve, [None, HIT, Some(2.0)], false, false, 10);
        assert_eq!([100, 200, 400, 1000].map(|size| curve.share(size)), [0.25, 0.5, 0.25, 0.25]);
        assert_eq!((curve.missed(200, 400).lookups, curve.missed(200, 400).worst.nanos), (1.0, 5_000_000));
        assert!((curve.share(141) - 0.375).abs() < 0.002, "{}", curve.share(141));
        see(&mut curve, [MISS, MISS, MISS], true, true, 700);
        assert_eq!((curve.stale().lookups, curve.stale().nanos, curve.lookups()), (1.0, 700.0, 5.0));
        assert_eq!(curve.sizes().collect::<Vec<_>>(), [100, 118, 141, 168, 200, 237, 282, 336, 400]);
    }
}
