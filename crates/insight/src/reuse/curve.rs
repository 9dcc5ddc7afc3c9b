//! A reuse curve: how many lookups a cache of any size would answer, and what the lookups took that it did not answer.

use super::shards::Reuse;
use crate::signals::worst::Worst;
use std::collections::BTreeMap;
use telemetry::EventId;

/// The lookups of a cache, by the size that would have answered them. Curves of adjacent stretches add up.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Curve {
    /// Lookups of sampled keys that were used before, by their distance.
    buckets: BTreeMap<u8, Bucket>,
    /// All lookups, sampled or not.
    lookups: f64,
    /// The lookups that the sampled ones stand for.
    sampled: f64,
    /// Those of them that were the first ones of their keys: no size answers these.
    first: f64,
    /// Sampled lookups that the cache answered, and the nanoseconds until their first byte.
    answered: f64,
    answered_nanos: f64,
    /// The mean weight of the sampled keys at the end.
    mean_weight: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bucket {
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
    fn add(&mut self, other: &Self) {
        self.lookups += other.lookups;
        self.nanos += other.nanos;
        self.worst.add(&other.worst);
    }
}

/// Four buckets for each power of two.
fn place(distance: u64) -> u8 {
    let power = distance.max(1).ilog2();
    let quarter = (u128::from(distance.max(1)) << 2 >> power) & 3;
    (power * 4 + quarter as u32) as u8
}

/// The smallest size that has all distances of a bucket.
fn upper(place: u8) -> u64 {
    let (power, quarter) = (u32::from(place / 4), u128::from(place % 4));
    u64::try_from(((5 + quarter) << power).div_ceil(4) - 1).unwrap_or(u64::MAX)
}

impl Curve {
    /// Counts a lookup, whether its key is sampled or not.
    pub(crate) fn look(&mut self) {
        self.lookups += 1.0;
    }

    /// Counts a lookup of a sampled key. `nanos`: until the first byte. Returns whether the event is worth storing.
    pub(crate) fn see(&mut self, reuse: Reuse, missed: bool, nanos: u64, event: EventId) -> bool {
        self.sampled += reuse.uses;
        if !missed {
            self.answered += reuse.uses;
            self.answered_nanos += reuse.uses * nanos as f64;
        }
        let Some(distance) = reuse.distance else {
            self.first += reuse.uses;
            return false;
        };
        let bucket = self.buckets.entry(place(distance)).or_default();
        bucket.lookups += reuse.uses;
        if !missed {
            return false;
        }
        bucket.missed.lookups += reuse.uses;
        bucket.missed.nanos += reuse.uses * nanos as f64;
        bucket.missed.worst.see(nanos, event)
    }

    /// Sets the mean weight of the sampled keys.
    pub(crate) fn weigh(&mut self, mean_weight: f64) {
        self.mean_weight = mean_weight;
    }

    /// Adds the lookups of a later stretch.
    pub(crate) fn add(&mut self, other: &Self) {
        for (place, theirs) in &other.buckets {
            let mine = self.buckets.entry(*place).or_default();
            mine.lookups += theirs.lookups;
            mine.missed.add(&theirs.missed);
        }
        self.lookups += other.lookups;
        self.sampled += other.sampled;
        self.first += other.first;
        self.answered += other.answered;
        self.answered_nanos += other.answered_nanos;
        if other.mean_weight > 0.0 {
            self.mean_weight = other.mean_weight;
        }
    }

    /// All lookups.
    pub(crate) fn lookups(&self) -> f64 {
        self.lookups
    }

    /// Lookups that the cache answered.
    pub(crate) fn answered(&self) -> f64 {
        self.answered
    }

    /// The mean weight of the sampled keys; 0: there are none.
    pub(crate) fn mean_weight(&self) -> f64 {
        self.mean_weight
    }

    /// The share of lookups that a cache of this size would answer, 0 to 1.
    pub(crate) fn share(&self, size: u64) -> f64 {
        if self.lookups == 0.0 {
            return 0.0;
        }
        let found: f64 = self.buckets.iter().map(|(place, bucket)| bucket.lookups * part(*place, size)).sum();
        // Popular keys are sampled or not. What the sample has too few or too many of are lookups of these, at short distances.
        ((found + self.lookups - self.sampled) / self.lookups).clamp(0.0, 1.0)
    }

    /// The missed lookups that a cache of size `to` would have answered, and one of size `from` would not.
    pub(crate) fn missed(&self, from: u64, to: u64) -> Missed {
        let mut missed = Missed::default();
        for (place, bucket) in &self.buckets {
            let part = part(*place, to) - part(*place, from);
            if part > 0.0 {
                let Missed { lookups, nanos, worst } = bucket.missed;
                missed.add(&Missed { lookups: part * lookups, nanos: part * nanos, worst });
            }
        }
        missed
    }

    /// The nanoseconds until the first byte of a lookup that the cache answers, on average; 0: there is none.
    pub(crate) fn answer_nanos(&self) -> f64 {
        if self.answered == 0.0 { 0.0 } else { self.answered_nanos / self.answered }
    }

    /// The sizes at which the curve rises, in ascending order.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> + '_ {
        self.buckets.keys().map(|place| upper(*place))
    }
}

/// The part of a bucket's distances that a size has, as if they were spread evenly, 0 to 1.
fn part(place: u8, size: u64) -> f64 {
    let high = upper(place);
    if size >= high {
        return 1.0;
    }
    let low = if place == 0 { 0 } else { upper(place - 1) };
    size.saturating_sub(low) as f64 / (high - low).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distance_is_in_a_bucket_whose_limits_hold_it() {
        for distance in (1..5000).chain([1 << 40, (1 << 40) + 7, u64::MAX / 2]) {
            let at = place(distance);
            assert!(upper(at) >= distance, "{distance}");
            assert!(at == 0 || upper(at - 1) < distance || upper(at - 1) == upper(at), "{distance}");
        }
    }

    #[test]
    fn a_size_answers_what_is_near_enough_and_misses_between_two_sizes_are_what_the_larger_one_would_answer() {
        let mut curve = Curve::default();
        let mut see = |distance, missed, nanos| {
            curve.look();
            curve.see(Reuse { distance, uses: 1.0 }, missed, nanos, EventId(nanos));
        };
        see(None, true, 900);
        see(Some(1000), false, 100);
        see(Some(50_000), true, 2_000_000);
        see(Some(60_000), true, 3_000_000);
        assert_eq!([500, 2000, 1 << 20].map(|size| curve.share(size)), [0.0, 0.25, 0.75]);
        let missed = curve.missed(2000, 1 << 20);
        assert_eq!((missed.lookups, missed.nanos, missed.worst.nanos), (2.0, 5_000_000.0, 3_000_000));
        assert_eq!(
            (curve.missed(1 << 20, 1 << 30).lookups, curve.answer_nanos(), curve.share(u64::MAX)),
            (0.0, 100.0, 0.75)
        );
    }
}
