//! `policy allow REPO --refused TIME`: lets all versions through that requests of the last minutes were refused.

use super::{Allowed, allow};
use crate::cli::api::{Api, decode};
use crate::cli::context::Context;
use crate::cli::failure::{Failure, plain};
use crate::cli::table;
use format::percent::{decode as decode_percent, segment};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::stdin;

/// The most refused paths that are looked at.
const PATHS_MAX: usize = 1_000;
/// The most policies on the way to a version.
const LAYERS_MAX: usize = 16;

/// The requests whose refusals are looked at.
pub(super) struct Refused {
    /// A repository that they asked, or that has the policy.
    pub(super) repository: String,
    /// Since when, as questions write it: `-15m`.
    pub(super) since: String,
    /// Only those with this token.
    pub(super) by: Option<String>,
    /// Whether nobody is asked.
    pub(super) yes: bool,
}

/// A part of the answer to a question.
#[derive(Debug, Deserialize)]
struct Answer {
    rows: Vec<RefusedPath>,
    exact: bool,
    complete: f64,
    left_out: u64,
    next: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RefusedPath {
    repository: String,
    path: String,
    count: u64,
}

#[derive(Debug, Deserialize)]
struct Explained {
    rule: Option<Rule>,
}

/// The rule that hides a version now.
#[derive(Debug, Deserialize)]
struct Rule {
    #[serde(default)]
    repository: String,
    package: String,
    text: String,
    until: Option<String>,
    /// There is none for a version that cannot be let through.
    command: Option<String>,
}

/// A version that is still hidden.
struct Version {
    rule: Rule,
    requests: u64,
    /// The repository and the path of one of its files.
    file: (String, String),
}

impl Refused {
    /// Lists the versions, asks at a terminal, and lets them through.
    pub(super) fn allow(&self, api: &Api, allowed: &Allowed, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let answer = self.events(api)?;
        let versions = self.versions(api, &answer)?;
        let rows = versions.iter().map(|Version { rule, requests, .. }| {
            let until = rule.until.clone().unwrap_or_else(|| "-".to_owned());
            let then = if rule.command.is_some() { "is let through" } else { "stays hidden" };
            [
                rule.package.clone(),
                requests.to_string(),
                rule.repository.clone(),
                rule.text.clone(),
                until,
                then.to_owned(),
            ]
        });
        if !context.flags.json && !versions.is_empty() {
            table::write(
                context.out,
                ["VERSION", "REQUESTS", "POLICY OF", "RULE", "HIDDEN UNTIL", "THEN"],
                rows.collect(),
            )?;
        }
        if !answer.exact || answer.complete < 1.0 || answer.left_out > 0 || answer.rows.len() == PATHS_MAX {
            writeln!(
                context.err,
                "note: not every refused request is known, so other versions may have been refused, too"
            )?;
        }
        let young: Vec<&Version> = versions.iter().filter(|version| version.rule.command.is_some()).collect();
        if young.is_empty() {
            api.print_json(&json!([]), context)?;
            let name = plain(&self.repository);
            return Ok(writeln!(
                context.err,
                "no version that `{name}` refused can be let through; nothing was changed"
            )?);
        }
        if !self.yes && context.can_ask() {
            write!(context.err, "Type `yes` to let {} through: ", count(young.len()))?;
            context.err.flush()?;
            let mut typed = String::new();
            stdin().read_line(&mut typed)?;
            if typed.trim() != "yes" {
                return Err(Failure::new("nothing was changed", None).into());
            }
        }
        let mut made = Vec::new();
        for Version { rule, file: (repository, path), .. } in &young {
            made.push(allow(api, &rule.repository, &rule.package, allowed)?);
            // Another policy on the way may hide it, too.
            for _ in 0..LAYERS_MAX {
                let Some(next) = explain(api, repository, path)?.filter(|next| next.command.is_some()) else { break };
                made.push(allow(api, &next.repository, &next.package, allowed)?);
            }
        }
        api.print_json(&made.into(), context)?;
        let until = allowed.until.as_ref().map_or_else(String::new, |until| format!(" until {until}"));
        let are = if young.len() == 1 { "is" } else { "are" };
        Ok(writeln!(context.err, "{} {are} let through{until}", count(young.len()))?)
    }

    /// The paths that a policy refused.
    fn events(&self, api: &Api) -> Result<Answer, anyhow::Error> {
        let mut filters = vec![json!(["kind", "=", "request"]), json!(["reason", "=", "hidden_by_policy"])];
        filters.extend(self.by.as_ref().map(|by| json!(["token", "=", by])));
        let mut question = json!({
            "from": self.since, "where": filters, "by": ["repository", "path"], "measures": ["count"], "limit": PATHS_MAX,
        });
        loop {
            let answer: Answer = decode(api.post("/api/v1/ask", &question)?)?;
            let Some(next) = answer.next.as_ref().filter(|_| answer.complete < 1.0) else { return Ok(answer) };
            question = json!({ "next": next });
        }
    }

    /// The versions among them that are hidden now, by policy and name.
    fn versions(&self, api: &Api, answer: &Answer) -> Result<Vec<Version>, anyhow::Error> {
        let mut versions: BTreeMap<(String, String), Version> = BTreeMap::new();
        for RefusedPath { repository, path, count } in &answer.rows {
            // Views of earlier moments have paths of another form.
            let Some(path) = path.strip_prefix(&format!("/repository/{}/", segment(repository))) else { continue };
            let Some(Ok(path)) = decode_percent(path).map(String::from_utf8) else { continue };
            let Some(rule) = explain(api, repository, &path)? else { continue };
            if *repository != self.repository && rule.repository != self.repository {
                continue;
            }
            let key = (rule.repository.clone(), rule.package.clone());
            let file = (repository.clone(), path);
            versions.entry(key).or_insert(Version { rule, requests: 0, file }).requests += count;
        }
        Ok(versions.into_values().collect())
    }
}

/// The rule that hides a file now.
fn explain(api: &Api, repository: &str, path: &str) -> Result<Option<Rule>, anyhow::Error> {
    let query = [("repository", repository), ("path", path)].map(|(name, value)| format!("{name}={}", segment(value)));
    let answer: Value = api.get(&format!("/api/v1/explain?{}", query.join("&")))?;
    Ok(decode::<Explained>(answer)?.rule)
}

fn count(versions: usize) -> String {
    if versions == 1 { "1 version".to_owned() } else { format!("{versions} versions") }
}
