//! What an exception changes: whether another rule or the policy of another repository still hides the version, and whether there is one.

use super::Allowed;
use crate::cli::api::{Api, REPOSITORIES, decode};
use crate::cli::context::Context;
use crate::cli::explained::Explained;
use crate::cli::failure::plain;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashSet;

#[derive(Debug, Deserialize)]
struct Repositories {
    repositories: Vec<RepositoryPolicy>,
}

#[derive(Debug, Deserialize)]
struct RepositoryPolicy {
    name: String,
    #[serde(default)]
    members: Vec<String>,
    #[serde(default)]
    policy: Map<String, Value>,
}

impl RepositoryPolicy {
    fn cools(&self) -> bool {
        self.policy.get("cooldown_s").is_some_and(|seconds| !seconds.is_null())
    }
}

/// Tells the effect of an exception that was just made.
pub(super) fn tell(
    api: &Api,
    repository: &str,
    package: &str,
    Allowed { until, .. }: &Allowed,
    context: &mut Context<'_>,
) -> anyhow::Result<()> {
    let (name, what) = (plain(repository), plain(package));
    let until = until.as_ref().map_or_else(String::new, |until| format!(" until {until}"));
    let explained = Explained::of_pattern(api, repository, package);
    match &explained {
        Some(Explained { rule: Some(rule), .. }) => {
            let (by, text) = (plain(&rule.repository), plain(&rule.text));
            writeln!(context.err, "warning: `{what}` is still hidden by the policy of `{by}`: {text}")?;
            if let Some(command) = &rule.command {
                writeln!(context.err, "hint: `{}`", plain(command))?;
            }
        }
        Some(explained) if explained.is_unknown() => writeln!(
            context.err,
            "warning: `{name}` knows no version that `{what}` names; such a version is let through{until} when it appears"
        )?,
        _ => writeln!(context.err, "`{what}` is let through{until}")?,
    }
    let all = decode::<Repositories>(api.get(REPOSITORIES)?)?.repositories;
    if all.iter().any(|one| one.name == repository && !one.cools()) {
        let others = related(&all, repository).filter(|one| one.cools()).map(|one| format!("`{}`", plain(&one.name)));
        let others = others.collect::<Vec<_>>().join(", ");
        let others = if others.is_empty() { others } else { format!("; the cooldown is that of {others}") };
        writeln!(context.err, "note: `{name}` has no cooldown, from which it could let a version through{others}")?;
    }
    Ok(())
}

/// Names the other repositories whose policies apply to what clients of this one see.
pub(super) fn tell_of_others(api: &Api, repository: &str, context: &mut Context<'_>) -> anyhow::Result<()> {
    let all = decode::<Repositories>(api.get(REPOSITORIES)?)?.repositories;
    let below = below(&all, repository);
    for one in all.iter().filter(|one| below.contains(&*one.name) && !one.policy.is_empty()) {
        let other = plain(&one.name);
        writeln!(
            context.err,
            "note: the policy of its member `{other}` applies, too: `daylight repo show {other}`, `daylight policy list {other}`"
        )?;
    }
    Ok(())
}

/// The members at any depth, and the groups that have it as one.
fn related<'a>(all: &'a [RepositoryPolicy], name: &'a str) -> impl Iterator<Item = &'a RepositoryPolicy> {
    let members = below(all, name);
    all.iter().filter(move |one| members.contains(&*one.name) || below(all, &one.name).contains(name))
}

/// The names of the members at any depth.
fn below<'a>(all: &'a [RepositoryPolicy], name: &str) -> HashSet<&'a str> {
    let members = |name: &str| all.iter().find(|one| one.name == name).map_or(&[][..], |one| &one.members);
    let (mut found, mut next) = (HashSet::new(), members(name).iter().collect::<Vec<_>>());
    while let Some(one) = next.pop() {
        if found.insert(one.as_str()) {
            next.extend(members(one));
        }
    }
    found
}
