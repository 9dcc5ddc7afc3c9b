//! The memory of the process grows beyond everything that has a bound.

use super::room::memory;
use super::size::show;
use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::signals::seen::Seen;
use crate::signals::trends::slope;
use serde_json::json;
use std::time::Duration;

/// Caches fill in the first hour. Twice that is needed.
const WARM_HOURS: f64 = 1.0;
const NEEDED: Duration = Duration::from_secs(2 * 3600);
/// Points of five minutes after the last drop.
const POINTS_MIN: usize = 12;
/// A drop to less than this part of the maximum before it: what came before it was no leak.
const DROP: f64 = 0.9;
/// The growth in an hour, in bytes, or as a part of the memory at the begin.
const GROWTH_BYTES_MIN: f64 = (50 << 20) as f64;
const GROWTH_PART_MIN: f64 = 0.1;
/// The least that a part may be, in bytes an hour.
const GROWTH_FLOOR: f64 = (8 << 20) as f64;
/// The growth of the last quarter, as a part of the whole: what levels off is no leak.
const LAST_PART_MIN: f64 = 0.3;

pub(super) const CHECK: Check = Check {
    key: "memory-grows",
    kind: FindingKind::Failure,
    about: "The memory of the process grows, and nothing that has a bound grows with it.",
    when: "since the last drop, for at least an hour, the resident memory without that of all bounds grows by 50 MiB or 10 % in an hour, and in \
           the last quarter of the time at least 0.3 times as fast",
    unless: "the server has run for less than two hours; memory that a bound accounts for, such as a cache that fills, does not count",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    if seen.uptime < NEEDED {
        return Verdict::Unknown { needs: "two hours since the start".to_owned(), until: Some(NEEDED) };
    }
    Verdict::Looked(problem(seen).into_iter().collect())
}

fn problem(seen: &Seen) -> Option<Problem> {
    let both = seen.trends.resident.iter().zip(&seen.trends.bounded);
    let points: Vec<(f64, f64)> = both
        .map(|((hours, resident), (_, bounded))| (*hours, resident - bounded))
        .filter(|(hours, _)| *hours >= WARM_HOURS)
        .collect();
    let points = after_the_last_drop(&points);
    let (first, last) = (points.first()?, points.last()?);
    if points.len() < POINTS_MIN {
        return None;
    }
    let growth = slope(points)?;
    let recent = slope(&points[points.len() - points.len().div_ceil(4).max(3)..])?;
    let enough = GROWTH_BYTES_MIN.min((GROWTH_PART_MIN * first.1).max(GROWTH_FLOOR));
    if growth < enough || recent < LAST_PART_MIN * growth {
        return None;
    }
    let unused = seen.machine.as_deref().and_then(memory);
    let left = unused.map_or(String::new(), |unused| {
        format!("; at this rate the memory is used up in {:.0} h", unused as f64 / growth)
    });
    let sentence = format!(
        "the memory of the process grows by {} in an hour, and no cache or queue with it: {} in {:.1} h{left}",
        show(growth as u64),
        show((last.1 - first.1).max(0.0) as u64),
        last.0 - first.0,
    );
    Some(Problem {
        subject: "server".to_owned(),
        lost: Lost::default(),
        confidence: 0.7,
        sentence,
        evidence: json!({ "where": [["kind", "=", "job"]], "by": ["method"], "measures": ["count", "sum(duration_ms)"] }),
        guards: vec![
            Guard::passed("points of five minutes since the last drop", points.len()),
            Guard::passed("growth of the last quarter, of the whole", (recent / growth * 100.0).round() / 100.0),
        ],
        ..Problem::default()
    })
}

/// The points since the memory last fell.
fn after_the_last_drop(points: &[(f64, f64)]) -> &[(f64, f64)] {
    let (mut highest, mut begin) = (0.0_f64, 0);
    for (at, (_, value)) in points.iter().enumerate() {
        if *value < DROP * highest {
            (begin, highest) = (at, *value);
        }
        highest = highest.max(*value);
    }
    &points[begin..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = (1 << 20) as f64;

    /// Four hours in which the memory without bounds is `grown`, in MiB at an hour.
    fn grown(grown: impl Fn(f64) -> f64) -> Seen {
        let mut seen = Seen { uptime: Duration::from_secs(4 * 3600), ..Seen::default() };
        for point in 0..=48 {
            let hours = f64::from(point) / 12.0;
            let bounded = 100.0 * hours.min(2.0);
            seen.trends.resident.push_back((hours, (600.0 + bounded + grown(hours)) * MIB));
            seen.trends.bounded.push_back((hours, bounded * MIB));
        }
        seen
    }

    fn found(seen: &Seen) -> bool {
        look(seen) != Verdict::QUIET
    }

    #[test]
    fn memory_that_grows_beyond_all_bounds_is_told_with_its_rate() {
        let Verdict::Looked(problems) = look(&grown(|hours| 60.0 * hours)) else { unreachable!() };
        assert!(problems[0].sentence.contains("grows by 60.0 MiB in an hour"), "{:?}", problems[0].sentence);
        assert!(found(&grown(|hours| 51.0 * hours)) && !found(&grown(|hours| 49.0 * hours)));
    }

    #[test]
    fn nothing_is_said_of_caches_that_fill_of_what_levels_off_of_teeth_of_a_saw_and_of_a_young_server() {
        assert!(!found(&grown(|_| 0.0)));
        assert!(!found(&grown(|hours| 200.0 * hours.min(2.5))), "it levelled off");
        assert!(!found(&grown(|hours| 400.0 * (hours % 0.75))), "a job takes and frees");
        let young = Seen { uptime: Duration::from_secs(7000), ..grown(|hours| 900.0 * hours) };
        assert!(matches!(look(&young), Verdict::Unknown { .. }));
    }
}
