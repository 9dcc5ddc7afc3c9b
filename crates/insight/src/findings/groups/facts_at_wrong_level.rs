//! Whole prefixes of names are missing upstream, and each folder below them is asked for by itself.

use super::advice;
use super::private;
use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::gauge::Gauge;
use crate::findings::saves::Saves;
use crate::findings::wording;
use crate::signals::members::{GroupSeen, MemberSeen};
use crate::signals::prefixes::PrefixSeen;
use crate::signals::seen::Seen;
use serde_json::json;
use std::collections::BTreeSet;

/// The fewest folders of a day below one prefix.
const FOLDERS_MIN: u64 = 1000;

pub(super) const CHECK: Check = Check {
    key: "facts-at-wrong-level",
    kind: FindingKind::Cause,
    about: "An upstream lacks a whole prefix of names, and is asked for each folder below it",
    when: "in a day it was asked for 1,000 folders or more below the prefix that no member had, and never had a file there; in five \
           minutes requests waited for it 5 s or more",
    unless: "that is less than 1 % of the time of all requests, or the member never has anything at all",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let mut problems = Vec::new();
    for (group, recent) in &seen.recent.members.groups {
        // Nothing below any prefix can cost more than all.
        let all =
            recent.members.iter().flat_map(|(_, member)| &member.prefixes.list).map(|(_, seen)| seen.missing_nanos);
        if !advice::is_worth_telling(seen, advice::seconds(all.sum())) {
            continue;
        }
        let Some(day) = seen.day.members.group(group) else { continue };
        let prefixes: BTreeSet<&str> =
            recent.members.iter().flat_map(|(_, member)| &member.prefixes.list).map(|(prefix, _)| &**prefix).collect();
        let all = prefixes.into_iter().filter_map(|prefix| problem(seen, group, [recent, day], prefix));
        // One for each group: the prefix that costs most.
        problems.extend(all.max_by(|one, other| one.lost.recent_s.total_cmp(&other.lost.recent_s)));
    }
    Verdict::Looked(problems)
}

/// The remote members with figures of a prefix.
fn with_prefix<'a>(group: &'a GroupSeen, prefix: &str) -> impl Iterator<Item = (&'a str, &'a PrefixSeen)> {
    group.members.iter().filter_map(move |(name, member)| {
        let (_, seen) = member.prefixes.list.iter().find(|(known, _)| **known == *prefix)?;
        Some((&**name, seen))
    })
}

/// The part of the waits for what nobody has that ends if this member alone is not asked.
pub(super) fn alone(member: &MemberSeen) -> f64 {
    let (waited, spared) = (member.vain_nanos(), member.vain_spared);
    if waited == 0 { 1.0 } else { (spared as f64 / waited as f64).min(1.0) }
}

fn problem(seen: &Seen, group: &str, windows: [&GroupSeen; 2], prefix: &str) -> Option<Problem> {
    let [recent, day] = windows;
    let of = seen.facts.repository(group)?;
    let lacks = |seen: &PrefixSeen| seen.hits == 0 && seen.missing_folders.count() >= FOLDERS_MIN;
    let is_told = |name: &str| {
        let facts = advice::asked_by_file(seen, group, name);
        // With a rule in force, requests waited before it was set.
        facts.is_some_and(|facts| !private::is_kept(facts, prefix)) && !advice::never_decides(seen, group, name)
    };
    let all = with_prefix(day, prefix).filter(|(name, prefix)| lacks(prefix) && is_told(name));
    let lacking: Vec<&str> = all.map(|(name, _)| name).collect();
    let costs =
        |name: &str| with_prefix(recent, prefix).find(|(of, _)| *of == name).map_or(0, |(_, seen)| seen.missing_nanos);
    let name = *lacking.iter().max_by_key(|name| costs(name))?;
    // If nobody has it, the group asks no upstream.
    let at_group = lacking.len() > 1 && !private::may_exist(seen, of, prefix);
    let nanos = if at_group { lacking.iter().map(|name| costs(name)).sum() } else { costs(name) };
    let lost = advice::seconds(nanos);
    if !advice::is_worth_telling(seen, lost) {
        return None;
    }
    let [_, member] = advice::asked_by_file(seen, group, name)?;
    let folders = with_prefix(day, prefix).find(|(of, _)| *of == name)?.1.missing_folders.count();
    let (subject, whose) = if at_group {
        (format!("group:{group}"), format!("the upstreams of `{group}` have"))
    } else {
        (format!("member:{group}/{name}"), format!("`{name}` has"))
    };
    let (_, member_seen) = recent.members.iter().find(|(of, _)| **of == *name)?;
    let sentence = format!(
        "{whose} nothing below `{prefix}`: of about {folders} folders that were asked for in {}, none was there, and requests \
         waited {} in {} for these answers. With a rule for the prefix nobody is asked; names of it that an upstream gets \
         later are not seen then. The command shows which answers would change; without `--preview` the rule is set",
        advice::period(seen),
        wording::seconds(lost),
        wording::length(&seen.recent),
    );
    Some(Problem {
        subject,
        lost: Lost::of([(group, lost)]),
        saves: Some(Saves::new(lost * if at_group { 1.0 } else { alone(member_seen) }, Gauge::group(group))),
        confidence: 0.9,
        sentence,
        changes: vec![private::keep(if at_group { of } else { member }, prefix)],
        evidence: json!({
            "where": [["repository", "=", group], ["slowest_member", "=", name], ["answered_by", "=", ""]],
            "by": ["status"],
            "measures": ["count", "distinct(path)", "sum(slowest_member_ms)"],
        }),
        event: member_seen.worst.event,
        guards: vec![
            Guard::passed("folders of the last day", folders),
            Guard::passed("share of the time of all requests", advice::share(seen, lost)),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, slow, staged, with};
    use super::*;

    fn lacks(folders: u64, hits: u64, ms: u64) -> PrefixSeen {
        let mut prefix = PrefixSeen { hits, missing_nanos: ms * 1_000_000, ..PrefixSeen::default() };
        (0..folders).for_each(|n| prefix.missing_folders.add(&format!("com/acme/{n}")));
        prefix
    }

    fn lacking(group: &mut GroupSeen, folders: u64, hits: u64, ms: u64) {
        let slow = slow(group);
        (slow.asked, slow.not_found, slow.hits) = (folders + 1, folders, 1);
        slow.prefixes.list.push(("com.acme".into(), lacks(folders, hits, ms)));
    }

    fn told(folders: u64, hits: u64, ms: u64, all_s: f64) -> Vec<Problem> {
        found(look(&with(staged(), |group| lacking(group, folders, hits, ms), all_s)))
    }

    /// The result if `central` lacks so many folders, too, and may have had others below a prefix that is not counted any more.
    fn told_of_two(folders: u64, hits: u64, has_others: bool) -> Problem {
        let change = |group: &mut GroupSeen| {
            lacking(group, 1500, 0, 9000);
            let central = &mut group.members[1].1;
            (central.hits, central.prefixes.has_others) = (1, has_others);
            central.prefixes.list.push(("com.acme".into(), lacks(folders, hits, 1000)));
        };
        found(look(&with(staged(), change, 100.0))).pop().unwrap()
    }

    #[test]
    fn it_names_the_member_and_the_rule_for_the_prefix() {
        let found = told(1500, 0, 9000, 100.0);
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*problem.subject, problem.lost.recent_s), ("member:company/slow", 9.0));
        assert_eq!(command(problem), "daylight repo set slow --private-prefix com.acme --preview");
    }

    fn command(problem: &Problem) -> &str {
        problem.changes[0].command.as_deref().unwrap()
    }

    #[test]
    fn a_rule_of_the_group_is_advised_only_if_no_upstream_may_have_such_names() {
        let two = told_of_two(1500, 0, false);
        assert_eq!((&*two.subject, two.lost.recent_s), ("group:company", 10.0));
        assert_eq!(command(&two), "daylight repo set company --private-prefix com.acme --preview");
        let at_member = "daylight repo set slow --private-prefix com.acme --preview";
        for other in [told_of_two(1500, 1, false), told_of_two(1500, 0, true), told_of_two(900, 0, false)] {
            assert_eq!((&*other.subject, other.lost.recent_s), ("member:company/slow", 9.0));
            assert_eq!(command(&other), at_member);
        }
    }

    #[test]
    fn with_the_rule_in_force_it_is_not_told_any_more() {
        for (name, expected) in [("slow", 0), ("company", 0), ("central", 1)] {
            let mut seen = with(staged(), |group| lacking(group, 1500, 0, 9000), 100.0);
            let facts = std::sync::Arc::get_mut(&mut seen.facts).unwrap();
            let fact = facts.repositories.iter_mut().find(|fact| fact.name == name).unwrap();
            fact.private_prefixes.push("com.acme".to_owned());
            assert_eq!(found(look(&seen)).len(), expected, "{name}");
        }
    }

    #[test]
    fn each_guard_alone_silences_it() {
        assert!(told(800, 0, 9000, 100.0).is_empty(), "too few folders");
        assert!(told(1500, 1, 9000, 100.0).is_empty(), "it has something there");
        assert!(told(1500, 0, 4999, 100.0).is_empty(), "too few seconds");
        assert!(told(1500, 0, 9000, 901.0).is_empty(), "a small part of all");
    }
}
