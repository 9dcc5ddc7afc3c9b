//! `daylight cleanup`: plans or carries out the removal of what the rules of repositories no longer keep.

use super::api::{Api, PlanFlags, REPOSITORIES, decode};
use super::context::Context;
use super::failure::plain;
use super::frees;
use super::kept_names;
use super::progress::Bar;
use format::percent::segment;
use serde::Deserialize;
use serde_json::{Value, json};
use store::Progress;

/// Show what the retention rules would delete, and delete it with --yes
///
/// The rules are settings of a repository: `daylight repo set NAME --keep-versions 10 --keep-unused 90d`. A version is deleted only if no
/// rule keeps it. Within `store.undo` (a week by default), `daylight repo restore REPO PATH` restores deleted files, and `daylight repo
/// restore REPO NAME:VERSION` a gem. Cached files of an upstream are fetched again when they are requested.
#[derive(Debug, clap::Args)]
pub(super) struct Cleanup {
    /// Names of repositories [default: all that have rules]
    #[arg(value_name = "REPO")]
    repositories: Vec<String>,
    /// Delete without undo, and free the bytes at once: for a full disk
    #[arg(long)]
    no_undo: bool,
    #[command(flatten)]
    flags: PlanFlags,
}

#[derive(Debug, Deserialize)]
struct Answer {
    repositories: Vec<Plan>,
}

#[derive(Debug, Deserialize)]
struct Plan {
    repository: String,
    has_rules: bool,
    rules: Vec<Rule>,
    #[serde(default)]
    waits_until: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Rule {
    rule: String,
    versions: u64,
    files: u64,
    size_bytes: u64,
    examples: Vec<String>,
}

impl Cleanup {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::patient(context)?;
        let answer = cleanup(&api, self.repositories, self.no_undo, self.flags.yes)?;
        if api.print_json(&answer, context)? {
            return Ok(());
        }
        let frees = frees::sentence(&answer);
        let plans = answer["repositories"].as_array().cloned().unwrap_or_default();
        let answer: Answer = decode(answer)?;
        for (plan, answered) in answer.repositories.iter().zip(&plans) {
            show(plan, self.flags.yes, context)?;
            kept_names::write(answered, context.out)?;
        }
        if answer.repositories.iter().all(|plan| plan.rules.is_empty()) {
            return none(&answer.repositories, context);
        }
        if let Some(frees) = frees {
            writeln!(context.out, "{frees}")?;
        }
        if !self.flags.yes {
            writeln!(context.err, "nothing was changed; `--yes` removes it")?;
        }
        Ok(())
    }
}

/// Prints that there is nothing to remove, and lists the repositories without rules.
fn none(plans: &[Plan], context: &mut Context<'_>) -> anyhow::Result<()> {
    writeln!(context.out, "nothing to clean up")?;
    let without: Vec<&str> = plans.iter().filter(|plan| !plan.has_rules).map(|plan| plan.repository.as_str()).collect();
    let which = match (plans, &without[..]) {
        ([], _) => "no repository has rules".to_owned(),
        (_, []) => return Ok(()),
        (_, without) => format!("no rules are set for {}", plain(&without.join(", "))),
    };
    Ok(writeln!(context.err, "{which}: `daylight repo set NAME --keep-versions N --keep-unused TIME` sets them")?)
}

/// A plan is one call: bytes that several repositories keep come free only with the last of them. A cleanup is one call for each
/// repository, so that there is progress to show; a wrong name is refused before the first of them.
fn cleanup(api: &Api, names: Vec<String>, no_undo: bool, apply: bool) -> anyhow::Result<Value> {
    let call = |names: &[String]| {
        api.post("/api/v1/cleanup", &json!({ "repositories": names, "apply": apply, "no_undo": no_undo }))
    };
    let names = if names.is_empty() { with_rules(api)? } else { names };
    if !apply {
        return call(&names);
    }
    for name in &names {
        api.get(&format!("{REPOSITORIES}/{}", segment(name)))?;
    }
    let (bar, total) = (Bar::new(), names.len() as u64);
    let (mut plans, mut bytes, mut on) = (Vec::new(), 0, None);
    for (done, name) in (0..).zip(&names) {
        bar.show(Progress { done, total, of: "cleanup" });
        let answer = call(std::slice::from_ref(name))?;
        plans.extend(answer["repositories"].as_array().cloned().unwrap_or_default());
        bytes += answer["frees_bytes"].as_u64().unwrap_or_default();
        // Dates of this form are ordered like their texts.
        on = on.max(answer["frees_on"].as_str().map(str::to_owned));
    }
    Ok(json!({ "applied": apply, "repositories": plans, "frees_bytes": bytes, "frees_on": on }))
}

/// The names of the repositories that have rules.
fn with_rules(api: &Api) -> anyhow::Result<Vec<String>> {
    let answer = api.get(REPOSITORIES)?;
    let all = answer["repositories"].as_array().cloned().unwrap_or_default();
    let set = |value: &Value| match value {
        Value::Null => false,
        Value::Object(retention) => retention.values().any(|value| !value.is_null()),
        _ => true,
    };
    let ruled =
        all.iter().filter(|one| ["keep_versions", "keep_unused", "retention"].iter().any(|rule| set(&one[*rule])));
    Ok(ruled.filter_map(|one| one["name"].as_str().map(str::to_owned)).collect())
}

fn show(plan: &Plan, done: bool, context: &mut Context<'_>) -> std::io::Result<()> {
    let name = plain(&plan.repository);
    for Rule { rule, versions, files, size_bytes, examples } in &plan.rules {
        let (verb, rest) = (if done { "removed" } else { "removes" }, versions - examples.len() as u64);
        let more = if rest > 0 { format!(" and {rest} more (`--json` names them)") } else { String::new() };
        let examples: Vec<String> = examples.iter().map(|example| plain(example).to_string()).collect();
        writeln!(
            context.out,
            "{name}: {rule} {verb} {versions} with {files} files of {size_bytes} bytes: {}{more}",
            examples.join(", ")
        )?;
    }
    if let Some(until) = &plan.waits_until {
        writeln!(
            context.out,
            "{name}: keep_unused waits until {}: last uses are not recorded for long enough",
            plain(until)
        )?;
    }
    Ok(())
}
