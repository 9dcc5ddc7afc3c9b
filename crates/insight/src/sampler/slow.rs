//! How long requests of each cost class take until their first byte, and from which time on one is slow.

use telemetry::Class;

/// Buckets for each power of two: a bucket is 12.5 % wide.
const EACH: usize = 8;
const BUCKETS: usize = 64 * EACH;
/// The cost classes, and one place for requests without a class.
const CLASSES: usize = Class::COUNT + 1;

/// Counts of times to the first byte, by cost class. The counts of the past fade within an hour.
pub(super) struct SlowTimes {
    classes: Box<[Times; CLASSES]>,
    /// Seconds since the limits were computed.
    age: f64,
}

#[derive(Clone)]
struct Times {
    /// A request that took longer than this is slow, in nanoseconds.
    limit: u64,
    /// Requests since the limit was computed.
    new: [u32; BUCKETS],
    /// Requests before.
    faded: [f32; BUCKETS],
}

impl Default for SlowTimes {
    fn default() -> Self {
        let times = Times { limit: Self::LONGEST, new: [0; BUCKETS], faded: [0.0; BUCKETS] };
        let classes = vec![times; CLASSES].into_boxed_slice();
        let Ok(classes) = classes.try_into() else { unreachable!("as many as there are classes") };
        Self { classes, age: 0.0 }
    }
}

impl SlowTimes {
    /// Nothing faster is slow, in nanoseconds: a person does not notice 10 ms.
    pub(super) const SHORTEST: u64 = 10_000_000;
    /// Everything that takes longer is slow, in nanoseconds, also in a class in which that is usual.
    pub(super) const LONGEST: u64 = 1_000_000_000;
    /// The share of the requests of a class that are not slow.
    const QUANTILE: f32 = 0.99;
    /// A class with fewer requests has no quantile.
    const ENOUGH: f32 = 100.0;
    /// Seconds in which a count fades to 37 %.
    const FADES: f64 = 3600.0;
    /// Seconds after which the limits are computed again.
    const VALID: f64 = 15.0;

    /// Counts a request. Returns whether it was slow, in comparison with those before.
    pub(super) fn note(&mut self, class: usize, nanos: u64) -> bool {
        let times = &mut self.classes[class];
        let count = &mut times.new[bucket(nanos)];
        *count = count.saturating_add(1);
        nanos > times.limit
    }

    /// Tells how many seconds passed.
    pub(super) fn passed(&mut self, seconds: f64) {
        self.age += seconds;
        if self.age < Self::VALID {
            return;
        }
        let stays = (-self.age / Self::FADES).exp() as f32;
        self.classes.iter_mut().for_each(|times| times.fade(stays));
        self.age = 0.0;
    }
}

impl Times {
    fn fade(&mut self, stays: f32) {
        let mut all = 0.0;
        for (faded, new) in self.faded.iter_mut().zip(&mut self.new) {
            *faded = *faded * stays + std::mem::take(new) as f32;
            all += *faded;
        }
        let (mut passed, rank) = (0.0, all * SlowTimes::QUANTILE);
        let place = self.faded.iter().position(|count| {
            passed += count;
            passed >= rank
        });
        let quantile = place.filter(|_| all >= SlowTimes::ENOUGH).map_or(SlowTimes::LONGEST, highest);
        self.limit = quantile.clamp(SlowTimes::SHORTEST, SlowTimes::LONGEST);
    }
}

/// The place at which a time is counted.
fn bucket(nanos: u64) -> usize {
    let zeros = (nanos | 1).leading_zeros();
    // The three bits below the highest one.
    let below = ((nanos << zeros) >> 60) as usize & (EACH - 1);
    (63 - zeros as usize) * EACH + below
}

/// The longest time that is counted at a place.
fn highest(place: usize) -> u64 {
    let (octave, below) = (place / EACH, (place % EACH) as u64);
    let edge = u128::from(EACH as u64 + below + 1) << octave >> 3;
    u64::try_from(edge.saturating_sub(1)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CLASS: usize = Class::Downloads as usize;
    const MS: u64 = 1_000_000;

    #[test]
    fn a_request_is_slow_if_it_took_longer_than_most_of_its_class_did() {
        let mut slow = SlowTimes::default();
        assert!(!slow.note(CLASS, 900 * MS), "nothing is known of the class");
        assert!(slow.note(CLASS, 1_001 * MS), "more than a second is slow in any class");
        for number in 0..10_000 {
            slow.note(CLASS, if number % 200 == 0 { 300 * MS } else { 40 * MS });
            slow.note(Class::COUNT, MS / 5);
        }
        slow.passed(20.0);
        assert_eq!([40, 50, 300].map(|ms| slow.note(CLASS, ms * MS)), [false, true, true]);
        assert_eq!([9, 11].map(|ms| slow.note(Class::COUNT, ms * MS)), [false, true], "10 ms is never slow");
    }

    #[test]
    fn a_class_that_becomes_slower_has_another_limit_after_an_hour_or_two() {
        let mut slow = SlowTimes::default();
        for ms in [20, 200] {
            for _ in 0..500 {
                (0..100).for_each(|_| _ = slow.note(CLASS, ms * MS));
                slow.passed(15.0);
            }
            assert_eq!([ms, ms + ms / 4].map(|ms| slow.note(CLASS, ms * MS)), [false, true], "{ms}");
        }
    }

    proptest! {
        #[test]
        fn a_time_is_at_most_the_highest_of_its_bucket_and_more_than_that_of_the_one_before(nanos in 1u64..1 << 63) {
            let place = bucket(nanos);
            prop_assert!(nanos <= highest(place) && highest(place) <= nanos.saturating_add(nanos / 8).max(nanos));
            prop_assert!(nanos < 8 || highest(place - 1) < nanos);
        }
    }
}
