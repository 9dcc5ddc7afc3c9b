//! A job needs more memory with each run, and will not fit into the limit before long.

use super::super::check::{Check, FindingKind, Guard, Problem, Verdict};
use super::bytes;
use crate::signals::jobs::{JobRun, JobSeen};
use crate::signals::seen::Seen;
use serde_json::json;

/// Runs, at least.
const RUNS: usize = 5;
/// What the last run gained, at least: less is noise of the allocator.
const GAINED_BYTES: u64 = 32 << 20;
/// How much more the last runs gained than the first ones, at least.
const GROWTH: f64 = 1.25;
/// Runs until it does not fit, at most.
const SOON_RUNS: f64 = 30.0;

pub(super) const CHECK: Check = Check {
    key: "job-outgrows-memory",
    kind: FindingKind::Cause,
    about: "A job needs more memory with each run, and will not fit into the limit before long",
    when: "of at least five runs within a day each third of them gained more memory than the one before, the last ones at least 1.25 times as \
           much as the first ones and at least 32 MiB; at this rate the limit of the cgroup is reached within 30 runs",
    unless: "there is no limit of memory, or two neighbouring runs in three did not grow",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let memory = seen.machine.as_ref().and_then(|machine| machine.memory);
    let Some(limit) = memory.and_then(|memory| memory.limit_bytes) else { return Verdict::QUIET };
    Verdict::Looked(seen.day.jobs.0.iter().filter_map(|(name, job)| problem(name, job, limit)).collect())
}

fn problem(name: &str, job: &JobSeen, limit: u64) -> Option<Problem> {
    let runs: Vec<&JobRun> = job.memory.runs().collect();
    let (last, gained) = (runs.last()?, runs.iter().map(|run| run.gained as f64).collect::<Vec<f64>>());
    if runs.len() < RUNS || last.gained < GAINED_BYTES {
        return None;
    }
    let third = gained.len() / 3;
    let [first, middle, latest] =
        [0..third.max(1), third.max(1)..gained.len() - third.max(1), gained.len() - third.max(1)..gained.len()]
            .map(|part| mean(&gained[part]));
    let growing = gained.windows(2).filter(|pair| pair[1] > pair[0]).count();
    if !(first < middle && middle < latest) || latest < GROWTH * first || growing * 3 < (gained.len() - 1) * 2 {
        return None;
    }
    let each = slope(&gained);
    let room = limit.saturating_sub(last.before + last.gained) as f64;
    if each <= 0.0 || room / each > SOON_RUNS {
        return None;
    }
    let left = (room / each).floor() as u64;
    Some(Problem {
        subject: format!("job:{name}"),
        confidence: 0.7,
        sentence: format!(
            "the job `{name}` gained {} of memory in its last run, about {} more with each of the last {} runs; in {left} more runs it will \
             not fit into the limit of {}",
            bytes(last.gained),
            bytes(each as u64),
            runs.len(),
            bytes(limit),
        ),
        evidence: json!({
            "where": [["kind", "=", "job"], ["method", "=", name]], "by": ["method"],
            "measures": ["count", "max(duration_ms)"], "per": "1h",
        }),
        event: Some(last.event),
        guards: vec![
            Guard::passed("runs of which it gained more than in the one before", growing as u64),
            Guard::passed("bytes that are left below the limit", room as u64),
        ],
        ..Problem::default()
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The median of the slopes between all pairs (Theil-Sen), which single runs cannot bend.
fn slope(values: &[f64]) -> f64 {
    let pairs = (0..values.len()).flat_map(|one| (one + 1..values.len()).map(move |other| (one, other)));
    let mut slopes: Vec<f64> = pairs.map(|(one, other)| (values[other] - values[one]) / (other - one) as f64).collect();
    slopes.sort_by(f64::total_cmp);
    slopes.get(slopes.len() / 2).copied().unwrap_or(0.0)
}
