//! A member was asked a thousand times, never had anything, and requests waited for that.

use super::advice;
use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::wording;
use crate::signals::members::MemberSeen;
use crate::signals::seen::Seen;
use serde_json::json;

pub(super) const CHECK: Check = Check {
    key: "member-never-decides",
    kind: FindingKind::Cause,
    about: "A member of a group never has anything, and requests wait for its answers",
    when: "it was asked 1,000 times or more in a day and had nothing; in five minutes requests waited for it 5 s or more",
    unless: "that is less than 1 % of the time of all requests",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let all = seen.recent.members.all();
    Verdict::Looked(all.filter_map(|(group, name, member)| problem(seen, group, name, member)).collect())
}

fn problem(seen: &Seen, group: &str, name: &str, member: &MemberSeen) -> Option<Problem> {
    let lost = advice::seconds(member.vain_nanos());
    if !advice::never_decides(seen, group, name) || !advice::is_worth_telling(seen, lost) {
        return None;
    }
    let [of, _] = advice::asked_by_file(seen, group, name)?;
    let day = seen.day.members.of(group, name)?;
    let change = advice::without(of, name);
    let then = if change.is_some() {
        "Without it they wait for nothing; add `--preview` to see that no answer of the last day changes"
    } else {
        "Take it out of the group that has it as a member"
    };
    let sentence = format!(
        "`{name}` had none of the {} files and lists that `{group}` asked it for in the last day, so it has fewer than {:.1} % of such \
         names, and requests waited {} for it in {}, up to {} each. {then}",
        day.asked,
        300.0 / day.asked as f64,
        wording::seconds(lost),
        wording::length(&seen.recent),
        wording::seconds(advice::seconds(member.worst.nanos)),
    );
    Some(Problem {
        subject: format!("member:{group}/{name}"),
        lost: Lost::of([(group, lost)]),
        // The rule of three.
        confidence: 0.95,
        sentence,
        changes: change.into_iter().collect(),
        evidence: json!({
            "where": [["repository", "=", group], ["slowest_member", "=", name], ["answered_by", "!=", name]],
            "by": ["answered_by", "status"],
            "measures": ["count", "sum(slowest_member_ms)", "max(slowest_member_ms)"],
        }),
        event: member.worst.event,
        guards: vec![
            Guard::passed("requests of the last day", day.asked),
            Guard::passed("answers with something", day.hits),
            Guard::passed("share of the time of all requests", advice::share(seen, lost)),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, slow, staged, with};
    use super::*;

    fn told(asked: u64, hits: u64, order_ms: u64, nobody_ms: u64, all_s: f64) -> Vec<Problem> {
        let change = |group: &mut _| {
            let slow = slow(group);
            (slow.asked, slow.hits) = (asked, hits);
            (slow.order_nanos, slow.nobody_nanos) = (order_ms * 1_000_000, nobody_ms * 1_000_000);
        };
        found(look(&with(staged(), change, all_s)))
    }

    #[test]
    fn it_names_the_member_and_the_command_that_takes_it_out() {
        let found = told(1500, 0, 9000, 6000, 100.0);
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*problem.subject, problem.lost.recent_s), ("member:company/slow", 15.0));
        let command = problem.changes[0].command.as_deref();
        assert_eq!(command, Some("daylight repo set company --member ours --member central"));
        assert!(problem.sentence.contains("fewer than 0.2 % of such names"), "{}", problem.sentence);
    }

    #[test]
    fn each_guard_alone_silences_it() {
        assert_eq!(told(1000, 0, 2500, 2500, 100.0).len(), 1, "just enough");
        assert!(told(999, 0, 2500, 2500, 100.0).is_empty(), "asked too rarely");
        assert!(told(1000, 1, 2500, 2500, 100.0).is_empty(), "it had something");
        assert!(told(1000, 0, 2500, 2499, 100.0).is_empty(), "too few seconds");
        assert!(told(1000, 0, 2500, 2500, 501.0).is_empty(), "a small part of all");
    }
}
