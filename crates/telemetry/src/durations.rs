//! Durations, counted twice: in exponential buckets, and up to the round limits that metrics show.

use crate::Histogram;

/// The limits that metrics show, in nanoseconds. They include the limits of OpenTelemetry for durations of HTTP requests.
pub(crate) const LIMITS: [u64; 24] = [
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    75_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    750_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    7_500_000_000,
    10_000_000_000,
    30_000_000_000,
    60_000_000_000,
];

/// Counts of durations in nanoseconds. The exponential buckets end at powers of two, so they give no counts up to a round limit.
/// Such counts are kept in addition.
#[derive(Debug, Clone, Default)]
pub(crate) struct Durations {
    histogram: Histogram,
    /// The number of durations up to the limit of the same index and above the previous limit.
    between: [u64; LIMITS.len()],
}

impl Durations {
    /// Counts one duration.
    pub(crate) fn record(&mut self, nanos: u64) {
        self.record_sum(nanos, 1);
    }

    /// Counts several durations of which only the sum is known, each as their mean.
    pub(crate) fn record_sum(&mut self, nanos: u64, count: u64) {
        self.histogram.record_sum(nanos, count);
        let mean = if count == 1 { nanos } else { nanos.checked_div(count).unwrap_or_default() };
        if let Some(between) = self.between.get_mut(LIMITS.partition_point(|limit| *limit < mean)) {
            *between += count;
        }
    }

    /// Adds the counts of others.
    pub(crate) fn merge(&mut self, other: &Durations) {
        self.histogram.merge(&other.histogram);
        self.between.iter_mut().zip(&other.between).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// The exponential buckets.
    pub(crate) fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// Each limit, and the number of durations that are at most as long.
    pub(crate) fn up_to(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        LIMITS.iter().zip(&self.between).scan(0, |sum, (limit, between)| {
            *sum += between;
            Some((*limit, *sum))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_of_exactly_a_limit_counts_up_to_that_limit_and_a_longer_one_does_not() {
        let mut durations = Durations::default();
        durations.record(1_000_000);
        durations.record(1_000_001);
        durations.record_sum(3_000_000_003, 3);
        durations.record(u64::MAX);
        let up_to = |wanted: u64| durations.up_to().find(|(limit, _)| *limit == wanted).unwrap().1;
        assert_eq!([500_000, 1_000_000, 2_500_000].map(up_to), [0, 1, 2]);
        assert_eq!([1_000_000_000, 2_500_000_000, 60_000_000_000].map(up_to), [2, 5, 5]);
        assert_eq!(durations.histogram().count(), 6);
    }

    #[test]
    fn counts_of_two_are_added() {
        let (mut one, mut other) = (Durations::default(), Durations::default());
        one.record(20_000);
        other.record(20_000);
        other.record(7);
        one.merge(&other);
        assert_eq!(one.up_to().take(3).collect::<Vec<_>>(), [(10_000, 1), (25_000, 3), (50_000, 3)]);
    }
}
