//! Requests of a cost class, or of a kind of repository, take longer than usual at this hour.

use super::super::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::normal::view::{Key, MinuteOf, Normal, NormalView};
use crate::signals::seen::Seen;
use serde_json::{Value, json};
use std::time::Duration;
use telemetry::{Class, Layer};

/// The median of a slow minute is at least so many times the usual one.
const EFFECT: f64 = 1.3;
/// It lies so many standard deviations of minutes above the usual one.
const DEVIATIONS: f64 = 3.0;
/// Minutes always differ by so much: a twentieth.
const SPREAD_MIN: f64 = 0.05;
/// A minute with fewer requests tells nothing.
const REQUESTS_MIN: u64 = 10;
/// Slow minutes among the last ten.
const MINUTES: usize = 5;
/// The share of the time of all requests that is lost, at least, and the seconds in five minutes.
const SHARE: f64 = 0.05;
const SECONDS: f64 = 5.0;
/// Where threads had no processor for this share of their time, the machine is slow.
const STARVED: f64 = 0.25;
/// Requests that wait behind a thread without a processor.
const BEHIND: f64 = 10.0;

/// Milliseconds of an hour.
const HOUR_MS: i64 = 3_600_000;

/// Classes whose requests a client waits for. Questions about events, pages for people and the API take as long as is asked.
const CLASSES: [Class; 4] = [Class::Small, Class::Downloads, Class::Uploads, Class::DynamicIndex];
const LAYERS: [Layer; 3] = [Layer::Hosted, Layer::Remote, Layer::Group];

pub(super) const CHECK: Check = Check {
    key: "slower-than-normal",
    kind: FindingKind::Impact,
    about: "Requests take longer than usual at this hour of the week",
    when: "in 5 of 10 minutes the median time to the first byte of a cost class, or of a kind of repository, is at least 1.3 times the usual one and 3 \
           standard deviations of minutes above it, and this costs at least 5 % of the time of all requests and 5 s in five minutes",
    unless: "there are less than 24 hours of figures, a minute has fewer than 10 requests, or threads that had no processor for a quarter of their time explain a tenth of the loss",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let hours = seen.normal.hours;
    if hours < NormalView::NEEDED_HOURS {
        let missing = NormalView::NEEDED_HOURS - hours;
        return Verdict::Unknown {
            needs: format!("{} hours of figures; there are {hours}", NormalView::NEEDED_HOURS),
            until: Some(full(seen, missing)),
        };
    }
    let classes = CLASSES.into_iter().filter_map(|class| slow(seen, &Key::Class(class), class.as_str(), "class"));
    let classes: Vec<Problem> = classes.collect();
    if !classes.is_empty() {
        return Verdict::Looked(classes);
    }
    // A kind of repository may be slow among requests of classes that are not.
    let layers = LAYERS.into_iter().filter_map(|layer| slow(seen, &Key::Layer(layer), layer.as_str(), "layer"));
    Verdict::Looked(layers.collect())
}

/// The uptime at which so many hours more are full, if requests come in each: hours end by the time of day.
fn full(seen: &Seen, missing: u64) -> Duration {
    let into_hour = seen.now.0.rem_euclid(HOUR_MS).cast_unsigned();
    (seen.uptime + Duration::from_millis(missing.saturating_mul(HOUR_MS.cast_unsigned())))
        .saturating_sub(Duration::from_millis(into_hour))
}

fn slow(seen: &Seen, key: &Key, name: &str, column: &str) -> Option<Problem> {
    let normal = seen.normal.expects(key).filter(|normal| normal.median > 0.0)?;
    let minutes: Vec<MinuteOf> = seen.normal.minutes_of(key).collect();
    let of = |minute: &&MinuteOf| is_slow(minute, &normal);
    let slow: Vec<&MinuteOf> = minutes.iter().filter(of).collect();
    if slow.len() < MINUTES {
        return None;
    }
    // The newest five minutes are those of the window of all requests.
    let recent = minutes.iter().rev().take(5).filter(of);
    let lost: f64 = recent.map(|minute| (minute.sum - minute.n as f64 * normal.mean).max(0.0) / 1e9).sum();
    let all = seen.recent.requests.all.nanos as f64 / 1e9;
    if lost < SECONDS || lost < SHARE * all || is_of_the_machine(seen, lost) {
        return None;
    }
    let n: u64 = slow.iter().map(|minute| minute.n).sum();
    let median = slow.iter().map(|minute| minute.median * minute.n as f64).sum::<f64>() / n as f64;
    let what = if column == "class" {
        "Requests of the class"
    } else {
        "Requests that were answered by repositories of the kind"
    };
    Some(Problem {
        subject: format!("{column}:{name}"),
        lost: Lost::recent(lost),
        confidence: 0.7,
        sentence: format!(
            "{what} `{name}` take {} to their first byte (median), {:.1} times the usual {} of this hour of the week; requests waited {lost:.0} s \
             longer in five minutes",
            time(median),
            median / normal.median,
            time(normal.median),
        ),
        changes: Vec::new(),
        evidence: evidence(column, name),
        event: None,
        guards: vec![
            Guard::passed("slow minutes of the last ten", slow.len()),
            Guard::passed("requests in slow minutes", n),
            Guard::passed("requests in the baseline", normal.n.round()),
        ],
        ..Problem::default()
    })
}

/// Whether threads without a processor explain the loss: several requests may wait behind one of them.
fn is_of_the_machine(seen: &Seen, lost: f64) -> bool {
    let machine = &seen.recent.machine;
    machine.starved_share() >= STARVED && machine.starved_nanos as f64 / 1e9 * BEHIND >= lost
}

fn is_slow(minute: &MinuteOf, normal: &Normal) -> bool {
    let ratio = minute.median / normal.median;
    minute.n >= REQUESTS_MIN && ratio >= EFFECT && ratio.ln() / normal.spread.max(SPREAD_MIN) > DEVIATIONS
}

fn evidence(column: &str, name: &str) -> Value {
    json!({
        "where": [["kind", "=", "request"], [column, "=", name]], "by": ["repository"],
        "measures": ["count", "p50(first_byte_ms)", "p95(first_byte_ms)"],
    })
}

fn time(nanos: f64) -> String {
    match nanos / 1e6 {
        millis if millis >= 1000.0 => format!("{:.1} s", millis / 1000.0),
        millis => format!("{millis:.1} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use telemetry::Millis;

    const NORMAL: Normal = Normal { median: 1e8, p95: 3e8, mean: 1.2e8, spread: 0.02, n: 5000.0 };

    /// Requests of which this many in each of ten minutes take so many times the usual time, and the same for this many minutes.
    fn seen(times: f64, requests: u64, minutes: usize) -> Seen {
        let minute = |slow: bool| {
            let times = if slow { times } else { 1.0 };
            let of =
                MinuteOf { n: requests, median: NORMAL.median * times, sum: requests as f64 * NORMAL.mean * times };
            [(Key::Class(Class::Downloads), of)].into()
        };
        let minutes = (0..10).map(|at| minute(at >= 10 - minutes)).collect();
        let normal = [(Key::Class(Class::Downloads), NORMAL)].into();
        let mut seen = Seen { normal: Arc::new(NormalView { hours: 24, normal, minutes }), ..Seen::default() };
        seen.recent.requests.all.nanos = (5.0 * requests as f64 * NORMAL.mean * times) as u64;
        seen
    }

    fn found(seen: &Seen) -> usize {
        match look(seen) {
            Verdict::Looked(problems) => problems.len(),
            Verdict::Unknown { .. } => panic!("{seen:?}"),
        }
    }

    #[test]
    fn a_class_that_is_slower_than_usual_is_told_with_what_it_costs() {
        let Verdict::Looked(problems) = look(&seen(2.0, 100, 6)) else { panic!() };
        assert_eq!((problems[0].subject.as_str(), problems.len()), ("class:downloads", 1));
        assert!((problems[0].lost.recent_s - 5.0 * 100.0 * 0.12).abs() < 0.01, "{problems:?}");
        assert!(
            problems[0].sentence.contains("200.0 ms to their first byte (median), 2.0 times the usual 100.0 ms"),
            "{problems:?}"
        );
    }

    #[test]
    fn each_border_silences_it() {
        assert_eq!(found(&seen(1.31, 300, 5)), 1);
        assert_eq!(found(&seen(1.29, 300, 5)), 0, "the effect");
        assert_eq!(found(&seen(1.31, 300, 4)), 0, "minutes");
        assert_eq!(found(&seen(9.0, 9, 10)), 0, "requests");
        assert_eq!(found(&seen(1.31, 20, 10)), 0, "seconds");
        let mut others = seen(2.0, 100, 6);
        others.recent.requests.all.nanos *= 20;
        assert_eq!(found(&others), 0, "the share of all time");
        let mut rough = seen(1.5, 300, 10);
        let with = |spread| NormalView {
            normal: [(Key::Class(Class::Downloads), Normal { spread, ..NORMAL })].into(),
            ..(*rough.normal).clone()
        };
        let (even, uneven) = (Arc::new(with(0.13)), Arc::new(with(0.14)));
        rough.normal = even;
        assert_eq!(found(&rough), 1);
        rough.normal = uneven;
        assert_eq!(found(&rough), 0, "minutes always differ that much");
        let mut starved = seen(2.0, 100, 6);
        let lost_nanos = 60_000_000_000;
        let nanos = |starved: u64| (3 * starved, starved);
        (starved.recent.machine.run_nanos, starved.recent.machine.starved_nanos) = nanos(lost_nanos / 9);
        assert_eq!(found(&starved), 0, "the machine");
        (starved.recent.machine.run_nanos, starved.recent.machine.starved_nanos) = nanos(lost_nanos / 11);
        assert_eq!(found(&starved), 1);
    }

    #[test]
    fn before_a_day_of_figures_nothing_is_said_and_it_is_told_until_when() {
        let mut young = seen(2.0, 100, 6);
        let view = NormalView { hours: 23, ..(*young.normal).clone() };
        (young.normal, young.uptime) = (Arc::new(view), Duration::from_secs(100));
        let needs = "24 hours of figures; there are 23".to_owned();
        // The moment stays the same while the hour passes.
        for passed in [0, 1, 3599] {
            young.now = Millis(1_793_534_400_000 + 1000 * i64::try_from(passed).unwrap());
            young.uptime = Duration::from_secs(100 + passed);
            let until = Some(Duration::from_secs(3700));
            assert_eq!(look(&young), Verdict::Unknown { needs: needs.clone(), until });
        }
    }
}
