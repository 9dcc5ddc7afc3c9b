//! Upstreams are asked again and again for the same names that none of them has.

use super::advice;
use super::facts_at_wrong_level::alone;
use super::private;
use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::gauge::Gauge;
use crate::findings::saves::Saves;
use crate::findings::turned::Turned;
use crate::findings::wording;
use crate::signals::facts::RepositoryFact;
use crate::signals::members::MemberSeen;
use crate::signals::prefixes::PrefixSeen;
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
/// The same in seconds.
const DEFAULT_S: u64 = 300;

pub(super) const CHECK: Check = Check {
    key: "names-asked-in-vain",
    kind: FindingKind::Cause,
    about: "An upstream is asked again and again for the same names that no member has",
    when: "in five minutes it was called 50 times or more for files that nobody has, 5 times or more for each, and requests waited for \
           that 5 s or more",
    unless: "that is less than 1 % of the time of all requests, or `--missing` of the upstream is set to a minute or longer",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let all = seen.recent.members.all();
    Verdict::Looked(all.filter_map(|(group, name, member)| problem(seen, group, name, member)).collect())
}

fn problem(seen: &Seen, group: &str, name: &str, member: &MemberSeen) -> Option<Problem> {
    let [of, fact] = advice::asked_by_file(seen, group, name)?;
    // Somebody decided about it, perhaps since the calls: the finding then keeps the words that it has.
    if fact.missing_s.is_some_and(|ttl| ttl >= SHORT_S) {
        return None;
    }
    let is_again = |(prefix, seen): &&(Box<str>, PrefixSeen)| {
        // With a rule in force, the calls came before it was set.
        seen.missing >= REPEATED_MIN * seen.missing_paths.count().max(1) && !private::is_kept([of, fact], prefix)
    };
    let again: Vec<_> = member.prefixes.list.iter().filter(is_again).collect();
    let sum = |figure: fn(&PrefixSeen) -> u64| again.iter().map(|(_, seen)| figure(seen)).sum::<u64>();
    let [calls, names] = [sum(|seen| seen.missing), sum(|seen| seen.missing_paths.count())];
    // One call for each name is necessary.
    let lost = advice::seconds(sum(|seen| seen.missing_nanos)) * (1.0 - names as f64 / calls.max(1) as f64);
    if calls < CALLS_MIN || !advice::is_worth_telling(seen, lost) {
        return None;
    }
    let (worst, _) = again.iter().max_by_key(|(_, seen)| seen.missing_nanos)?;
    let (change, why) = advise(seen, [of, fact], worst);
    let sentence = format!(
        "`{group}` called `{name}` {calls} times in {} for about {names} names that no member has, most of them below `{worst}`, \
         and requests waited {} for that. {why}",
        wording::length(&seen.recent),
        wording::seconds(lost),
    );
    Some(Problem {
        subject: format!("member:{group}/{name}"),
        lost: Lost::of([(group, lost)]),
        saves: Some(Saves::new(lost * alone(member), Gauge::group(group))),
        confidence: 0.9,
        sentence,
        changes: change.into_iter().collect(),
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

/// The change that spares the calls, and why. A rule for a prefix hides all its names, so it is advised only if no upstream has any.
fn advise(seen: &Seen, facts: [&RepositoryFact; 2], worst: &str) -> (Option<Change>, String) {
    let [of, member] = facts;
    if let Some(ttl) = member.missing_s.filter(|ttl| *ttl < SHORT_S) {
        let change = Change::turning(
            format!("daylight repo set {} --missing {DEFAULT}", member.name),
            Turned::Negative(member.name.clone()),
            json!(DEFAULT_S),
        );
        let why = format!(
            "Its answer that it lacks a file is cached for {ttl} s only; for five minutes, most of these calls are spared"
        );
        return (Some(change), why);
    }
    if !advice::has_hours(seen) || private::may_exist(seen, of, worst) {
        let why = "Upstreams may have other names there, so these have to be left to the clients that ask for them: the question shows \
                   their paths";
        return (None, why.to_owned());
    }
    let why = format!(
        "No upstream had any name there in {}. With a rule that none is asked for `{worst}` they are answered at once, and no upstream \
         learns the names. The command shows which answers would change; without `--preview` the rule is set",
        advice::period(seen)
    );
    (Some(private::keep(of, worst)), why)
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, slow, staged, with};
    use super::*;
    use crate::signals::members::GroupSeen;

    fn missing(calls: u64, names: u64, ms: u64) -> PrefixSeen {
        let mut prefix = PrefixSeen { missing: calls, missing_nanos: ms * 1_000_000, ..PrefixSeen::default() };
        (0..names).for_each(|n| prefix.missing_paths.add(&format!("com/acme/{n}/1/{n}-1.pom")));
        prefix
    }

    fn told(calls: u64, names: u64, ms: u64, all_s: f64, missing_s: Option<u64>) -> Vec<Problem> {
        let change =
            |group: &mut GroupSeen| slow(group).prefixes.list.push(("com.acme".into(), missing(calls, names, ms)));
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
        assert_eq!(found[0].changes[0].command.as_deref(), Some(RULE));
    }

    const RULE: &str = "daylight repo set company --private-prefix com.acme --preview";

    /// The command that is advised after this uptime in hours, if this changes the figures, too.
    fn advised(hours: u64, change: impl FnOnce(&mut GroupSeen)) -> Option<String> {
        let both = |group: &mut GroupSeen| {
            slow(group).prefixes.list.push(("com.acme".into(), missing(100, 10, 10_000)));
            change(group);
        };
        let uptime = std::time::Duration::from_secs(hours * 3600);
        let [problem] = &found(look(&Seen { uptime, ..with(staged(), both, 100.0) }))[..] else { panic!("not told") };
        problem.changes.first().and_then(|change| change.command.clone())
    }

    #[test]
    fn a_rule_for_a_prefix_is_advised_only_if_no_upstream_may_have_names_with_it() {
        let has = |prefix: &str| {
            let hit = (prefix.into(), PrefixSeen { hits: 1, ..PrefixSeen::default() });
            move |group: &mut GroupSeen| group.members[1].1.prefixes.list.push(hit)
        };
        assert_eq!(advised(4, |_| ()).as_deref(), Some(RULE));
        assert_eq!(advised(4, has("org.other")).as_deref(), Some(RULE));
        assert_eq!(advised(4, has("com.acme")), None, "another one had something");
        assert_eq!(advised(4, |group| slow(group).prefixes.list[0].1.hits = 1), None, "it had something itself");
        assert_eq!(advised(4, |group| group.members[1].1.prefixes.has_others = true), None, "it is not known");
        assert_eq!(advised(3, |_| ()), None, "too short");
    }

    #[test]
    fn the_prefix_is_one_that_was_asked_for_again_and_again_and_a_rule_in_force_ends_it() {
        let dearer = |group: &mut GroupSeen| {
            slow(group).prefixes.list.push(("org.once".into(), missing(100, 100, 90_000)));
        };
        assert_eq!(advised(24, dearer).as_deref(), Some(RULE), "each name of the other one was asked for once");
        let change = |group: &mut GroupSeen| {
            slow(group).prefixes.list.push(("com.acme".into(), missing(100, 10, 10_000)));
        };
        let mut seen = with(staged(), change, 100.0);
        let facts = std::sync::Arc::get_mut(&mut seen.facts).unwrap();
        let company = facts.repositories.iter_mut().find(|fact| fact.name == "company").unwrap();
        company.private_prefixes.push("com".to_owned());
        assert!(found(look(&seen)).is_empty());
    }

    #[test]
    fn each_guard_alone_silences_it() {
        assert_eq!(told(50, 10, 6300, 100.0, None).len(), 1, "just enough");
        assert!(told(49, 9, 7000, 100.0, None).is_empty(), "too few calls");
        assert!(told(50, 15, 9000, 100.0, None).is_empty(), "too many names");
        assert!(told(50, 10, 5900, 100.0, None).is_empty(), "too few seconds");
        assert!(told(50, 10, 6300, 600.0, None).is_empty(), "a small part of all");
        assert_eq!(told(50, 10, 6300, 100.0, Some(59)).len(), 1);
        assert!(told(50, 10, 6300, 100.0, Some(60)).is_empty(), "the advice was taken");
    }
}
