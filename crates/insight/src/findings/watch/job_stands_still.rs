//! A job that runs for as long as the server does nothing any more.

use super::super::check::{Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::seen::Seen;
use serde_json::Value;
use std::time::Duration;
use telemetry::LongJobView;

/// So many times its usual time between two heartbeats.
const TIMES: u32 = 10;
/// At least this long.
const LEAST: Duration = Duration::from_secs(300);

pub(super) const CHECK: Check = Check {
    key: "job-stands-still",
    kind: FindingKind::Failure,
    about: "A job that runs for as long as the server does nothing any more",
    when: "it had no heartbeat for ten times its usual interval, and for five minutes at least",
    unless: "it has ended in order, or serving stands still as a whole",
    after: Check::AFTER,
    keeps: Duration::ZERO,
    look,
};

fn look(seen: &Seen) -> Verdict {
    if seen.watch.stuck.is_some() {
        return Verdict::QUIET;
    }
    let of = |job: &LongJobView| {
        let age = job.age.filter(|age| *age >= LEAST.max(job.every * TIMES))?;
        Some(problem(job, age))
    };
    Verdict::Looked(seen.watch.jobs.iter().filter_map(of).collect())
}

fn problem(job: &LongJobView, age: Duration) -> Problem {
    let (name, age, every) = (job.name, age.as_secs(), job.every.as_secs());
    Problem {
        subject: format!("job:{name}"),
        confidence: 0.9,
        sentence: format!("the job `{name}` has done nothing for {age} s; it usually moves within {every} s"),
        evidence: Value::Null,
        guards: vec![Guard::passed("seconds since its last heartbeat", age)],
        ..Problem::default()
    }
}
