//! What was cached of a removed or changed upstream stays, because the job that deletes it fails.

use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::signals::seen::Seen;
use serde_json::json;
use std::time::Duration;

/// The job that deletes it.
const JOB: &str = "forget";

pub(super) const CHECK: Check = Check {
    key: "removed-content-stays",
    kind: FindingKind::Failure,
    about: "Files and facts of a removed repository, or of a former upstream, stay in the cache, because the job that deletes them failed.",
    when: "a job `forget` failed within a day",
    unless: "",
    after: Duration::ZERO,
    keeps: Check::KEEPS,
    look: |seen| Verdict::Looked(problem(seen).into_iter().collect()),
};

fn problem(seen: &Seen) -> Option<Problem> {
    let job = seen.day.jobs.0.get(JOB).filter(|job| job.failed > 0)?;
    let facts = seen.recent.caches.of(telemetry::CacheName::Facts);
    let sentence = format!(
        "files and facts of a removed repository or of a former upstream stay in the cache: the job `{JOB}` that deletes them failed {} times \
         within a day, and its event says why; the cache has {} of facts; restore the repository and remove it again, once that is repaired",
        job.failed,
        super::size::show(facts.used),
    );
    Some(Problem {
        subject: format!("job:{JOB}"),
        lost: Lost::default(),
        confidence: 0.9,
        sentence,
        evidence: json!({ "where": [["kind", "=", "job"], ["method", "=", JOB]], "by": ["outcome", "reason"], "measures": ["count"] }),
        event: job.failure.event,
        guards: vec![Guard::passed("jobs that failed within a day", job.failed)],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::jobs::JobSeen;
    use crate::signals::worst::Worst;
    use telemetry::EventId;

    fn found(runs: u64, failed: u64) -> Option<Problem> {
        let mut seen = Seen::default();
        let failure = Worst { nanos: 5, event: Some(EventId(3)) };
        seen.day.jobs.0.insert(JOB, JobSeen { runs, failed, failure, ..JobSeen::default() });
        problem(&seen)
    }

    #[test]
    fn a_failed_job_is_told_with_its_event_although_others_succeeded() {
        assert_eq!(found(1, 1).unwrap().event, Some(EventId(3)));
        assert!(found(9, 1).is_some() && found(1, 0).is_none());
    }
}
