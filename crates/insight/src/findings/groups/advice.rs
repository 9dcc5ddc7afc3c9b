//! What checks of groups share: the floor below which nothing is told, commands that change groups, and figures in words.

use crate::findings::check::Change;
use crate::signals::facts::RepositoryFact;
use crate::signals::members::MemberSeen;
use crate::signals::seen::Seen;

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

/// Whether a member had nothing for so many requests of the last day that it will hardly ever have anything.
pub(super) fn never_decides(seen: &Seen, group: &str, member: &str) -> bool {
    let never = |day: &MemberSeen| day.hits == 0 && day.asked >= ASKED_MIN;
    seen.day.members.of(group, member).is_some_and(never)
}

/// Requests of a member in a day from which on it is told that it never has anything. By the rule of three it then has fewer than
/// 3 of so many names, with 95 % certainty.
pub(super) const ASKED_MIN: u64 = 1000;

/// The direct member through which a group has a repository: itself, or a group.
fn through<'a>(seen: &'a Seen, group: &'a RepositoryFact, member: &str) -> Option<&'a str> {
    let has = |name: &&String| {
        name.as_str() == member
            || seen.facts.repository(name).is_some_and(|nested| nested.leaves.iter().any(|leaf| leaf == member))
    };
    group.members.iter().find(has).map(String::as_str)
}

/// The command that names these members of a group. `None`: there are none.
fn members<'a>(group: &str, names: impl Iterator<Item = &'a str>) -> Option<Change> {
    let flags: String = names.map(|name| format!(" --member {name}")).collect();
    (!flags.is_empty()).then(|| Change::by_command(format!("daylight repo set {group}{flags}")))
}

/// The command that has a member asked last. `None`: it is not a member, or is the last one already.
pub(super) fn asked_last(seen: &Seen, group: &RepositoryFact, member: &str) -> Option<Change> {
    let moved = through(seen, group, member)?;
    if group.members.last().is_some_and(|last| last == moved) {
        return None;
    }
    let others = group.members.iter().map(String::as_str).filter(|name| *name != moved);
    members(&group.name, others.chain([moved]))
}

/// The command that takes a member out of a group. `None`: it is a member of a member, or the only one.
pub(super) fn without(group: &RepositoryFact, member: &str) -> Option<Change> {
    if !group.members.iter().any(|name| name == member) {
        return None;
    }
    members(&group.name, group.members.iter().map(String::as_str).filter(|name| *name != member))
}

/// The command that sets a list of a policy, in which a word comes once.
pub(super) fn policy<'a>(name: &str, flag: &str, words: impl Iterator<Item = &'a str>) -> Change {
    let mut all: Vec<&str> = words.collect();
    all.dedup();
    let words: String = all.iter().map(|word| format!(" --{flag} {}", quoted(word))).collect();
    Change::by_command(format!("daylight repo set {name}{words}"))
}

/// The command that asks no upstream for names with this prefix through a repository or group, besides its present prefixes.
pub(super) fn private(repository: &RepositoryFact, prefix: &str) -> Change {
    let prefixes = repository.private_prefixes.iter().map(String::as_str).chain([prefix.trim_end_matches('/')]);
    policy(&repository.name, "private-prefix", prefixes)
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/:-".contains(&byte);
    if word.bytes().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::super::staged::staged;
    use super::*;

    fn command(change: Option<Change>) -> Option<String> {
        change.and_then(|change| change.command)
    }

    #[test]
    fn commands_name_all_members_and_move_the_group_that_has_the_member() {
        let seen = staged();
        let company = seen.facts.repository("company").unwrap();
        let last = command(asked_last(&seen, company, "slow"));
        assert_eq!(last.as_deref(), Some("daylight repo set company --member ours --member central --member slow"));
        assert_eq!(command(asked_last(&seen, company, "central")), None, "it is the last one");
        let out = command(without(company, "slow"));
        assert_eq!(out.as_deref(), Some("daylight repo set company --member ours --member central"));
        let outer = seen.facts.repository("outer").unwrap();
        let last = command(asked_last(&seen, outer, "slow"));
        assert_eq!(last.as_deref(), Some("daylight repo set outer --member far --member company"));
        assert_eq!(command(without(outer, "slow")), None);
    }

    #[test]
    fn words_of_commands_are_safe_for_a_shell() {
        let change = policy("slow", "only", ["com.partner*", "it's"].into_iter());
        assert_eq!(change.command.as_deref(), Some(r"daylight repo set slow --only 'com.partner*' --only 'it'\''s'"));
    }
}
