//! The policy of the repository, and what it certainly hides.

use super::pool::{NAMES, TOKENS};
use proptest::prelude::*;
use serde_json::{Value, json};

const PRIVATE: &str = "oil";

#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    Cooldown(Option<u64>),
    /// A gem, or one version of it.
    Deny(Option<(usize, Option<usize>)>),
    /// Whether all names with a prefix are private.
    Private(bool),
}

/// The present policy.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Rules {
    cooldown: Option<u64>,
    deny: Option<(usize, Option<usize>)>,
    private: bool,
    /// Whether a policy was ever set.
    pub(super) touched: bool,
}

impl Rules {
    pub(super) fn set(&mut self, rule: Rule) {
        self.touched = true;
        match rule {
            Rule::Cooldown(cooldown) => self.cooldown = cooldown,
            Rule::Deny(deny) => self.deny = deny,
            Rule::Private(private) => self.private = private,
        }
    }

    pub(super) fn setting(&self) -> Value {
        let deny = self.deny.map(|(name, token)| match token {
            Some(token) => json!([format!("{}:{}", NAMES[name], number(TOKENS[token]))]),
            None => json!([NAMES[name]]),
        });
        json!({ "deny": deny, "cooldown_s": self.cooldown, "private_prefixes": self.private.then_some([PRIVATE]) })
    }

    /// The same for hosted members, which have the private names.
    pub(super) fn of_hosted(&self) -> Self {
        Self { private: false, ..*self }
    }

    /// Whether there is a cooldown.
    pub(super) fn count_ages(&self) -> bool {
        self.cooldown.is_some()
    }

    /// Whether a private prefix keeps a name from upstreams.
    pub(super) fn keeps(&self, name: usize) -> bool {
        self.private && NAMES[name].starts_with(PRIVATE)
    }

    /// Whether no upstream may be called for anything of a gem.
    pub(super) fn forbid(&self, name: usize) -> bool {
        self.deny == Some((name, None)) || self.keeps(name)
    }

    /// Whether a version is hidden that was pushed after the first look, at `pushed`; `None`: before it.
    pub(super) fn hide(&self, name: usize, token: &str, pushed: Option<u64>, now: u64) -> bool {
        let denied = |(denied, version): (usize, Option<usize>)| {
            denied == name && version.is_none_or(|version| number(TOKENS[version]) == number(token))
        };
        let young = |(cooldown, pushed): (u64, u64)| now < pushed + cooldown;
        self.forbid(name) || self.deny.is_some_and(denied) || self.cooldown.zip(pushed).is_some_and(young)
    }
}

fn number(token: &str) -> &str {
    token.split_once('-').map_or(token, |(number, _)| number)
}

pub(super) fn rules(often: usize) -> impl Strategy<Value = Rule> {
    let which = (prop_oneof![Just(often), 0..NAMES.len()], prop::option::of(0..TOKENS.len()));
    prop_oneof![
        3 => prop::option::weighted(0.8, prop_oneof![Just(100u64), Just(5000)]).prop_map(Rule::Cooldown),
        2 => prop::option::weighted(0.7, which).prop_map(Rule::Deny),
        1 => any::<bool>().prop_map(Rule::Private),
    ]
}
