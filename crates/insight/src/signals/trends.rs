//! Series over the last day, one point each five minutes: the memory of the process, and bounds whose end breaks something.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Bound, BoundName, MachineSample, Unit};

/// The time between two points.
const EVERY: Duration = Duration::from_secs(300);
/// The points of a day.
const POINTS_MAX: usize = 288;
/// The most points that slopes are computed from: their number of pairs is a thousand.
const SLOPE_POINTS: usize = 48;

/// Bounds at whose end requests fail or records are lost. Caches are meant to be full, and pools have checks of their own.
pub(crate) const BREAKING: &[BoundName] = &[
    BoundName::Connections,
    BoundName::FirstSeen,
    BoundName::UpstreamIndexes,
    BoundName::KojiMaps,
    BoundName::Merging,
    BoundName::AppStreams,
    BoundName::TailListeners,
];

/// Bytes that are on disk, or are counted by another bound.
const NOT_IN_MEMORY: &[BoundName] = &[
    BoundName::Cached,
    BoundName::Facts,
    BoundName::FirstSeen,
    BoundName::AppSpool,
    BoundName::AbandonedFetches,
    BoundName::KeptEvents,
    BoundName::Rollups,
    BoundName::Disk,
];

/// Values at moments, in hours since the start.
pub(crate) type Series = VecDeque<(f64, f64)>;

/// The series of the last day.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trends {
    last: Option<Duration>,
    /// The resident memory of the process, in bytes.
    pub(crate) resident: Series,
    /// The part of it that bounds account for, in bytes.
    pub(crate) bounded: Series,
    /// The used part of the bounds in [`BREAKING`], by name and what distinguishes them.
    pub(crate) bounds: BTreeMap<(&'static str, Box<str>), Series>,
}

impl Trends {
    /// Adds a point, if five minutes have passed since the last one.
    pub(crate) fn sample(&mut self, uptime: Duration, bounds: &[Arc<Bound>], machine: Option<&MachineSample>) {
        if self.last.is_some_and(|last| uptime < last + EVERY) {
            return;
        }
        let Some(resident) = machine.and_then(|machine| machine.process.resident_bytes) else { return };
        self.last = Some(uptime);
        let hours = uptime.as_secs_f64() / 3600.0;
        let in_memory =
            |bound: &&Arc<Bound>| bound.name().unit() == Unit::Bytes && !NOT_IN_MEMORY.contains(&bound.name());
        let bounded: u64 = bounds.iter().filter(in_memory).map(|bound| bound.used()).sum();
        push(&mut self.resident, hours, resident as f64);
        push(&mut self.bounded, hours, bounded as f64);
        for bound in bounds.iter().filter(|bound| BREAKING.contains(&bound.name())) {
            let key = (bound.name().as_str(), bound.which().into());
            push(self.bounds.entry(key).or_default(), hours, bound.used() as f64);
        }
    }
}

fn push(series: &mut Series, hours: f64, value: f64) {
    series.push_back((hours, value));
    if series.len() > POINTS_MAX {
        series.pop_front();
    }
}

/// The slope of a series in an hour: the median of the slopes of all pairs of points (Theil-Sen), which single points do not move.
/// `None`: there are fewer than three points.
pub(crate) fn slope(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 3 {
        return None;
    }
    let step = points.len().div_ceil(SLOPE_POINTS);
    let points: Vec<(f64, f64)> = points.iter().copied().rev().step_by(step).collect();
    let mut slopes = Vec::with_capacity(points.len() * points.len() / 2);
    for (at, (one, first)) in points.iter().enumerate() {
        slopes.extend(
            points[at + 1..]
                .iter()
                .filter(|(other, _)| other != one)
                .map(|(other, second)| (second - first) / (other - one)),
        );
    }
    let middle = slopes.len() / 2;
    (!slopes.is_empty()).then(|| *slopes.select_nth_unstable_by(middle, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::ProcessFigures;

    #[test]
    fn the_slope_is_that_of_most_points() {
        let line = |n: i32| (f64::from(n), f64::from(n) * 10.0 + if n % 7 == 0 { 500.0 } else { 0.0 });
        let points: Vec<(f64, f64)> = (0..200).map(line).collect();
        let found = slope(&points).unwrap();
        assert!((9.0..11.0).contains(&found), "{found}");
        assert_eq!((slope(&points[..2]), slope(&[(1.0, 1.0); 5])), (None, None));
    }

    #[test]
    fn a_point_is_added_every_five_minutes_and_those_of_a_day_stay() {
        let bound = Bound::new(BoundName::Connections, "", 100);
        let process = ProcessFigures { resident_bytes: Some(1000), ..ProcessFigures::default() };
        let machine = MachineSample { process, ..MachineSample::default() };
        let mut trends = Trends::default();
        for second in (0..26 * 3600).step_by(10) {
            bound.observe(second);
            trends.sample(Duration::from_secs(second), std::slice::from_ref(&bound), Some(&machine));
        }
        let used = &trends.bounds[&("connections", Box::from(""))];
        assert_eq!((used.len(), trends.resident.len(), trends.bounded.back().unwrap().1), (288, 288, 0.0));
        let (hours, last) = used.back().unwrap();
        assert_eq!(hours * 3600.0, *last);
    }
}
