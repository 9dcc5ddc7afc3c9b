//! A member of a group fails, and answers of the group are errors or lack its part.

use super::advice;
use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::wording;
use crate::signals::members::MemberSeen;
use crate::signals::seen::Seen;
use serde_json::json;

/// The fewest failures in five minutes.
const FAILED_MIN: u64 = 10;
/// The least share of the requests for which it was asked.
const SHARE_MIN: f64 = 0.2;

pub(super) const CHECK: Check = Check {
    key: "member-fails",
    kind: FindingKind::Failure,
    about: "A member of a group fails, so answers of the group are errors or lack its part",
    when: "in five minutes it failed 10 times or more, and 20 % of the times that it was asked",
    unless: "",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let all = seen.recent.members.all();
    Verdict::Looked(all.filter_map(|(group, name, member)| problem(seen, group, name, member)).collect())
}

fn problem(seen: &Seen, group: &str, name: &str, member: &MemberSeen) -> Option<Problem> {
    let share = member.failed as f64 / member.asked.max(1) as f64;
    if member.failed < FAILED_MIN || share < SHARE_MIN {
        return None;
    }
    let fact = seen.facts.repository(name)?;
    let host = fact.host.as_ref().map_or_else(String::new, |host| format!(" (its upstream is `{host}`)"));
    let lost = advice::seconds(member.failed_nanos);
    let errors = match member.failed_answers {
        0 => "its last known answers or those of other members were sent".to_owned(),
        errors => format!("{errors} answers were errors, because nobody knows then whether a file exists"),
    };
    let sentence = format!(
        "`{name}`{host} failed {} of the {} times that `{group}` asked it in {}: {errors}. Requests waited {} for it",
        member.failed,
        member.asked,
        wording::length(&seen.recent),
        wording::seconds(lost),
    );
    Some(Problem {
        subject: format!("member:{group}/{name}"),
        lost: Lost::of([(group, lost)]),
        confidence: 0.9,
        sentence,
        changes: Vec::new(),
        evidence: json!({
            "where": [["repository", "=", group], ["members_said", "contains", format!("{name}:")]],
            "by": ["status", "reason"],
            "measures": ["count", "max(slowest_member_ms)"],
        }),
        event: member.worst_failed.event,
        guards: vec![Guard::passed("failures", member.failed), Guard::passed("share of its answers", share)],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, slow, staged, with};
    use super::*;

    fn told(asked: u64, failed: u64, errors: u64) -> Vec<Problem> {
        let change = |group: &mut _| {
            let slow = slow(group);
            (slow.asked, slow.failed, slow.failed_answers, slow.failed_nanos) = (asked, failed, errors, 2_000_000_000);
        };
        found(look(&with(staged(), change, 100.0)))
    }

    #[test]
    fn it_tells_how_often_a_member_failed_and_what_clients_got() {
        let found = told(50, 40, 12);
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*problem.subject, problem.lost.recent_s), ("member:company/slow", 2.0));
        assert!(problem.sentence.starts_with("`slow` failed 40 of the 50 times"), "{}", problem.sentence);
        assert!(problem.sentence.contains("12 answers were errors"), "{}", problem.sentence);
    }

    #[test]
    fn each_guard_alone_silences_it() {
        assert_eq!(told(50, 10, 0).len(), 1, "just enough");
        assert!(told(10, 9, 0).is_empty(), "too few");
        assert!(told(51, 10, 0).is_empty(), "a small part");
    }
}
