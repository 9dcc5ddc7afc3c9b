//! For tests of checks: a group `company` of `ours` (hosted), `slow` and `central` (remote), and a group `outer` of `company` and `far`.

use crate::findings::check::{Problem, Verdict};
use crate::signals::Facts;
use crate::signals::facts::RepositoryFact;
use crate::signals::members::{GroupSeen, MemberSeen, MembersSeen};
use crate::signals::seen::Seen;
use crate::signals::window::Window;
use std::time::Duration;

fn repository(name: &str, kind: &'static str, members: &[&str], leaves: &[&str]) -> RepositoryFact {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    RepositoryFact {
        name: name.to_owned(),
        kind,
        is_tree: true,
        members: names(members),
        leaves: names(leaves),
        ..RepositoryFact::default()
    }
}

/// Without any request, after a day.
pub(super) fn staged() -> Seen {
    let repositories = vec![
        repository("ours", "hosted", &[], &["ours"]),
        repository("slow", "remote", &[], &["slow"]),
        repository("central", "remote", &[], &["central"]),
        repository("far", "remote", &[], &["far"]),
        repository("company", "group", &["ours", "slow", "central"], &["ours", "slow", "central"]),
        repository("outer", "group", &["company", "far"], &["ours", "slow", "central", "far"]),
    ];
    let uptime = Duration::from_secs(24 * 3600);
    Seen { uptime, facts: Facts { repositories, ..Facts::default() }.into(), ..Seen::default() }
}

/// Adds these figures of `company` to all windows, and this many seconds of all requests.
pub(super) fn with(mut seen: Seen, change: impl FnOnce(&mut GroupSeen), all_s: f64) -> Seen {
    let mut members = MembersSeen::default();
    let mut group = GroupSeen::default();
    for name in ["slow", "central"] {
        group.members.push((name.into(), MemberSeen::default()));
    }
    change(&mut group);
    members.groups.insert("company".into(), group);
    let mut window = Window { members, length: Duration::from_secs(300), ..Window::default() };
    window.requests.all.nanos = (all_s * 1e9) as u64;
    (seen.recent, seen.hour, seen.day) = (window.clone(), window.clone(), window);
    seen
}

/// The figures of `slow`, to be changed.
pub(super) fn slow(group: &mut GroupSeen) -> &mut MemberSeen {
    &mut group.members[0].1
}

/// What a check found.
pub(super) fn found(verdict: Verdict) -> Vec<Problem> {
    match verdict {
        Verdict::Looked(problems) => problems,
        Verdict::Unknown { needs, .. } => panic!("it needs {needs}"),
    }
}
