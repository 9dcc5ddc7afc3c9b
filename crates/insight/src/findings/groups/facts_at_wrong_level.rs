//! Whole prefixes of names are missing upstream, and each folder below them is asked for by itself.

use super::advice;
use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::wording;
use crate::signals::members::GroupSeen;
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

fn problem(seen: &Seen, group: &str, windows: [&GroupSeen; 2], prefix: &str) -> Option<Problem> {
    let [recent, day] = windows;
    let lacks = |seen: &PrefixSeen| seen.hits == 0 && seen.missing_folders.count() >= FOLDERS_MIN;
    let lacking: Vec<&str> = with_prefix(day, prefix)
        .filter(|(name, prefix)| lacks(prefix) && !advice::never_decides(seen, group, name))
        .map(|(name, _)| name)
        .collect();
    let costs =
        |name: &str| with_prefix(recent, prefix).find(|(of, _)| *of == name).map_or(0, |(_, seen)| seen.missing_nanos);
    let lost = advice::seconds(lacking.iter().map(|name| costs(name)).sum());
    if !advice::is_worth_telling(seen, lost) {
        return None;
    }
    let of = seen.facts.repository(group)?;
    let name = *lacking.iter().max_by_key(|name| costs(name))?;
    let [_, member] = advice::asked_by_file(seen, group, name)?;
    let folders = with_prefix(day, prefix).find(|(of, _)| *of == name)?.1.missing_folders.count();
    // If nobody has it, the group asks no upstream.
    let has_other = with_prefix(day, prefix).any(|(_, seen)| seen.hits > 0);
    let at_group = lacking.len() > 1 && !has_other;
    let (subject, whose) = if at_group {
        (format!("group:{group}"), format!("the upstreams of `{group}` have"))
    } else {
        (format!("member:{group}/{name}"), format!("`{name}` has"))
    };
    let (_, member_seen) = recent.members.iter().find(|(of, _)| **of == *name)?;
    let sentence = format!(
        "{whose} nothing below `{prefix}`: of about {folders} folders that were asked for in the last day, none was there, and requests \
         waited {} in {} for these answers. With a rule for the prefix nobody is asked; names of it that an upstream gets \
         later are not seen then",
        wording::seconds(lost),
        wording::length(&seen.recent),
    );
    Some(Problem {
        subject,
        lost: Lost::of([(group, lost)]),
        confidence: 0.9,
        sentence,
        changes: vec![advice::private(if at_group { of } else { member }, prefix)],
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

    fn told(folders: u64, hits: u64, ms: u64, all_s: f64) -> Vec<Problem> {
        let change = |group: &mut GroupSeen| {
            let slow = slow(group);
            (slow.asked, slow.hits) = (folders + 1, 1);
            let mut prefix = PrefixSeen { hits, missing_nanos: ms * 1_000_000, ..PrefixSeen::default() };
            (0..folders).for_each(|n| prefix.missing_folders.add(&format!("com/acme/{n}")));
            slow.prefixes.list.push(("com.acme".into(), prefix));
        };
        found(look(&with(staged(), change, all_s)))
    }

    #[test]
    fn it_names_the_member_and_the_rule_for_the_prefix() {
        let found = told(1500, 0, 9000, 100.0);
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*problem.subject, problem.lost.recent_s), ("member:company/slow", 9.0));
        assert_eq!(problem.changes[0].command.as_deref(), Some("daylight repo set slow --private-prefix com.acme"));
    }

    #[test]
    fn each_guard_alone_silences_it() {
        assert!(told(800, 0, 9000, 100.0).is_empty(), "too few folders");
        assert!(told(1500, 1, 9000, 100.0).is_empty(), "it has something there");
        assert!(told(1500, 0, 4999, 100.0).is_empty(), "too few seconds");
        assert!(told(1500, 0, 9000, 901.0).is_empty(), "a small part of all");
    }
}
