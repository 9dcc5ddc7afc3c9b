//! The steps of a sequence.

use super::pool::{NAMES, TOKENS};
use super::rules::{Rule, rules};
use proptest::prelude::*;

/// How the upstream answers requests for `/versions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// With ranges, and with its MD5 as ETag.
    Right,
    IgnoresRange,
    Shifted,
    RefusesRange,
    OpaqueTag,
    WeakTag,
    Sha1Tag,
    NoTag,
    /// The following ones are failures.
    Html,
    EndsInLine,
    EndsAtLine,
    Breaks,
    Status(u16),
}

impl Manner {
    pub(super) fn fails(self) -> bool {
        matches!(self, Self::Html | Self::EndsInLine | Self::EndsAtLine | Self::Breaks | Self::Status(_))
    }
}

/// How it fails for other files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Status(u16),
    Html,
    /// The file lacks this number of bytes at its end, and no header shows it.
    Short(usize),
    Breaks,
}

/// A change of the upstream.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    Push(usize, usize),
    Yank(usize, usize),
    Replace(usize, usize),
    /// A push whose line is inserted before earlier lines.
    PushInMiddle(usize, usize, usize),
    /// A push whose line has no MD5 yet.
    PushWithout(usize, usize),
    /// The last line of a gem gets a wrong MD5.
    Wrong(usize),
    /// Lines without an MD5, or with a wrong one, are corrected in place.
    Correct,
    Compact,
    Unreadable(usize),
    /// `/versions` stops changing; or it returns to its state before the last change.
    KeepVersions,
    RollVersionsBack,
    /// `/info` of a gem stops changing, or stays missing.
    KeepInfo(usize),
    /// All files have their present content again.
    CatchUp,
    Manner(Manner),
    InfoFault(usize, Fault),
    GemFault(Fault),
    /// The upstream recovers.
    Well,
}

/// A request of a client.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ask {
    Names,
    Specs(usize),
    Needs(usize),
    NeedsInMarshal(usize),
    Versions(usize),
    OfGem(usize),
    Info(usize),
    Gem(usize, usize),
    Gemspec(usize, usize),
    /// A name that nobody has.
    Unknown(usize),
    /// `/versions`, with the validators of an earlier answer.
    Prefix(usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Upstream(Change),
    Rule(Rule),
    Wait(u64),
    Ask(Ask),
    /// One of the clients resolves a gem, and installs a version of it.
    Bundle(usize, usize),
    /// Every protocol gives the same versions.
    Agree,
    Restart,
}

pub(super) fn names(often: usize) -> impl Strategy<Value = usize> {
    prop_oneof![Just(often), 0..NAMES.len()]
}

fn manners() -> impl Strategy<Value = Manner> {
    use Manner::*;
    let status = prop_oneof![Just(500u16), Just(503), Just(404), Just(403), Just(429)].prop_map(Status);
    let quirk = prop_oneof![
        Just(IgnoresRange),
        Just(Shifted),
        Just(RefusesRange),
        Just(OpaqueTag),
        Just(WeakTag),
        Just(Sha1Tag),
        Just(NoTag)
    ];
    let fails = prop_oneof![Just(Html), Just(EndsInLine), Just(EndsAtLine), Just(Breaks), status];
    prop_oneof![1 => Just(Right), 2 => quirk, 2 => fails]
}

fn faults() -> impl Strategy<Value = Fault> {
    let status = prop_oneof![Just(500u16), Just(503), Just(404), Just(403), Just(429)].prop_map(Fault::Status);
    prop_oneof![2 => status, 1 => Just(Fault::Html), 1 => (1..90usize).prop_map(Fault::Short), 1 => Just(Fault::Breaks)]
}

pub(super) fn changes(often: usize) -> impl Strategy<Value = Change> {
    use Change::*;
    let version = || (names(often), 0..TOKENS.len());
    prop_oneof![
        10 => version().prop_map(|(name, token)| Push(name, token)),
        4 => version().prop_map(|(name, token)| Yank(name, token)),
        3 => version().prop_map(|(name, token)| Replace(name, token)),
        2 => (version(), 0..9usize).prop_map(|((name, token), at)| PushInMiddle(name, token, at)),
        1 => version().prop_map(|(name, token)| PushWithout(name, token)),
        1 => names(often).prop_map(Wrong),
        2 => Just(Correct),
        2 => Just(Compact),
        1 => (0..4usize).prop_map(Unreadable),
        2 => Just(KeepVersions),
        1 => Just(RollVersionsBack),
        3 => names(often).prop_map(KeepInfo),
        4 => Just(CatchUp),
        3 => manners().prop_map(Manner),
        2 => (names(often), faults()).prop_map(|(name, fault)| InfoFault(name, fault)),
        1 => faults().prop_map(GemFault),
        4 => Just(Well),
    ]
}

pub(super) fn asks(often: usize) -> impl Strategy<Value = Ask> {
    use Ask::*;
    let version = || (names(often), 0..TOKENS.len());
    prop_oneof![
        1 => Just(Names),
        1 => (0..3usize).prop_map(Specs),
        1 => names(often).prop_map(Needs),
        1 => names(often).prop_map(NeedsInMarshal),
        1 => names(often).prop_map(Versions),
        1 => names(often).prop_map(OfGem),
        4 => names(often).prop_map(Info),
        4 => version().prop_map(|(name, token)| Gem(name, token)),
        1 => version().prop_map(|(name, token)| Gemspec(name, token)),
        1 => (0..9usize).prop_map(Unknown),
        2 => any::<prop::sample::Index>().prop_map(|at| Prefix(at.index(1 << 16))),
    ]
}

fn steps(often: usize) -> impl Strategy<Value = Step> {
    let waits =
        prop_oneof![1 => Just(1u64), 1 => Just(4), 1 => Just(31), 3 => Just(61), 1 => Just(101), 1 => Just(3601)];
    prop_oneof![
        120 => changes(often).prop_map(Step::Upstream),
        12 => rules(often).prop_map(Step::Rule),
        60 => waits.prop_map(Step::Wait),
        60 => asks(often).prop_map(Step::Ask),
        60 => (0..2usize, names(often)).prop_map(|(client, name)| Step::Bundle(client, name)),
        20 => Just(Step::Agree),
        1 => Just(Step::Restart),
    ]
}

/// Sequences with and without policies.
pub(super) fn all() -> impl Strategy<Value = Vec<Step>> {
    ruled(steps, |step| matches!(step, Step::Rule(_)))
}

/// Sequences of these steps, of which half have no rule.
pub(super) fn ruled<S: std::fmt::Debug, T: Strategy<Value = S>>(
    steps: fn(usize) -> T,
    is_rule: fn(&S) -> bool,
) -> impl Strategy<Value = Vec<S>> {
    let all = (0..NAMES.len()).prop_flat_map(move |often| (any::<bool>(), prop::collection::vec(steps(often), 1..40)));
    all.prop_map(move |(ruled, steps)| steps.into_iter().filter(|step| ruled || !is_rule(step)).collect::<Vec<_>>())
}
