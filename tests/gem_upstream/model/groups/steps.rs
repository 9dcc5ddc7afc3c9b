//! The steps of a sequence.

use super::super::pool::TOKENS;
use super::super::rules::{Rule, rules};
use super::super::steps::{Ask, Change, asks, changes, names, ruled};
use super::places::{CHOICES, GROUPS, HOSTED};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// A change of one of the upstreams.
    Upstream(usize, Change),
    /// A push to a hosted repository.
    Push(usize, usize, usize),
    Yank(usize, usize, usize),
    /// The members of a group change.
    Layout(usize, usize),
    /// A member claims a name, or none.
    Claim(usize, Option<usize>),
    /// The policy of a group changes.
    Rule(usize, Rule),
    Wait(u64),
    /// A client sends a request to a group.
    Ask(usize, Ask),
    /// A client resolves a gem, and installs a version of it.
    Bundle(usize, usize),
    /// Every protocol of a group gives the same versions.
    Agree(usize),
    /// A client reads a group and a gem as of an earlier moment.
    Past(usize, usize, usize),
    Restart,
    /// The server is killed.
    Kill,
    /// The saved logs of the groups are missing at a start.
    LoseViews,
}

fn steps(often: usize) -> impl Strategy<Value = Step> {
    use Step::*;
    let waits =
        prop_oneof![1 => Just(1u64), 1 => Just(4), 1 => Just(31), 3 => Just(61), 1 => Just(101), 1 => Just(3601)];
    let version = || (names(often), 0..TOKENS.len());
    prop_oneof![
        100 => (0..2usize, changes(often)).prop_map(|(which, change)| Upstream(which, change)),
        30 => (HOSTED, version()).prop_map(|(at, (name, token))| Push(at, name, token)),
        15 => (HOSTED, version()).prop_map(|(at, (name, token))| Yank(at, name, token)),
        20 => (0..2usize, 0..CHOICES).prop_map(|(which, layout)| Layout(which, layout)),
        12 => (0..4usize, prop::option::weighted(0.7, names(often))).prop_map(|(at, name)| Claim(at, name)),
        12 => (0..2usize, rules(often)).prop_map(|(which, rule)| Rule(which, rule)),
        60 => waits.prop_map(Wait),
        60 => (GROUPS, asks(often)).prop_map(|(group, ask)| Ask(group, ask)),
        60 => (0..3usize, names(often)).prop_map(|(client, name)| Bundle(client, name)),
        20 => GROUPS.prop_map(Agree),
        20 => (GROUPS, any::<u8>(), names(often)).prop_map(|(group, at, name)| Past(group, at.into(), name)),
        1 => Just(Restart),
        1 => Just(Kill),
        1 => Just(LoseViews),
    ]
}

/// Sequences with and without policies.
pub(super) fn all() -> impl Strategy<Value = Vec<Step>> {
    ruled(steps, |step| matches!(step, Step::Rule(..)))
}
