//! `policy allow REPO --refused TIME` and `--lock FILE`: lets all versions through that requests of the last minutes were refused, or that
//! a lock names and a cooldown hides.

use super::hidden_file::{HiddenFile, by_version, count};
use super::{Allowed, allow, locked};
use crate::cli::api::{Api, REPOSITORIES, decode};
use crate::cli::context::Context;
use crate::cli::explained::Explained;
use crate::cli::failure::{Failure, plain};
use crate::cli::table;
use crate::formats;
use format::percent::{decode as decode_percent, segment};
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;

/// The most refused paths that are looked at.
const PATHS_MAX: usize = 1_000;
/// The most policies on the way to a version.
const LAYERS_MAX: usize = 16;

/// The versions to let through.
pub(super) enum Selection {
    /// The versions that requests were refused.
    Refused {
        /// Since when, as questions write it: `-900s`.
        since: String,
        /// Only requests with this token.
        by: Option<String>,
    },
    /// The versions of this lock.
    Lock(PathBuf),
}

/// The versions that are let through together.
pub(super) struct Versions {
    /// A repository that was asked, or that has the policy.
    pub(super) repository: String,
    pub(super) selection: Selection,
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

impl Versions {
    /// Lists the versions, asks at a terminal, and lets them through.
    pub(super) fn allow(&self, api: &Api, allowed: &Allowed, context: &mut Context<'_>) -> anyhow::Result<()> {
        let files = match &self.selection {
            Selection::Refused { since, by } => self.refused(since, by.as_deref(), api, context)?,
            Selection::Lock(path) => locked::hidden(path, &self.repository, api, context)?,
        };
        let versions = by_version(files);
        let rows = versions.iter().map(|HiddenFile { rule, requests, .. }| {
            let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            let then = if rule.command.is_some() { "is let through" } else { "stays hidden" };
            [
                rule.package.clone(),
                dash(requests.map(|requests| requests.to_string())),
                rule.repository.clone(),
                rule.text.clone(),
                dash(rule.until.clone()),
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
        let young: Vec<&HiddenFile> = versions.iter().filter(|version| version.rule.command.is_some()).collect();
        if young.is_empty() {
            return self.tell_of_none(api, context);
        }
        if !self.yes && context.can_ask() {
            let typed = context.ask(&format!("Type `yes` to let {} through: ", count(young.len())))?;
            if typed.trim() != "yes" {
                return Err(Failure::new("nothing was changed", None).into());
            }
        }
        let mut made = Vec::new();
        for HiddenFile { rule, file: (repository, path), .. } in &young {
            made.push(allow(api, &rule.repository, &rule.package, allowed)?);
            // Another policy on the way may hide it, too.
            for _ in 0..LAYERS_MAX {
                let rule = Explained::of(api, repository, path)?.rule;
                let Some(next) = rule.filter(|next| next.command.is_some()) else { break };
                made.push(allow(api, &next.repository, &next.package, allowed)?);
            }
        }
        api.print_json(&made.into(), context)?;
        let until = allowed.until.as_ref().map_or_else(String::new, |until| format!(" until {until}"));
        let are = if young.len() == 1 { "is" } else { "are" };
        Ok(writeln!(context.err, "{} {are} let through{until}", count(young.len()))?)
    }

    /// Tells that nothing can be let through, and of gems where to look.
    fn tell_of_none(&self, api: &Api, context: &mut Context<'_>) -> anyhow::Result<()> {
        api.print_json(&json!([]), context)?;
        let name = plain(&self.repository);
        let Selection::Refused { .. } = self.selection else {
            let text = format!("no cooldown hides a version of the lock from clients of `{name}`; nothing was changed");
            return Ok(writeln!(context.err, "{text}")?);
        };
        writeln!(context.err, "no version that `{name}` refused can be let through; nothing was changed")?;
        let shown = api.get(&format!("{REPOSITORIES}/{}", segment(&self.repository)))?;
        if let Some(hint) = shown["format"].as_str().and_then(formats::named).and_then(|face| (face.unrequested)(&name))
        {
            writeln!(context.err, "hint: {hint}")?;
        }
        Ok(())
    }

    /// The files that a policy refused and hides now.
    fn refused(
        &self,
        since: &str,
        by: Option<&str>,
        api: &Api,
        context: &mut Context<'_>,
    ) -> anyhow::Result<Vec<HiddenFile>> {
        let answer = events(since, by, api)?;
        if let Some(by) = by.filter(|_| answer.rows.is_empty()) {
            let known = api.get("/api/v1/tokens")?;
            if !known["tokens"].as_array().is_some_and(|all| all.iter().any(|one| one["name"] == by)) {
                let text = format!("there is no token `{}`, and no request with one was refused", plain(by));
                return Err(Failure::usage(text, "`daylight token list` lists the tokens").into());
            }
        }
        if !answer.exact || answer.complete < 1.0 || answer.left_out > 0 || answer.rows.len() == PATHS_MAX {
            writeln!(
                context.err,
                "note: not every refused request is known, so other versions may have been refused, too"
            )?;
        }
        let mut files = Vec::new();
        for RefusedPath { repository, path, count } in answer.rows {
            // Views of earlier moments have paths of another form.
            let Some(path) = path.strip_prefix(&format!("/repository/{}/", segment(&repository))) else { continue };
            let Some(Ok(path)) = decode_percent(path).map(String::from_utf8) else { continue };
            let Some(rule) = Explained::of(api, &repository, &path)?.rule else { continue };
            if repository == self.repository || rule.repository == self.repository {
                files.push(HiddenFile { rule, requests: Some(count), file: (repository, path) });
            }
        }
        Ok(files)
    }
}

/// The paths that a policy refused.
fn events(since: &str, by: Option<&str>, api: &Api) -> anyhow::Result<Answer> {
    let mut filters = vec![json!(["kind", "=", "request"]), json!(["reason", "=", "hidden_by_policy"])];
    filters.extend(by.map(|by| json!(["token", "=", by])));
    let mut question = json!({
        "from": since, "where": filters, "by": ["repository", "path"], "measures": ["count"], "limit": PATHS_MAX,
    });
    loop {
        let answer: Answer = decode(api.post("/api/v1/ask", &question)?)?;
        let Some(next) = answer.next.as_ref().filter(|_| answer.complete < 1.0) else { return Ok(answer) };
        question = json!({ "next": next });
    }
}
