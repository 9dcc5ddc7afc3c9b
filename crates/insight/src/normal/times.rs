//! Times of a subject over weeks: a histogram whose counts fade, with how much minutes differ.

use super::view::Normal;
use serde::{Deserialize, Serialize};
use telemetry::Histogram;

/// Places of [`Histogram`] in one bucket here: a bucket is a fifth wide.
const COARSE: usize = 4;
/// A minute with fewer times has no median of its own.
const MINUTE_MIN: u64 = 5;
/// Counts that have faded below this are dropped.
const FADED: f32 = 0.01;

/// Times of a subject.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Times {
    /// How many.
    #[serde(rename = "n")]
    count: f64,
    /// Their sum in nanoseconds.
    #[serde(rename = "s")]
    sum: f64,
    /// Their buckets that are not empty, in ascending order.
    #[serde(rename = "b")]
    buckets: Vec<(u16, f32)>,
    /// Minutes, and the sums of the logarithms of their medians and of the squares of these.
    #[serde(rename = "m")]
    minutes: [f64; 3],
}

impl Times {
    /// The times of a minute.
    pub(crate) fn of_minute(times: &Histogram) -> Self {
        let mut buckets: Vec<(u16, f32)> = Vec::new();
        for bucket in times.buckets() {
            let place = u16::try_from(Histogram::place_of(bucket.upper) / COARSE).unwrap_or(u16::MAX);
            match buckets.last_mut().filter(|(last, _)| *last == place) {
                Some((_, count)) => *count += bucket.count as f32,
                None => buckets.push((place, bucket.count as f32)),
            }
        }
        let minutes = match times.count() >= MINUTE_MIN {
            true => {
                let median = (times.quantile(0.5).max(1) as f64).ln();
                [1.0, median, median * median]
            }
            false => [0.0; 3],
        };
        Self { count: times.count() as f64, sum: times.sum() as f64, buckets, minutes }
    }

    /// How many.
    pub(crate) fn count(&self) -> f64 {
        self.count
    }

    /// Adds others.
    pub(crate) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        for (place, count) in &other.buckets {
            match self.buckets.binary_search_by_key(place, |(place, _)| *place) {
                Ok(at) => self.buckets[at].1 += count,
                Err(at) => self.buckets.insert(at, (*place, *count)),
            }
        }
        self.minutes.iter_mut().zip(other.minutes).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Counts each of them as this part.
    pub(crate) fn fade(&mut self, part: f64) {
        if part >= 1.0 {
            return;
        }
        self.count *= part;
        self.sum *= part;
        self.buckets.iter_mut().for_each(|(_, count)| *count *= part as f32);
        self.buckets.retain(|(_, count)| *count >= FADED);
        self.minutes.iter_mut().for_each(|figure| *figure *= part);
    }

    /// The usual times.
    pub(crate) fn normal(&self) -> Normal {
        let [minutes, sum, squares] = self.minutes;
        let mean = if minutes > 0.0 { sum / minutes } else { 0.0 };
        let variance = if minutes > 1.0 { (squares / minutes - mean * mean).max(0.0) } else { 0.0 };
        Normal {
            median: self.quantile(0.5),
            p95: self.quantile(0.95),
            mean: if self.count > 0.0 { self.sum / self.count } else { 0.0 },
            spread: variance.sqrt(),
            n: self.count,
        }
    }

    /// The time that a fraction of all does not exceed. Times within a bucket count as evenly spread.
    fn quantile(&self, quantile: f64) -> f64 {
        let all: f64 = self.buckets.iter().map(|(_, count)| f64::from(*count)).sum();
        let (rank, mut passed) = (all * quantile, 0.0);
        for (place, count) in &self.buckets {
            let count = f64::from(*count);
            if passed + count >= rank && count > 0.0 {
                let first = usize::from(*place) * COARSE;
                let (low, high) = (upper_below(first), Histogram::upper_of(first + COARSE - 1) as f64);
                return low + (high - low) * ((rank - passed) / count).clamp(0.0, 1.0);
            }
            passed += count;
        }
        0.0
    }
}

fn upper_below(place: usize) -> f64 {
    place.checked_sub(1).map_or(0.0, |place| Histogram::upper_of(place) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minute(times: impl IntoIterator<Item = u64>) -> Times {
        let mut histogram = Histogram::default();
        times.into_iter().for_each(|time| histogram.record(time));
        Times::of_minute(&histogram)
    }

    #[test]
    fn quantiles_are_those_of_the_times_to_a_tenth() {
        let normal = minute((1..=1000).map(|n| n * 10_000)).normal();
        assert!((normal.median / 5_000_000.0 - 1.0).abs() < 0.1, "{normal:?}");
        assert!((normal.p95 / 9_500_000.0 - 1.0).abs() < 0.1, "{normal:?}");
        assert_eq!((normal.mean, normal.n, normal.spread), (5_005_000.0, 1000.0, 0.0));
        assert_eq!(Times::default().normal(), Normal::default());
    }

    #[test]
    fn minutes_add_up_and_their_spread_is_told() {
        let (mut all, mut at_once) = (Times::default(), Histogram::default());
        for (n, scale) in [(50, 1000), (60, 1100), (40, 900), (7, 1000)] {
            let times = (0..n).map(|n| scale * (900 + n));
            times.clone().for_each(|time| at_once.record(time));
            all.add(&minute(times));
        }
        let together = Times { minutes: all.minutes, ..Times::of_minute(&at_once) };
        assert_eq!(all, together);
        assert!((0.05..0.1).contains(&all.normal().spread), "{all:?}");
    }

    #[test]
    fn older_times_count_less_until_nothing_is_left() {
        let mut faded = minute([1000; 64]);
        let newer = minute([64_000; 32]);
        faded.fade(0.5);
        faded.add(&newer);
        assert_eq!((faded.normal().n, faded.normal().mean), (64.0, 32_500.0));
        (0..20).for_each(|_| faded.fade(0.5));
        assert!(faded.buckets.is_empty() && faded.normal().n < 0.001);
        let whole = newer.clone();
        faded = newer;
        faded.fade(2.0);
        assert_eq!(faded, whole, "a clock that was set back makes nothing of them");
    }
}
