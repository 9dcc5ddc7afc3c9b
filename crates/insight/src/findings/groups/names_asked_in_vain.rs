//! Upstreams are asked again and again for the same names that none of them has.

use super::advice;
use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::wording;
use crate::signals::members::MemberSeen;
use crate::signals::seen::Seen;
use serde_json::json;

/// The fewest calls in five minutes.
const CALLS_MIN: u64 = 50;
/// The fewest calls for each name.
const REPEATED_MIN: u64 = 5;
/// A TTL of negative answers, in seconds, below which that is the reason.
const SHORT_S: u64 = 60;
/// The default TTL of negative answers.
const DEFAULT: &str = "5m";

pub(super) const CHECK: Check = Check {
    key: "names-asked-in-vain",
    kind: FindingKind::Cause,
    about: "An upstream is asked again and again for the same names that no member has",
    when: "in five minutes it was called 50 times or more for files that nobody has, 5 times or more for each, and requests waited for \
           that 5 s or more",
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
    let (calls, names, nanos) = member.prefixes.list.iter().fold((0, 0, 0), |(calls, names, nanos), (_, prefix)| {
        let again = prefix.missing >= REPEATED_MIN * prefix.missing_paths.count().max(1);
        if again {
            (calls + prefix.missing, names + prefix.missing_paths.count(), nanos + prefix.missing_nanos)
        } else {
            (calls, names, nanos)
        }
    });
    // One call for each name is necessary.
    let lost = advice::seconds(nanos) * (1.0 - names as f64 / calls.max(1) as f64);
    if calls < CALLS_MIN || !advice::is_worth_telling(seen, lost) {
        return None;
    }
    let [of, fact] = advice::asked_by_file(seen, group, name)?;
    let (worst, _) = member.prefixes.list.iter().max_by_key(|(_, seen)| seen.missing_nanos)?;
    let (change, why) = match fact.missing_s {
        Some(ttl) if ttl < SHORT_S => (
            Change::by_command(format!("daylight repo set {name} --missing {DEFAULT}")),
            format!(
                "Its answer that it lacks a file is cached for {ttl} s only; for five minutes, most of these calls are spared"
            ),
        ),
        _ => (
            advice::private(of, worst),
            format!(
                "With a rule that no upstream is asked for `{worst}` they are answered at once, and no upstream learns the names"
            ),
        ),
    };
    let sentence = format!(
        "`{group}` called `{name}` {calls} times in {} for about {names} names that no member has, most of them below `{worst}`, \
         and requests waited {} for that. {why}",
        wording::length(&seen.recent),
        wording::seconds(lost),
    );
    Some(Problem {
        subject: format!("member:{group}/{name}"),
        lost: Lost::of([(group, lost)]),
        confidence: 0.9,
        sentence,
        changes: vec![change],
        evidence: json!({
            "where": [["repository", "=", group], ["status", "=", 404], ["slowest_member", "=", name]],
            "by": ["path"],
            "measures": ["count", "sum(slowest_member_ms)"],
        }),
        event: member.worst.event,
        guards: vec![
            Guard::passed("calls for what nobody has", calls),
            Guard::passed("names", names),
            Guard::passed("share of the time of all requests", advice::share(seen, lost)),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, slow, staged, with};
    use super::*;
    use crate::signals::members::GroupSeen;
    use crate::signals::prefixes::PrefixSeen;

    fn told(calls: u64, names: u64, ms: u64, all_s: f64, missing_s: Option<u64>) -> Vec<Problem> {
        let change = |group: &mut GroupSeen| {
            let nanos = ms * 1_000_000;
            let mut prefix = PrefixSeen { missing: calls, missing_nanos: nanos, ..PrefixSeen::default() };
            (0..names).for_each(|n| prefix.missing_paths.add(&format!("com/acme/{n}/1/{n}-1.pom")));
            slow(group).prefixes.list.push(("com.acme".into(), prefix));
        };
        let mut seen = staged();
        let facts = std::sync::Arc::get_mut(&mut seen.facts).unwrap();
        facts.repositories.iter_mut().find(|fact| fact.name == "slow").unwrap().missing_s = missing_s;
        found(look(&with(seen, change, all_s)))
    }

    #[test]
    fn it_names_the_member_and_the_ttl_or_the_rule() {
        let found = told(100, 10, 10_000, 100.0, Some(0));
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert_eq!(&*problem.subject, "member:company/slow");
        assert!((problem.lost.recent_s - 9.0).abs() < 0.3, "{}", problem.lost.recent_s);
        assert_eq!(problem.changes[0].command.as_deref(), Some("daylight repo set slow --missing 5m"));
        let found = told(100, 10, 10_000, 100.0, None);
        assert_eq!(found[0].changes[0].command.as_deref(), Some("daylight repo set company --private-prefix com.acme"));
    }

    #[test]
    fn each_guard_alone_silences_it() {
        assert_eq!(told(50, 10, 6300, 100.0, None).len(), 1, "just enough");
        assert!(told(49, 9, 7000, 100.0, None).is_empty(), "too few calls");
        assert!(told(50, 15, 9000, 100.0, None).is_empty(), "too many names");
        assert!(told(50, 10, 5900, 100.0, None).is_empty(), "too few seconds");
        assert!(told(50, 10, 6300, 600.0, None).is_empty(), "a small part of all");
    }
}
