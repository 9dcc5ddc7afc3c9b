//! A job that runs for as long as the server panics again and again.

use super::super::check::{Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::seen::Seen;
use serde_json::Value;
use std::time::Duration;
use telemetry::LongJobView;

/// Panics within ten minutes, at least.
const PANICS: usize = 3;

pub(super) const CHECK: Check = Check {
    key: "job-crash-loop",
    kind: FindingKind::Failure,
    about: "A job that runs for as long as the server panics again and again",
    when: "it panicked at least three times within ten minutes, and was started again each time",
    unless: "",
    after: Duration::ZERO,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.watch.jobs.iter().filter(|job| job.recent_panics >= PANICS).map(problem).collect())
}

fn problem(job: &LongJobView) -> Problem {
    let LongJobView { name, recent_panics, message, panics, .. } = job;
    Problem {
        subject: format!("job:{name}"),
        confidence: 1.0,
        sentence: format!(
            "the job `{name}` panicked {recent_panics} times within ten minutes, and its work is not done; the last panic said: {message}; \
             this is a bug in Daylight, and the log has the place"
        ),
        evidence: Value::Null,
        guards: vec![Guard::passed("panics since the start", *panics)],
        ..Problem::default()
    }
}
