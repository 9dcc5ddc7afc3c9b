//! A receiver of alerts takes none.

use crate::findings::check::{Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::program::ReceiverFact;
use crate::signals::seen::Seen;
use serde_json::json;
use std::time::Duration;

/// Attempts that failed one after the other, at least. One may fail while the receiver restarts.
const ATTEMPTS: u64 = 3;

pub(super) const CHECK: Check = Check {
    key: "alerts-do-not-arrive",
    kind: FindingKind::Failure,
    about: "A receiver of alerts takes none: nobody learns of findings from it",
    when: "the last 3 attempts or more failed, or it refused an alert for good",
    unless: "the receiver takes alerts again within the five minutes of a pending finding",
    after: Check::AFTER,
    // One that takes alerts at times would open and close it again and again.
    keeps: Duration::from_secs(10 * 60),
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.facts.program.receivers.iter().filter_map(problem).collect())
}

fn problem(receiver: &ReceiverFact) -> Option<Problem> {
    let ReceiverFact { name, since, why, attempts, waiting, refused } = receiver;
    (*attempts >= ATTEMPTS || *refused > 0).then(|| Problem {
        subject: format!("receiver:{name}"),
        confidence: 1.0,
        sentence: format!(
            "the receiver `{name}` of alerts has taken none since {since}, and {}: {why}; `daylight alerts test {name}` tries again",
            match waiting {
                _ if *refused > 0 => format!("it refused {refused} for good"),
                0 => "none waits for it".to_owned(),
                1 => "1 waits for it".to_owned(),
                _ => format!("{waiting} wait for it"),
            }
        ),
        evidence: json!({
            "measures": ["count"], "by": ["outcome", "reason"],
            "where": [["method", "=", "alert.send"], ["path", "=", format!("alerts/{name}")]],
        }),
        guards: vec![Guard::passed("failed attempts", *attempts)],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::told::{NOON, found, told};
    use super::*;
    use crate::signals::program::ProgramFacts;

    #[test]
    fn three_failed_attempts_are_told_with_their_cause_and_two_are_not() {
        let says = |attempts, refused| {
            let (name, why) = ("pager".into(), "it is silent".into());
            let receiver = ReceiverFact { name, since: NOON, why, attempts, waiting: 2, refused };
            let seen = told(ProgramFacts { receivers: vec![receiver], ..ProgramFacts::default() });
            found(&CHECK, &seen).pop().map(|problem| problem.sentence)
        };
        assert_eq!(says(2, 0), None);
        assert!(says(1, 1).unwrap().contains("it refused 1 for good: it is silent"));
        let said = says(3, 0).unwrap();
        assert!(
            said.contains("`pager` of alerts has taken none since") && said.contains("2 wait for it: it is silent"),
            "{said}"
        );
    }
}
