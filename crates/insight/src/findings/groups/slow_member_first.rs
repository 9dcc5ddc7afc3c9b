//! A member answers slowly that it lacks files, and is before a member that has them, so requests wait for it.

use super::advice;
use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::gauge::Gauge;
use crate::findings::saves::Saves;
use crate::findings::turned::Turned;
use crate::findings::wording;
use crate::signals::facts::RepositoryFact;
use crate::signals::members::MemberSeen;
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::BoundName;

/// The fewest files that waited for it in five minutes.
const FILES_MIN: u64 = 5;
/// The least mean wait of an hour, in nanoseconds: a member that is a little slower than the others is none.
const MEAN_MIN: u64 = 50_000_000;

pub(super) const CHECK: Check = Check {
    key: "slow-member-first",
    kind: FindingKind::Cause,
    about: "Files of a group wait for a member that lacks them, because it is before the member that has them",
    when: "in five minutes 5 files or more waited for it, together 5 s or more",
    unless: "they waited less than 50 ms each in the last hour, or less than 1 % of the time of all requests",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let all = seen.recent.members.all();
    Verdict::Looked(all.filter_map(|(group, name, member)| problem(seen, group, name, member)).collect())
}

fn problem(seen: &Seen, group: &str, name: &str, member: &MemberSeen) -> Option<Problem> {
    if member.held_up < FILES_MIN || !advice::is_worth_telling(seen, advice::seconds(member.order_nanos)) {
        return None;
    }
    let once = once(seen, member);
    let lost = advice::seconds(member.order_nanos) * once;
    // The sums of the hour may be some minutes old.
    let hour = seen.hour.members.of(group, name).filter(|hour| hour.held_up >= member.held_up).unwrap_or(member);
    let mean = hour.order_nanos.checked_div(hour.held_up)?;
    let is_slow = mean >= MEAN_MIN && advice::is_worth_telling(seen, lost);
    // `member-never-decides` has a better advice then.
    if !is_slow || advice::never_decides(seen, group, name) {
        return None;
    }
    let [of, fact] = advice::asked_by_file(seen, group, name)?;
    let (change, why) = advise(seen, of, fact)?;
    // Asked last, it delays lists and what nobody has as before; asked for its own names alone, it delays nothing.
    let is_moved = change.as_ref().is_none_or(|change| matches!(change.turns, Some(Turned::Members(_))));
    let spared = if is_moved { member.order_spared } else { member.vain_spared };
    let sentence = format!(
        "requests through `{group}` waited {} in {} for `{name}`, which lacked what they wanted and was asked before the member \
         that had it: {} files, up to {} each. {why}",
        wording::seconds(lost),
        wording::length(&seen.recent),
        member.held_up,
        wording::seconds(advice::seconds(member.worst_order.nanos)),
    );
    Some(Problem {
        subject: format!("member:{group}/{name}"),
        lost: Lost::of([(group, lost)]),
        saves: Some(Saves::new(advice::seconds(spared) * once, Gauge::group(group))),
        confidence: 0.95,
        sentence,
        changes: change.into_iter().collect(),
        evidence: json!({
            "where": [["repository", "=", group], ["slowest_member", "=", name], ["answered_by", "!=", ""], ["answered_by", "!=", name]],
            "by": ["answered_by"],
            "measures": ["count", "sum(slowest_member_ms)", "max(slowest_member_ms)"],
        }),
        event: member.worst_order.event,
        guards: vec![
            Guard::passed("files that waited for it", member.held_up),
            Guard::passed("mean wait of the last hour in ms", mean / 1_000_000),
            Guard::passed("share of the time of all requests", advice::share(seen, lost)),
        ],
    })
}

/// The share of its calls that would be made if no facts were forgotten. `group-facts-too-small` tells the others.
fn once(seen: &Seen, member: &MemberSeen) -> f64 {
    let facts = seen.recent.bounds.of(BoundName::Facts, "");
    if !facts.is_some_and(super::group_facts_too_small::is_full) {
        return 1.0;
    }
    1.0 - super::group_facts_too_small::repeated(member)
}

/// The change that ends the wait, and why it is safe or not. `None`: such a change was made since, so nothing waits any more.
fn advise(seen: &Seen, group: &RepositoryFact, member: &RepositoryFact) -> Option<(Option<Change>, String)> {
    let [recent, day] = [&seen.recent, &seen.day].map(|window| window.members.of(&group.name, &member.name));
    let is_last = group.leaves.last().is_some_and(|last| *last == member.name);
    if is_last || !group.leaves.contains(&member.name) || is_restricted(member, recent?) {
        return None;
    }
    // The sums of the day may be some minutes old.
    let day = day.into_iter().chain(recent).max_by_key(|seen| seen.asked)?;
    let names = day.prefixes.with_hits();
    let names = names.filter(|names| !names.is_empty() && names.len() <= advice::WORDS_MAX && member.only.is_empty());
    if let Some(names) = names {
        let patterns: Vec<String> = names.iter().map(|name| format!("{name}*")).collect();
        let change = advice::policy(
            Turned::Names(member.name.clone()),
            &member.name,
            "only",
            patterns.iter().map(String::as_str),
        );
        let all = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let short = if advice::has_hours(seen) { "" } else { ". That is a short time: wait some hours" };
        let why = format!(
            "`{0}` has had files below {all} alone in {1}{short}. If it is asked for these alone, nothing else waits for it, and no other \
             member can take over their names; other names of it are hidden then. The command shows which answers would change; without \
             `--preview` the rule is set",
            member.name,
            advice::period(seen),
        );
        return Some((Some(advice::previewed(change)), why));
    }
    let had = if day.hits == 0 { "none".to_owned() } else { day.hits.to_string() };
    let (files, period) = (day.hits + day.not_found, advice::period(seen));
    let had = format!("`{}` had {had} of the {files} files that it was asked for in {period}", member.name);
    let last = advice::asked_last(group, &member.name);
    let then = match (&last, advice::holder(seen, group, &member.name)) {
        (Some(_), _) if day.hits == 0 => {
            "Asked last, it delays none of these; a name that two members have then comes from the other one. The command shows which answers \
             would change; without `--preview` the order is set"
                .to_owned()
        }
        (Some(_), _) => {
            "Asked last, it delays none of these, but a name that two members have then comes from the other one, and anybody may publish \
             such names where everybody can. The command shows which answers would change; without `--preview` the order is set"
                .to_owned()
        }
        (None, Some(holder)) if holder.leaves.last().is_some_and(|last| *last == member.name) => format!(
            "It is the last member of `{0}`, and `{0}` is asked before the others: with another order of `{1}`, names of all members of \
             `{0}` may come from others",
            holder.name, group.name
        ),
        (None, Some(holder)) => format!("It is a member of `{}`: change the order there", holder.name),
        (None, None) => "The order has been changed since".to_owned(),
    };
    Some((last.map(advice::previewed), format!("{had}. {then}")))
}

/// Whether what waited for it has no name for which it may be asked: a rule was set since.
fn is_restricted(member: &RepositoryFact, recent: &MemberSeen) -> bool {
    let rules: Option<Vec<&str>> = member.only.iter().map(|pattern| pattern.strip_suffix('*')).collect();
    let Some(rules) = rules.filter(|rules| !rules.is_empty() && !rules.iter().any(|rule| rule.contains('*'))) else {
        return false;
    };
    let mut waited = recent.prefixes.list.iter().filter(|(_, seen)| seen.others > 0).map(|(prefix, _)| &**prefix);
    let is_asked = |prefix: &str| rules.iter().any(|rule| rule.starts_with(prefix) || prefix.starts_with(rule));
    waited.clone().next().is_some() && !waited.any(is_asked)
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, slow, staged, with};
    use super::*;
    use crate::signals::members::GroupSeen;
    use crate::signals::prefixes::PrefixSeen;

    /// So many files that waited so many milliseconds each.
    fn waits(files: u64, ms: u64) -> impl FnOnce(&mut GroupSeen) {
        move |group| {
            let slow = slow(group);
            (slow.asked, slow.not_found, slow.held_up) = (files, files, files);
            slow.order_nanos = files * ms * 1_000_000;
            slow.worst_order.nanos = ms * 1_000_000;
        }
    }

    #[test]
    fn it_names_the_member_its_cost_and_the_order() {
        let found = found(look(&with(staged(), waits(42, 2000), 100.0)));
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert_eq!(
            (&*problem.subject, problem.lost.recent_s, problem.lost.hourly_s),
            ("member:company/slow", 84.0, 1008.0)
        );
        let command = problem.changes[0].command.as_deref();
        assert_eq!(command, Some("daylight repo set company --member ours --member central --member slow --preview"));
        assert!(problem.sentence.starts_with("requests through `company` waited 84 s in five minutes for `slow`"));
        assert!(
            problem.sentence.contains("42 files, up to 2.0 s each. `slow` had none of the 42 files"),
            "{}",
            problem.sentence
        );
    }

    #[test]
    fn a_member_that_has_names_of_its_own_gets_a_rule_that_no_other_member_can_take_over() {
        let seen = with(
            staged(),
            |group| {
                waits(42, 2000)(group);
                let slow = slow(group);
                slow.hits = 3;
                slow.prefixes.list.push(("com.partner".into(), PrefixSeen { hits: 3, ..PrefixSeen::default() }));
            },
            100.0,
        );
        let found = found(look(&seen));
        assert_eq!(
            found[0].changes[0].command.as_deref(),
            Some("daylight repo set slow --only 'com.partner*' --preview")
        );
        assert!(found[0].sentence.contains("below `com.partner` alone"), "{}", found[0].sentence);
    }

    /// The result if 42 files waited, with these figures of `slow` and facts of the repositories.
    fn told(figures: impl FnOnce(&mut MemberSeen), facts: impl FnOnce(&mut Vec<RepositoryFact>)) -> Vec<Problem> {
        let change = |group: &mut GroupSeen| {
            waits(42, 2000)(group);
            figures(slow(group));
        };
        let mut seen = with(staged(), change, 100.0);
        facts(&mut std::sync::Arc::get_mut(&mut seen.facts).unwrap().repositories);
        found(look(&seen))
    }

    fn fact<'a>(facts: &'a mut [RepositoryFact], name: &str) -> &'a mut RepositoryFact {
        facts.iter_mut().find(|fact| fact.name == name).unwrap()
    }

    fn order<'a>(members: &'a [&str]) -> impl FnOnce(&mut Vec<RepositoryFact>) + 'a {
        |facts| {
            let company = fact(facts, "company");
            company.members = members.iter().map(|name| (*name).to_owned()).collect();
            company.leaves.clone_from(&company.members);
        }
    }

    #[test]
    fn once_the_advice_was_taken_it_is_not_told_any_more_so_the_finding_keeps_its_words() {
        assert_eq!(told(|_| (), order(&["ours", "slow", "central"])).len(), 1);
        assert!(told(|_| (), order(&["ours", "central", "slow"])).is_empty(), "it is the last one");
        assert!(told(|_| (), order(&["ours", "central"])).is_empty(), "it is no member");
        let only = |pattern: &'static str, prefix: &'static str| {
            let figures = |slow: &mut MemberSeen| {
                slow.prefixes.list.push((prefix.into(), PrefixSeen { others: 42, ..PrefixSeen::default() }));
            };
            told(figures, |facts| fact(facts, "slow").only.push(pattern.to_owned())).len()
        };
        assert_eq!(only("com.partner*", "org.example"), 0, "it is not asked for these any more");
        assert_eq!(only("com.partner*", "com.partner"), 1);
        assert_eq!(only("com.partner.lamp*", "com.partner"), 1);
        assert_eq!(only("*:lamp", "org.example"), 1, "nobody knows which names that has");
    }

    #[test]
    fn a_member_is_moved_after_a_preview_whether_it_had_something_or_not() {
        let order = "daylight repo set company --member ours --member central --member slow --preview";
        let many = |slow: &mut MemberSeen| (slow.hits, slow.prefixes.has_others) = (1, true);
        let command = told(many, |_| ())[0].changes[0].command.clone().unwrap();
        assert_eq!(command, order);
        let none = told(|_| (), |_| ())[0].changes[0].command.clone().unwrap();
        assert_eq!(none, order);
    }

    #[test]
    fn the_order_of_a_nested_group_is_changed_there() {
        let nested = |members: &'static [&str]| {
            told(
                |_| (),
                |facts| {
                    fact(facts, "company").members = vec!["inner".to_owned(), "central".to_owned()];
                    let names: Vec<String> = members.iter().map(|name| (*name).to_owned()).collect();
                    let inner = RepositoryFact {
                        name: "inner".to_owned(),
                        kind: "group",
                        is_tree: true,
                        members: names.clone(),
                        leaves: names,
                        ..RepositoryFact::default()
                    };
                    facts.push(inner);
                },
            )
        };
        let told = [nested(&["slow", "ours"]), nested(&["ours", "slow"])].map(|mut found| found.pop().unwrap());
        assert!(told.iter().all(|problem| problem.changes.is_empty()), "{told:?}");
        assert!(
            told[0].sentence.ends_with("It is a member of `inner`: change the order there"),
            "{}",
            told[0].sentence
        );
        assert!(told[1].sentence.contains("names of all members of `inner` may come from others"), "{told:?}");
    }

    #[test]
    fn each_guard_alone_silences_it() {
        let quiet = |change, all_s| found(look(&with(staged(), change, all_s))).is_empty();
        assert!(!quiet(waits(5, 1000), 100.0), "just enough");
        assert!(quiet(waits(4, 2000), 100.0), "too few files");
        assert!(quiet(waits(5, 999), 100.0), "too few seconds");
        assert!(quiet(waits(200, 49), 100.0), "not slow");
        assert!(!quiet(waits(200, 50), 100.0));
        assert!(quiet(waits(5, 1000), 501.0), "a small part of all");
        assert!(quiet(waits(1000, 1000), 2000.0), "it never has anything");
    }
}
