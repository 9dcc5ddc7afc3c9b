//! `/api/v1/cleanup` and `/api/v1/repositories/NAME/purge`: plans of removals, and the removal.

use super::frees::with_frees;
use super::kept_names::with_kept_names;
use crate::access::Caller;
use crate::app::App;
use crate::error::Error;
use crate::uses::recording;
use repository::{CleanupPlan, Cleanups, PrunePlan, RulePlan};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use telemetry::Event;

/// The body of a POST for a cleanup.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct CleanupRequest {
    /// Names; none: all that have rules.
    #[serde(default)]
    repositories: Vec<String>,
    /// Whether to take away what is planned.
    #[serde(default)]
    apply: bool,
    /// Whether the removal cannot be undone, so that the bytes are deleted at once.
    #[serde(default)]
    no_undo: bool,
}

/// The body of a POST for a purge.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct PurgeRequest {
    /// A path, a gem NAME or NAME:VERSION, an artifact GROUP:ARTIFACT or GROUP:ARTIFACT:VERSION.
    what: String,
    /// The reason. It is shown when somebody tries to publish the same again.
    #[schemars(length(max = 1000))]
    why: String,
    /// Whether to take it away.
    #[serde(default)]
    apply: bool,
}

pub(super) async fn cleanup(
    app: &App,
    body: CleanupRequest,
    caller: &Caller,
    event: &mut Event,
) -> Result<Value, Error> {
    let by = body.apply.then(|| caller.actor());
    recording::record_all(app, event).await?;
    let Cleanups { plans, frees } = app.repositories.cleanup(&body.repositories, by, body.no_undo, event).await?;
    free_now(app, body.apply, event).await;
    let plans: Vec<Value> = plans.iter().map(to_json).collect();
    Ok(with_frees(json!({ "applied": body.apply, "repositories": plans }), frees))
}

pub(super) async fn purge(
    app: &App,
    name: &str,
    body: PurgeRequest,
    caller: &Caller,
    event: &mut Event,
) -> Result<Value, Error> {
    let by = body.apply.then(|| caller.actor());
    let purge = app.repositories.purge(name, &body.what, &body.why, by, event).await?;
    free_now(app, body.apply, event).await;
    let sum = purge.plan.rules.first();
    let answer = json!({
        "applied": body.apply,
        "files": sum.map_or(0, |sum| sum.files),
        "size_bytes": sum.map_or(0, |sum| sum.size_bytes),
        "examples": sum.map(RulePlan::examples).unwrap_or_default(),
        "names": sum.map(|sum| sum.names.as_slice()).unwrap_or_default(),
        "also_in": purge.also_in,
    });
    Ok(with_kept_names(with_frees(answer, purge.frees), &purge.kept_names))
}

/// Deletes the bytes that nothing keeps any more, so that a removal frees space before it is acknowledged. What remains, for example
/// because a backup is running, is deleted in a later round.
async fn free_now(app: &App, applied: bool, event: &mut Event) {
    if !applied {
        return;
    }
    let collected = app.store.collect_due(event).await;
    // An open file keeps its space.
    app.repositories.close_stale_files();
    if let Err(error) = collected {
        app.log.warn("the bytes of removed files are not deleted yet", &[("cause", &error)]);
    }
}

fn to_json(plan: &CleanupPlan) -> Value {
    let rules = plan.rules.iter().map(|rule| {
        json!({
            "rule": rule.rule,
            "versions": rule.versions,
            "files": rule.files,
            "size_bytes": rule.size_bytes,
            "examples": rule.examples(),
            "names": rule.names,
        })
    });
    let value = json!({
        "repository": plan.repository,
        "has_rules": plan.has_rules,
        "rules": rules.collect::<Vec<_>>(),
        "waits_until": plan.waits_until.map(|until| until.to_string()),
    });
    with_kept_names(value, &plan.kept_names)
}

/// The builds of snapshots that changed rules delete; `None`: all are kept.
pub(super) fn pruned_json(plan: &PrunePlan) -> Option<Value> {
    let files = plan.files.as_ref()?;
    Some(json!({
        "files": files.files,
        "size_bytes": files.size_bytes,
        "examples": files.examples(),
        "names": files.names,
        "restorable_until": plan.restorable_until.to_string(),
    }))
}
