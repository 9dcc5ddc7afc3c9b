//! Something is nearly full, or soon will be, and requests fail when it is.

use super::size::{round_up, show};
use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::wider::wider;
use crate::signals::bounds::BoundSeen;
use crate::signals::seen::Seen;
use crate::signals::trends::{BREAKING, slope};
use serde_json::json;
use telemetry::{BoundName, Unit};

/// The part of the time in which more than 80 % are used. That of the last hour makes the 95th percentile.
const NEAR_HOUR_MIN: f64 = 0.05;
/// The same in the last five minutes: a burst does not count.
const NEAR_RECENT_MIN: f64 = 0.5;
/// Fewer samples say nothing.
const SAMPLES_MIN: u64 = 5;
/// The hours in which it will be full.
const HOURS_MAX: f64 = 24.0;
/// The part that is used before a trend counts.
const TREND_FROM: f64 = 0.5;
/// The points of five minutes of a trend: an hour.
const POINTS_MIN: usize = 12;
/// The advised value, as a multiple of the highest use.
const ADVISED: f64 = 2.0;

pub(super) const CHECK: Check = Check {
    key: "bound-near-full",
    kind: FindingKind::Cause,
    about: "Something is nearly full, and requests fail or records are lost when it is: connections, first-seen records, merges.",
    when: "its 95th percentile of an hour is above 80 % of the limit, and half of the last five minutes; or it is half full, and reaches the \
           limit within 24 h at the median slope of the last day",
    unless: "a burst is over; caches and pools are meant to be full and do not count",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let mut problems = Vec::new();
    for name in BREAKING {
        let bounds = seen.recent.bounds.named(*name);
        problems.extend(bounds.filter_map(|(which, bound)| problem(seen, *name, which, bound)));
    }
    Verdict::Looked(problems)
}

fn problem(seen: &Seen, name: BoundName, which: &str, bound: &BoundSeen) -> Option<Problem> {
    if bound.capacity == 0 {
        return None;
    }
    let hour = seen.hour.bounds.of(name, which).unwrap_or(bound);
    let near = |bound: &BoundSeen| bound.near as f64 / bound.samples.max(1) as f64;
    let is_near = bound.samples >= SAMPLES_MIN && near(hour) >= NEAR_HOUR_MIN && near(bound) >= NEAR_RECENT_MIN;
    let soon = hours_left(seen, name, which, bound);
    if !is_near && soon.is_none() {
        return None;
    }
    let amount = |number: u64| if name.unit() == Unit::Bytes { show(number) } else { number.to_string() };
    let (used, capacity) = (amount(bound.used_max), amount(bound.capacity));
    let when = match soon {
        Some(hours) => format!("; at the rate of the last hours it is full in {hours:.0} h"),
        None => format!("; {:.0} % of the last five minutes more than 80 % were used", near(bound) * 100.0),
    };
    let rejected = if bound.rejected > 0 { format!(", and {} were rejected", bound.rejected) } else { String::new() };
    let named = name.as_str();
    let of = if which.is_empty() { String::new() } else { format!(" of `{which}`") };
    let to = round_up(bound.used_max.max(bound.capacity) as f64 * ADVISED);
    let wider = bound.setting.and_then(|key| wider(seen, name, key, to));
    let (change, note) = wider.map_or((None, String::new()), |wider| (wider.change, wider.note));
    Some(Problem {
        subject: format!("bound:{named}{}{which}", if which.is_empty() { "" } else { "/" }),
        lost: Lost::default(),
        confidence: if is_near { 0.9 } else { 0.6 },
        sentence: format!(
            "`{named}`{of} is nearly full: {used} of {capacity} are used{when}{rejected} ({}){note}",
            name.doc()
        ),
        changes: change.into_iter().collect(),
        evidence: json!({ "where": [["kind", "=", "request"]], "by": ["client"], "measures": ["count", "max(duration_ms)"] }),
        guards: vec![Guard::passed("samples of the last five minutes above 80 %", bound.near)],
        ..Problem::default()
    })
}

/// The hours until it is full. `None`: it is less than half full, does not grow, or will not be full within a day.
fn hours_left(seen: &Seen, name: BoundName, which: &str, bound: &BoundSeen) -> Option<f64> {
    let series = seen.trends.bounds.get(&(name.as_str(), which.into()))?;
    let points: Vec<(f64, f64)> = series.iter().copied().collect();
    let (_, last) = *points.last()?;
    let (_, first) = *points.first()?;
    let all = bound.capacity as f64;
    let growth = slope(&points).filter(|growth| *growth > 0.0)?;
    let hours = (all - last) / growth;
    let steady = points.len() >= POINTS_MIN && last - first >= 0.1 * all;
    (steady && last >= TREND_FROM * all && hours < HOURS_MAX).then_some(hours.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::facts::SettingFact;
    use std::sync::Arc;
    use telemetry::{MachineSample, ProcessFigures};

    const KEY: &str = "server.max_connections";

    fn seen(near: u64, samples: u64, hour_near: u64) -> Seen {
        let mut seen = Seen::default();
        let bound =
            BoundSeen { setting: Some(KEY), capacity: 100, samples, near, used_max: 90, ..BoundSeen::default() };
        let hour = BoundSeen { samples: 3600, near: hour_near, ..bound.clone() };
        seen.recent.bounds.0.insert((BoundName::Connections, "".into()), bound);
        seen.hour.bounds.0.insert((BoundName::Connections, "".into()), hour);
        let setting = SettingFact {
            key: KEY.to_owned(),
            number: Some(100),
            limits: Some((1, 1_000_000)),
            ..SettingFact::default()
        };
        Arc::make_mut(&mut seen.facts).settings.push(setting);
        seen
    }

    fn found(seen: &Seen) -> Vec<Problem> {
        let Verdict::Looked(problems) = look(seen) else { unreachable!() };
        problems
    }

    #[test]
    fn what_is_nearly_full_for_long_is_told_with_a_larger_limit_that_the_descriptors_allow() {
        let mut seen = seen(150, 300, 180);
        assert_eq!(found(&seen)[0].changes[0].to.as_ref().unwrap().as_u64(), Some(208));
        let process = ProcessFigures { open_fds: Some(10), max_fds: Some(600), ..ProcessFigures::default() };
        seen.machine = Some(Arc::new(MachineSample { process, ..MachineSample::default() }));
        assert_eq!(found(&seen)[0].changes[0].to.as_ref().unwrap().as_u64(), Some(172));
        let process = ProcessFigures { max_fds: Some(456), ..process };
        seen.machine = Some(Arc::new(MachineSample { process, ..MachineSample::default() }));
        let problem = found(&seen).remove(0);
        assert!(problem.changes.is_empty() && problem.sentence.contains("`LimitNOFILE="), "{problem:?}");
    }

    #[test]
    fn a_burst_and_few_samples_say_nothing() {
        assert_eq!(found(&seen(149, 300, 180)), [], "less than half of five minutes");
        assert_eq!(found(&seen(150, 300, 179)), [], "less than a twentieth of an hour");
        assert_eq!(found(&seen(4, 4, 3600)), []);
    }

    #[test]
    fn what_will_be_full_within_a_day_is_told_before_it_is() {
        let with = |per_hour: f64, from: f64| {
            let mut seen = seen(0, 300, 0);
            let series = (0..60).map(|point| (f64::from(point) / 12.0, from + per_hour * f64::from(point) / 12.0));
            seen.trends.bounds.insert(("connections", "".into()), series.collect());
            found(&seen)
        };
        assert!(with(3.0, 45.0)[0].sentence.contains("full in 13 h"), "{:?}", with(3.0, 45.0));
        assert_eq!((with(3.0, 30.0), with(1.0, 50.0), with(-3.0, 90.0)), (vec![], vec![], vec![]));
    }
}
