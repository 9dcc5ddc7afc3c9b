//! The run before did not end in order: it was killed, or it crashed.

use super::super::check::{Check, FindingKind, Guard, Problem, Verdict};
use super::bytes;
use crate::signals::seen::Seen;
use crate::signals::watch::PreviousRun;
use serde_json::Value;
use std::time::Duration;

/// How long after the start it is told. It happened once, and is in the history of findings.
const TOLD_FOR: Duration = Duration::from_secs(3600);
/// So many ends within ten minutes are a loop.
const LOOP: u64 = 3;
/// The share of the limit from which memory is a likely reason, where the kernel does not tell.
const NEAR: f64 = 0.9;

pub(super) const CHECK: Check = Check {
    key: "previous-run-died",
    kind: FindingKind::Failure,
    about: "The run before this one was killed or crashed, and what it did then",
    when: "the file of its last words is there at a start: an orderly end removes it. Three such ends within ten minutes are told as a loop",
    unless: "an hour has passed since the start: it is told once",
    after: Duration::ZERO,
    keeps: Duration::ZERO,
    look,
};

fn look(seen: &Seen) -> Verdict {
    match &seen.watch.previous_run {
        Some(run) if seen.uptime < TOLD_FOR => Verdict::Looked(vec![problem(run)]),
        _ => Verdict::QUIET,
    }
}

fn problem(run: &PreviousRun) -> Problem {
    Problem {
        subject: "server".to_owned(),
        confidence: 1.0,
        sentence: sentence(run),
        evidence: Value::Null,
        guards: vec![
            Guard::passed("such ends within ten minutes", run.ends),
            Guard::passed("the kernel killed a process of the cgroup for lack of memory", run.oom_kill),
            Guard::passed("requests that were open", run.requests.clone()),
        ],
        ..Problem::default()
    }
}

fn sentence(run: &PreviousRun) -> String {
    let limit = run.limit_bytes.map(|limit| format!(" of {}", bytes(limit))).unwrap_or_default();
    let near = run.limit_bytes.is_some_and(|limit| run.resident_bytes as f64 >= NEAR * limit as f64);
    let why = match (run.oom_kill, near) {
        (true, _) => "; the kernel killed a process of its cgroup for lack of memory",
        (false, true) => "; memory was nearly used up",
        (false, false) => "",
    };
    let jobs: Vec<String> = run.jobs.iter().map(|(name, gained)| format!("`{name}` (+{})", bytes(*gained))).collect();
    let jobs = if jobs.is_empty() { String::new() } else { format!(", and these jobs ran: {}", jobs.join(", ")) };
    let again = match run.ends {
        ends if ends >= LOOP => format!(
            "; it is the end number {ends} of this kind within ten minutes: the server starts and dies in a loop"
        ),
        2 => "; it is the second such end within ten minutes".to_owned(),
        _ => String::new(),
    };
    let at = if run.at.0 == 0 { "at an unknown moment".to_owned() } else { format!("after {}", run.at) };
    format!(
        "the run before ended without order {at}, {:.0} s after its start, with {}{limit} of memory{why}; {} requests were open{jobs}{again}",
        run.ran_s,
        bytes(run.resident_bytes),
        run.open,
    )
}
