//! Nothing, or no content, is written.

use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::signals::reasons::ReasonSeen;
use crate::signals::seen::Seen;
use serde_json::json;
use std::time::Duration;
use telemetry::Reason;

/// Why a request is refused while nothing is written.
const REFUSED: [Reason; 5] = [
    Reason::DiskNearlyFull,
    Reason::StorePoisoned,
    Reason::ClockDoubted,
    Reason::TruthUnreachable,
    Reason::ObjectsAway,
];

pub(super) const CHECK: Check = Check {
    key: "read-only",
    kind: FindingKind::Failure,
    about: "Nothing is written: the disk is full or below its floor, a sync failed, the clock is in doubt, or PostgreSQL or object storage cannot be used",
    when: "the server only reads",
    unless: "",
    after: Duration::ZERO,
    keeps: Duration::from_secs(60),
    look,
};

fn look(seen: &Seen) -> Verdict {
    let Some(why) = &seen.facts.program.read_only else { return Verdict::QUIET };
    let refused: Vec<(&str, &ReasonSeen)> =
        REFUSED.into_iter().flat_map(|reason| seen.recent.reasons.of(reason)).collect();
    let requests: u64 = refused.iter().map(|(_, seen)| seen.requests).sum();
    let mut sentence = format!("the server only reads: {}", why.why);
    if requests > 0 {
        sentence += &format!("; {requests} requests were refused for this in five minutes");
    }
    let evidence = json!({
        "measures": ["count"], "by": ["repository", "reason"],
        "where": [{ "any": REFUSED.map(|reason| json!(["reason", "=", reason.as_str()])) }],
    });
    Verdict::Looked(vec![Problem {
        subject: if why.is_for_space { "disk" } else { "server" }.to_owned(),
        lost: Lost::of(refused.iter().map(|(name, seen)| (*name, seen.nanos as f64 / 1e9))),
        confidence: 1.0,
        sentence,
        changes: if why.is_for_space { vec![Change::by_command("daylight cleanup".to_owned())] } else { Vec::new() },
        evidence,
        event: refused.iter().find_map(|(_, seen)| seen.event),
        guards: vec![Guard::passed("requests refused", requests)],
        ..Problem::default()
    }])
}

#[cfg(test)]
mod tests {
    use super::super::told::{found, told};
    use super::*;
    use crate::signals::program::{ProgramFacts, ReadOnlyFact};
    use telemetry::EventId;

    #[test]
    fn a_server_that_only_reads_is_told_with_the_requests_that_it_refuses() {
        assert!(found(&CHECK, &told(ProgramFacts::default())).is_empty());
        let read_only = |is_for_space| {
            let why = ReadOnlyFact { why: "the disk is full".into(), is_for_space };
            told(ProgramFacts { read_only: Some(why), ..ProgramFacts::default() })
        };
        let problem = found(&CHECK, &read_only(false)).remove(0);
        assert_eq!((problem.subject.as_str(), problem.changes.len()), ("server", 0));
        assert_eq!(problem.sentence, "the server only reads: the disk is full");
        let mut seen = read_only(true);
        let refused =
            ReasonSeen { requests: 3, nanos: 2_000_000_000, event: Some(EventId(7)), ..ReasonSeen::default() };
        seen.recent.reasons.0.insert((Reason::DiskNearlyFull, "gems".into()), refused);
        let problem = found(&CHECK, &seen).remove(0);
        assert_eq!((problem.subject.as_str(), problem.event), ("disk", Some(EventId(7))));
        assert!(problem.sentence.ends_with("; 3 requests were refused for this in five minutes"));
        assert_eq!(problem.lost.by_repository.get("gems"), Some(&2.0));
    }
}
