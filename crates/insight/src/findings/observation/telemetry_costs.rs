//! Observation that costs too much or loses events.

use super::super::check::{Change, Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::seen::Seen;
use crate::signals::telemetry::TelemetrySeen;
use serde_json::Value;
use std::time::Duration;

/// Processor time of all checks in a minute, in nanoseconds. A build for tests is slower.
const SHARE: u64 = if cfg!(debug_assertions) { 1_000_000_000 } else { 20_000_000 };
/// Events that must be lost in five minutes.
const LOST: u64 = 100;
/// The share of events that must be lost.
const LOST_SHARE: f64 = 0.01;
/// The window must be as long, or the first looks would be a rate.
const WINDOW: Duration = Duration::from_secs(4 * 60);

pub(super) const CHECK: Check = Check {
    key: "telemetry-costs",
    kind: FindingKind::Failure,
    about: "The server's observation of itself loses events, leaves a metric out, or takes more processor time than its share.",
    when: "in five minutes 100 events, and 1 % of all, found no place in the buffers or in the queue of a sink; or a census failed; or a \
           metric takes more than 5 ms to read; or all checks take more than 20 ms of processor time a minute: the dearest is named",
    unless: "it has been so for less than ten minutes",
    // Longer than the window, so that a burst that is over opens nothing.
    after: Duration::from_secs(10 * 60),
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let telemetry = &seen.recent.telemetry;
    let requests = seen.recent.requests.all.requests;
    let mut problems = Vec::new();
    let is_lost = |lost: u64| lost >= LOST && lost as f64 >= LOST_SHARE * requests as f64;
    if is_lost(telemetry.unbuffered) {
        let lost = telemetry.unbuffered;
        let more = seen.facts.setting("telemetry.events_buffered").and_then(|setting| setting.number);
        let change = more.and_then(|now| Change::of_setting(seen, "telemetry.events_buffered", now.saturating_mul(2)));
        let sentence =
            format!("{lost} events of the last five minutes found no place in the buffers, so no figure counts them");
        problems.push(problem("bound:telemetry.buffers", sentence, change, ("lost events", lost)));
    }
    for (sink, lost) in telemetry.dropped.iter().filter(|(_, lost)| is_lost(**lost)) {
        let sentence = format!("the sink `{sink}` lost {lost} events in five minutes, because its queue was full");
        problems.push(problem(&format!("sink:{sink}"), sentence, None, ("lost events", *lost)));
    }
    for (census, missed) in telemetry.missed.iter().filter(|(_, missed)| **missed > 0) {
        let sentence = format!("the census `{census}` failed and counts no events until the next start");
        problems.push(problem(&format!("census:{census}"), sentence, None, ("missed events", *missed)));
    }
    for metric in &telemetry.off {
        let sentence = format!("the metric `daylight_{metric}` is left out, because reading it takes longer than 5 ms");
        problems.push(problem(&format!("metric:{metric}"), sentence, None, ("milliseconds to read at most", 5)));
    }
    problems.extend(dear(telemetry, seen.recent.length));
    Verdict::Looked(problems)
}

/// The dearest check, if all together are too dear.
fn dear(telemetry: &TelemetrySeen, window: Duration) -> Option<Problem> {
    if window < WINDOW {
        return None;
    }
    let minutes = window.as_secs_f64() / 60.0;
    let of_minute = |nanos: u64| (nanos as f64 / minutes) as u64;
    let all = of_minute(telemetry.checks.values().sum());
    let (name, nanos) = telemetry.checks.iter().max_by_key(|(_, nanos)| **nanos)?;
    let millis = |nanos: u64| nanos / 1_000_000;
    let sentence = format!(
        "the checks take {} ms of processor time a minute, {} ms of it for `{name}`; their share is {} ms",
        millis(all),
        millis(of_minute(*nanos)),
        millis(SHARE)
    );
    let guard = ("milliseconds a minute", millis(all));
    (all > SHARE).then(|| problem(&format!("check:{name}"), sentence, None, guard))
}

fn problem(subject: &str, sentence: String, change: Option<Change>, guard: (&'static str, u64)) -> Problem {
    Problem {
        subject: subject.to_owned(),
        confidence: 1.0,
        sentence,
        changes: change.into_iter().collect(),
        evidence: Value::Null,
        guards: vec![Guard::passed(guard.0, guard.1)],
        ..Problem::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(change: impl FnOnce(&mut Seen)) -> Vec<String> {
        let mut seen = Seen::default();
        seen.recent.length = Duration::from_secs(300);
        seen.recent.requests.all.requests = 10_000;
        change(&mut seen);
        let Verdict::Looked(problems) = look(&seen) else { panic!("it always looks") };
        problems.into_iter().map(|problem| problem.subject).collect()
    }

    #[test]
    fn lost_events_are_told_from_a_hundred_and_a_hundredth_on() {
        let lost = |unbuffered, requests| {
            subjects(|seen| {
                seen.recent.telemetry.unbuffered = unbuffered;
                seen.recent.telemetry.dropped.insert("otlp", unbuffered);
                seen.recent.requests.all.requests = requests;
            })
        };
        assert_eq!(lost(100, 10_000), ["bound:telemetry.buffers", "sink:otlp"]);
        assert_eq!(lost(99, 10), [""; 0]);
        assert_eq!(lost(100, 10_001), [""; 0]);
    }

    #[test]
    fn a_census_that_failed_and_a_metric_that_is_off_are_told() {
        let missed = |count| subjects(|seen| seen.recent.telemetry.missed.extend([("rollups", count)]));
        assert_eq!((missed(0), missed(1)), (Vec::new(), vec!["census:rollups".to_owned()]));
        assert_eq!(subjects(|seen| seen.recent.telemetry.off.extend(["slow"])), ["metric:slow"]);
    }

    #[test]
    fn the_dearest_check_is_named_when_all_take_more_than_their_share() {
        let checks = |one: u64, seconds| {
            subjects(|seen| {
                seen.recent.length = Duration::from_secs(seconds);
                seen.recent.telemetry.spent("cheap", SHARE);
                seen.recent.telemetry.spent("dear", one);
            })
        };
        assert_eq!(checks(4 * SHARE, 300), [""; 0]);
        assert_eq!(checks(4 * SHARE + 1000, 300), ["check:dear"]);
        assert_eq!(checks(40 * SHARE, 239), [""; 0], "the window is young");
    }
}
