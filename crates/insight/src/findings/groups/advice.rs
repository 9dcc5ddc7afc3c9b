//! What checks of groups share: the floor below which nothing is told, commands that change groups, and figures in words.

use crate::findings::check::Change;
use crate::findings::turned::Turned;
use crate::findings::wording;
use crate::signals::facts::RepositoryFact;
use crate::signals::members::MemberSeen;
use crate::signals::seen::Seen;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// Client seconds in five minutes below which nothing is told.
pub(super) const FLOOR_S: f64 = 5.0;
/// The share of the time of all requests below which nothing is told.
const FLOOR_SHARE: f64 = 0.01;
/// The most patterns or prefixes in an advised command.
pub(super) const WORDS_MAX: usize = 8;

/// Nanoseconds as seconds.
pub(super) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// The share that these seconds are of the time of all requests of the last five minutes.
pub(super) fn share(seen: &Seen, lost_s: f64) -> f64 {
    lost_s / seconds(seen.recent.requests.all.nanos).max(lost_s).max(f64::MIN_POSITIVE)
}

/// Whether it costs enough to be told.
pub(super) fn is_worth_telling(seen: &Seen, lost_s: f64) -> bool {
    lost_s >= FLOOR_S && share(seen, lost_s) >= FLOOR_SHARE
}

/// A group of files, and a remote member of it that is asked as groups of files ask: those of gems ask by name.
pub(super) fn asked_by_file<'a>(seen: &'a Seen, group: &str, member: &str) -> Option<[&'a RepositoryFact; 2]> {
    let [group, member] = [seen.facts.repository(group)?, seen.facts.repository(member)?];
    (group.is_tree && member.kind == "remote").then_some([group, member])
}

/// Whether a member said for so many requests of the last day that it has nothing that it will hardly ever have anything. Failures say
/// nothing about that.
pub(super) fn never_decides(seen: &Seen, group: &str, member: &str) -> bool {
    let never = |day: &MemberSeen| day.hits == 0 && day.not_found >= NOT_FOUND_MIN;
    seen.day.members.of(group, member).is_some_and(never)
}

/// Such answers of a member in a day from which on it is told that it never has anything. By the rule of three it then has fewer than
/// 3 of so many names, with 95 % certainty.
const NOT_FOUND_MIN: u64 = 1000;

/// Whether the figures of a day have hours of it. After a start, builds of another kind may follow.
pub(super) fn has_hours(seen: &Seen) -> bool {
    seen.uptime >= HOURS
}

/// The time since the start until figures of a day are those of a day.
const HOURS: Duration = Duration::from_secs(4 * 3600);

/// The time that figures of a day are of, in words: `the last day`.
pub(super) fn period(seen: &Seen) -> String {
    match seen.uptime.as_secs_f64() {
        short if short < 86_400.0 => format!("the {} since this server began to count", wording::time(short)),
        _ => "the last day".to_owned(),
    }
}

/// The direct member through which a group has a repository: itself, or a group.
fn through<'a>(seen: &'a Seen, group: &'a RepositoryFact, member: &str) -> Option<&'a str> {
    let has = |name: &&String| {
        name.as_str() == member
            || seen.facts.repository(name).is_some_and(|nested| nested.leaves.iter().any(|leaf| leaf == member))
    };
    group.members.iter().find(has).map(String::as_str)
}

/// The nested group of a group that has this member as a direct one. `None`: the group itself has it, or nobody.
pub(super) fn holder<'a>(seen: &'a Seen, group: &'a RepositoryFact, member: &str) -> Option<&'a RepositoryFact> {
    let (mut of, mut nested) = (group, None);
    // As many steps as there are repositories: groups have no circles, but facts of two moments might.
    for _ in &seen.facts.repositories {
        let next = through(seen, of, member)?;
        if next == member {
            return nested;
        }
        of = seen.facts.repository(next)?;
        nested = Some(of);
    }
    None
}

/// The command that names these members of a group. `None`: there are none.
fn members<'a>(group: &str, names: impl Iterator<Item = &'a str>) -> Option<Change> {
    let names: Vec<&str> = names.collect();
    let flags: String = names.iter().map(|name| format!(" --member {name}")).collect();
    let command = format!("daylight repo set {group}{flags}");
    (!names.is_empty()).then(|| Change::turning(command, Turned::Members(group.to_owned()), json!(names)))
}

/// The command that has a member asked last. `None`: it is the last one already, or no direct member. A nested group is not moved: names
/// of its other members could then come from members that are asked before them.
pub(super) fn asked_last(group: &RepositoryFact, member: &str) -> Option<Change> {
    let others = group.members.iter().map(String::as_str).filter(|name| *name != member);
    let is_before = group.members.iter().any(|name| name == member) && group.members.last()? != member;
    is_before.then(|| members(&group.name, others.chain([member])))?
}

/// The command that takes a member out of a group. `None`: it is a member of a member, or the only one.
pub(super) fn without(group: &RepositoryFact, member: &str) -> Option<Change> {
    if !group.members.iter().any(|name| name == member) {
        return None;
    }
    members(&group.name, group.members.iter().map(String::as_str).filter(|name| *name != member))
}

/// The command that sets a list of a policy, in which a word comes once.
pub(super) fn policy<'a>(turns: Turned, name: &str, flag: &str, words: impl Iterator<Item = &'a str>) -> Change {
    let mut known = BTreeSet::new();
    let words: Vec<&str> = words.filter(|word| known.insert(*word)).collect();
    let flags: String = words.iter().map(|word| format!(" --{flag} {}", quoted(word))).collect();
    Change::turning(format!("daylight repo set {name}{flags}"), turns, json!(words))
}

/// The command with `--preview`, which shows what it would change: names may be hidden, or come from another member.
pub(super) fn previewed(change: Change) -> Change {
    Change { command: change.command.map(|command| format!("{command} --preview")), ..change }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/:-".contains(&byte);
    if word.bytes().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::super::staged::{slow, staged, with};
    use super::*;
    use crate::signals::members::GroupSeen;

    fn command(change: Option<Change>) -> Option<String> {
        change.and_then(|change| change.command)
    }

    #[test]
    fn commands_name_all_members_of_the_group_that_has_the_member_itself() {
        let seen = staged();
        let company = seen.facts.repository("company").unwrap();
        let last = command(asked_last(company, "slow"));
        assert_eq!(last.as_deref(), Some("daylight repo set company --member ours --member central --member slow"));
        let advised = asked_last(company, "slow").and_then(|change| change.advised);
        assert_eq!(advised, Some(json!(["ours", "central", "slow"])));
        assert_eq!(command(asked_last(company, "central")), None, "it is the last one");
        let out = command(without(company, "slow"));
        assert_eq!(out.as_deref(), Some("daylight repo set company --member ours --member central"));
        assert!(holder(&seen, company, "slow").is_none());
    }

    #[test]
    fn a_nested_group_is_not_moved_because_names_of_its_other_members_would_come_from_others() {
        let seen = staged();
        let outer = seen.facts.repository("outer").unwrap();
        assert_eq!(command(asked_last(outer, "slow")), None);
        assert_eq!(command(without(outer, "slow")), None);
        assert_eq!(holder(&seen, outer, "slow").map(|group| &*group.name), Some("company"));
        assert!(holder(&seen, outer, "nobody").is_none());
    }

    #[test]
    fn failures_do_not_say_that_a_member_has_nothing() {
        let never = |asked, not_found, hits| {
            let change = |group: &mut GroupSeen| {
                (slow(group).asked, slow(group).not_found, slow(group).hits) = (asked, not_found, hits);
            };
            never_decides(&with(staged(), change, 100.0), "company", "slow")
        };
        assert!(never(1000, 1000, 0));
        assert!(!never(5000, 999, 0) && !never(5000, 1000, 1));
    }

    #[test]
    fn the_time_of_the_figures_of_a_day_is_that_since_the_start() {
        let of = |uptime| {
            let seen = Seen { uptime: Duration::from_secs(uptime), ..Seen::default() };
            (has_hours(&seen), period(&seen))
        };
        assert_eq!(of(360), (false, "the 6 min since this server began to count".to_owned()));
        assert_eq!((of(14_399).0, of(14_400).0), (false, true));
        assert_eq!(of(86_400), (true, "the last day".to_owned()));
    }

    #[test]
    fn words_of_commands_are_safe_for_a_shell() {
        let change = policy(
            Turned::Names("slow".to_owned()),
            "slow",
            "only",
            ["com.partner*", "it's", "com.partner*"].into_iter(),
        );
        assert_eq!(change.command.as_deref(), Some(r"daylight repo set slow --only 'com.partner*' --only 'it'\''s'"));
    }
}
