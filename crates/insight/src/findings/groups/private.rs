//! When no upstream may be asked any more for names with a prefix, and the command that sets this.

use super::advice;
use crate::findings::check::Change;
use crate::findings::turned::Turned;
use crate::signals::facts::RepositoryFact;
use crate::signals::members::MemberSeen;
use crate::signals::seen::Seen;

/// Whether names with one prefix have the other one, too, as policies compare them: by parts, without regard to case. The prefix of a path
/// ends with a slash.
fn is_below(name: &str, prefix: &str) -> bool {
    let separator = if name.ends_with('/') { '/' } else { '.' };
    let [name, prefix] = [name, prefix].map(|text| text.trim_end_matches(separator));
    let Some((begin, rest)) = name.split_at_checked(prefix.len()) else { return false };
    begin.eq_ignore_ascii_case(prefix) && (rest.is_empty() || rest.starts_with(separator))
}

/// Whether a policy of these repositories keeps all names with this prefix from upstreams, so requests that waited came before it.
pub(super) fn is_kept(repositories: [&RepositoryFact; 2], prefix: &str) -> bool {
    let mut kept = repositories.into_iter().flat_map(|repository| &repository.private_prefixes);
    kept.any(|private| is_below(prefix, private))
}

/// Whether an upstream of a group may have names with this prefix. A rule for the whole group would hide these.
///
/// One may that had something there in a day, that has too many prefixes for each to be counted, that failed more often than it answered,
/// or that was never asked. Hosted members have their names with the rule, too.
pub(super) fn may_exist(seen: &Seen, group: &RepositoryFact, prefix: &str) -> bool {
    let has = |member: &MemberSeen| {
        let mut list = member.prefixes.list.iter();
        member.prefixes.has_others
            || member.failed > member.not_found
            || list.any(|(known, of)| of.hits > 0 && is_below(known, prefix))
    };
    let is_hosted = |leaf: &str| seen.facts.repository(leaf).is_some_and(|fact| fact.kind == "hosted");
    group.leaves.iter().filter(|leaf| !is_hosted(leaf)).any(|leaf| {
        // The sums of the day may be a minute old.
        let [day, recent] = [&seen.day, &seen.recent].map(|window| window.members.of(&group.name, leaf));
        day.is_none_or(has) || recent.is_some_and(has)
    })
}

/// The command that asks no upstream for names with this prefix through a repository or group, besides its present prefixes. It shows the
/// answers that would change: files that are sent from memory are not counted by prefix.
pub(super) fn keep(repository: &RepositoryFact, prefix: &str) -> Change {
    let prefixes = repository.private_prefixes.iter().map(String::as_str).chain([prefix.trim_end_matches('/')]);
    advice::previewed(advice::policy(
        Turned::Private(repository.name.clone()),
        &repository.name,
        "private-prefix",
        prefixes,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::staged::{slow, staged, with};
    use super::*;
    use crate::signals::members::GroupSeen;
    use crate::signals::prefixes::PrefixSeen;

    fn exists(change: impl FnOnce(&mut GroupSeen)) -> bool {
        let seen = with(staged(), change, 100.0);
        may_exist(&seen, seen.facts.repository("company").unwrap(), "org.example")
    }

    fn hit(prefix: &str) -> bool {
        let has = PrefixSeen { hits: 1, ..PrefixSeen::default() };
        exists(|group| group.members[1].1.prefixes.list.push((prefix.into(), has)))
    }

    #[test]
    fn a_name_may_exist_where_an_upstream_had_one_with_the_prefix_or_where_that_is_not_known() {
        assert!(!exists(|_| ()), "nobody had anything");
        assert!(hit("org.example") && hit("Org.Example") && hit("org.example.lamp"));
        assert!(!hit("org") && !hit("org.examples") && !hit("com.example"));
        assert!(exists(|group| slow(group).prefixes.has_others = true), "not all of its prefixes are known");
        assert!(exists(|group| drop(group.members.pop())), "nothing is known of a member");
        let failed =
            |failed, not_found| exists(|group| (slow(group).failed, slow(group).not_found) = (failed, not_found));
        assert!(failed(11, 10) && !failed(10, 10));
    }

    #[test]
    fn a_prefix_is_kept_with_those_below_it_by_the_parts_of_names() {
        let of = |prefixes: &[&str]| RepositoryFact {
            private_prefixes: prefixes.iter().map(|text| (*text).to_owned()).collect(),
            ..RepositoryFact::default()
        };
        let kept = |private: &str, prefix: &str| is_kept([&of(&[]), &of(&[private])], prefix);
        assert!(kept("org.example", "org.example") && kept("org", "org.example") && kept("tools", "tools/linux/"));
        assert!(!kept("org.example.lamp", "org.example") && !kept("or", "org.example") && !kept("tools", "tools.x/"));
        let command = keep(&of(&["com.acme"]), "tools/linux/").command.unwrap();
        assert!(command.ends_with(" --private-prefix com.acme --private-prefix tools/linux --preview"), "{command}");
    }
}
