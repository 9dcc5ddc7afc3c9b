//! Durations, counted twice: in exponential buckets, and up to the round limits that metrics show.

use crate::Histogram;

/// The limits that metrics show, in nanoseconds, and in seconds as text. They include the limits of OpenTelemetry for durations of HTTP requests.
pub(crate) const LIMITS: [(u64, &str); 24] = [
    (10_000, "0.00001"),
    (25_000, "0.000025"),
    (50_000, "0.00005"),
    (100_000, "0.0001"),
    (250_000, "0.00025"),
    (500_000, "0.0005"),
    (1_000_000, "0.001"),
    (2_500_000, "0.0025"),
    (5_000_000, "0.005"),
    (10_000_000, "0.01"),
    (25_000_000, "0.025"),
    (50_000_000, "0.05"),
    (75_000_000, "0.075"),
    (100_000_000, "0.1"),
    (250_000_000, "0.25"),
    (500_000_000, "0.5"),
    (750_000_000, "0.75"),
    (1_000_000_000, "1"),
    (2_500_000_000, "2.5"),
    (5_000_000_000, "5"),
    (7_500_000_000, "7.5"),
    (10_000_000_000, "10"),
    (30_000_000_000, "30"),
    (60_000_000_000, "60"),
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
    /// Counts one duration. Returns the index of the first limit that it does not exceed; the number of limits if it exceeds all.
    pub(crate) fn record(&mut self, nanos: u64) -> usize {
        self.record_sum(nanos, 1)
    }

    /// Counts several durations of which only the sum is known, each as their mean.
    pub(crate) fn record_sum(&mut self, nanos: u64, count: u64) -> usize {
        self.histogram.record_sum(nanos, count);
        let mean = if count == 1 { nanos } else { nanos.checked_div(count).unwrap_or_default() };
        let limit = LIMITS.partition_point(|(limit, _)| *limit < mean);
        if let Some(between) = self.between.get_mut(limit) {
            *between += count;
        }
        limit
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
        up_to(&self.between)
    }
}

/// Durations that are counted up to the round limits alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct RoundDurations {
    pub(crate) count: u64,
    /// Their sum.
    pub(crate) nanos: u64,
    between: [u64; LIMITS.len()],
}

impl RoundDurations {
    /// Counts a duration that does not exceed the limit of this index, and exceeds the previous one.
    pub(crate) fn record(&mut self, nanos: u64, limit: usize) {
        self.count += 1;
        self.nanos = self.nanos.saturating_add(nanos);
        if let Some(between) = self.between.get_mut(limit) {
            *between += 1;
        }
    }

    /// Adds the counts of others.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.nanos = self.nanos.saturating_add(other.nanos);
        self.between.iter_mut().zip(&other.between).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Each limit, and the number of durations that are at most as long.
    pub(crate) fn up_to(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        up_to(&self.between)
    }
}

fn up_to(between: &[u64; LIMITS.len()]) -> impl Iterator<Item = (u64, u64)> + '_ {
    LIMITS.iter().zip(between).scan(0, |sum, ((limit, _), between)| {
        *sum += between;
        Some((*limit, *sum))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_limit_is_its_seconds() {
        for (nanos, text) in LIMITS {
            assert_eq!(text, (nanos as f64 / 1e9).to_string());
        }
    }

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
