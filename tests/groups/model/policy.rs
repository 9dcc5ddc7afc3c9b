//! Policies according to the documentation: which versions each hides, and until when.

use super::steps::{ARTIFACTS, VERSIONS};
use super::time;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The versions that a rule matches: of one artifact or of all, one or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Which(Option<usize>, Option<usize>);

/// A change of a policy.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    Deny(Option<Which>),
    Allow(Option<Which>),
    /// In seconds.
    Cooldown(Option<u64>),
    /// The name of an artifact becomes private.
    Private(Option<usize>),
    Shared(Option<usize>),
    /// An exception from the cooldown, for this number of seconds.
    LetThrough(Which, Option<u64>),
    EndThat(Which),
}

/// The policy of a repository.
#[derive(Debug, Clone, Default)]
pub(super) struct Policy {
    deny: Option<Which>,
    allow: Option<Which>,
    cooldown: Option<u64>,
    private: Option<usize>,
    shared: Option<usize>,
    /// With the end of each.
    exceptions: Vec<(Which, Option<u64>)>,
}

/// The earliest moment of a publication, and the latest if it is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Age {
    pub(super) earliest: u64,
    pub(super) latest: Option<u64>,
}

/// The as-of moment, and the present moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct When {
    pub(super) at: u64,
    pub(super) now: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Shown,
    Hidden,
    /// It depends on when something was seen.
    Either,
}

impl Which {
    pub(super) fn pattern(self) -> String {
        let (artifact, version) = (self.0.map(|at| ARTIFACTS[at]), self.1.map(|at| VERSIONS[at]));
        format!("org.example:{}:{}", artifact.unwrap_or("*"), version.unwrap_or("*"))
    }

    fn is_about(self, (artifact, version): (usize, usize)) -> bool {
        self.0.is_none_or(|one| one == artifact) && self.1.is_none_or(|one| one == version)
    }
}

impl Rule {
    /// The setting in the API; `None`: the change is an exception and not a setting.
    pub(super) fn setting(self) -> Option<Value> {
        let patterns = |which: Option<Which>| which.map(|which| [which.pattern()]);
        let named = |artifact: Option<usize>| artifact.map(|at| ARTIFACTS[at]);
        Some(match self {
            Rule::Deny(which) => json!({ "deny": patterns(which) }),
            Rule::Allow(which) => json!({ "allow": patterns(which) }),
            Rule::Cooldown(seconds) => json!({ "cooldown_s": seconds }),
            Rule::Private(artifact) => {
                json!({ "private_prefixes": named(artifact).map(|name| [format!("org.example.{name}")]) })
            }
            Rule::Shared(artifact) => json!({ "shared": named(artifact).map(|name| [format!("org.example:{name}")]) }),
            Rule::LetThrough(..) | Rule::EndThat(_) => return None,
        })
    }

    pub(super) fn is_about_upstreams(self) -> bool {
        matches!(self, Rule::Private(_) | Rule::Shared(_))
    }
}

impl Policy {
    pub(super) fn set(&mut self, rule: Rule, now: u64) {
        match rule {
            Rule::Deny(which) => self.deny = which,
            Rule::Allow(which) => self.allow = which,
            Rule::Cooldown(seconds) => self.cooldown = seconds,
            Rule::Private(artifact) => self.private = artifact,
            Rule::Shared(artifact) => self.shared = artifact,
            Rule::LetThrough(which, seconds) => {
                self.exceptions.retain(|(one, _)| *one != which);
                self.exceptions.push((which, seconds.map(|seconds| now + seconds)));
            }
            Rule::EndThat(which) => self.exceptions.retain(|(one, _)| *one != which),
        }
    }

    /// Whether it hides a version regardless of its age.
    pub(super) fn forbids(&self, what: (usize, usize), upstream: bool) -> bool {
        let denied = self.deny.is_some_and(|which| which.is_about(what));
        denied || self.allow.is_some_and(|which| !which.is_about(what)) || upstream && self.is_private(what.0)
    }

    pub(super) fn is_private(&self, artifact: usize) -> bool {
        self.private == Some(artifact) && !self.shares(artifact)
    }

    pub(super) fn shares(&self, artifact: usize) -> bool {
        self.shared == Some(artifact)
    }

    fn is_too_young(&self, what: (usize, usize), since: u64, when: When) -> bool {
        let holds = |until: Option<u64>| until.is_none_or(|until| when.now < until);
        let let_through = self.exceptions.iter().any(|(which, until)| which.is_about(what) && holds(*until));
        self.cooldown.is_some_and(|cooldown| when.at < since + cooldown) && !let_through
    }
}

/// The combined verdict of these policies on a version, which may be an upstream's.
pub(super) fn verdict<'a>(
    layers: impl Iterator<Item = &'a Policy> + Clone,
    (what, upstream): ((usize, usize), bool),
    age: Age,
    when: When,
) -> Verdict {
    if layers.clone().any(|policy| policy.forbids(what, upstream)) {
        return Verdict::Hidden;
    }
    let hidden = |since| layers.clone().any(|policy| policy.is_too_young(what, since, when));
    match (hidden(age.earliest), age.latest.map(hidden)) {
        (true, _) => Verdict::Hidden,
        (false, Some(false)) => Verdict::Shown,
        (false, _) if !hidden(when.now) => Verdict::Shown,
        (false, _) => Verdict::Either,
    }
}

/// The call that adds an exception.
pub(super) fn exception(which: Which, seconds: Option<u64>, now: u64) -> Value {
    json!({ "package": which.pattern(), "why": "a hole", "until": seconds.map(|seconds| time::text(now + seconds)) })
}

fn which((artifact, version): (usize, usize)) -> impl Strategy<Value = Which> {
    let artifact = prop_oneof![Just(Some(artifact)), prop::option::of(0..ARTIFACTS.len())];
    let version = prop_oneof![Just(Some(version)), prop::option::of(0..VERSIONS.len())];
    (artifact, version).prop_map(|(artifact, version)| Which(artifact, version))
}

/// Rules, most of which match this version.
pub(super) fn rules(often: (usize, usize)) -> impl Strategy<Value = Rule> {
    let artifact = || prop::option::of(prop_oneof![Just(often.0), 0..ARTIFACTS.len()]);
    prop_oneof![
        4 => prop::option::weighted(0.8, prop_oneof![Just(100u64), Just(301), Just(5000)]).prop_map(Rule::Cooldown),
        2 => prop::option::of(which(often)).prop_map(Rule::Deny),
        1 => prop::option::of(which(often)).prop_map(Rule::Allow),
        1 => artifact().prop_map(Rule::Private),
        1 => artifact().prop_map(Rule::Shared),
        3 => (which(often), prop::option::weighted(0.7, prop_oneof![Just(1u64), Just(100)])).prop_map(|(which, seconds)| Rule::LetThrough(which, seconds)),
        1 => which(often).prop_map(Rule::EndThat),
    ]
}
