//! `/api/v1/cleanup` and `/api/v1/repositories/NAME/purge`: plans of what goes, and taking it away.

use crate::access::Caller;
use crate::app::App;
use crate::error::Error;
use crate::use_recording;
use repository::CleanupPlan;
use serde::Deserialize;
use serde_json::{Value, json};
use telemetry::{Event, Millis};

/// The body of a POST for a cleanup.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct CleanupRequest {
    /// Names of repositories; none: all that have rules.
    #[serde(default)]
    repositories: Vec<String>,
    /// Whether to take away what is planned.
    #[serde(default)]
    apply: bool,
}

/// The body of a POST for a purge.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct PurgeRequest {
    /// A path, a package, or `PACKAGE:VERSION`.
    what: String,
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
    use_recording::record_all(app, event).await?;
    let plans = app.repositories.cleanup(&body.repositories, by, event).await?;
    let frees: u64 = plans.iter().map(bytes).sum();
    let on = app.clock.now().plus(app.repositories.undo_period());
    let plans: Vec<Value> = plans.iter().map(to_json).collect();
    Ok(json!({ "applied": body.apply, "repositories": plans, "frees_bytes": frees, "frees_on": date(frees, on) }))
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
    let sum = purge.plan.rules.first();
    let frees = purge.frees_bytes;
    Ok(json!({
        "applied": body.apply,
        "files": sum.map_or(0, |sum| sum.files),
        "size_bytes": bytes(&purge.plan),
        "examples": sum.map(|sum| sum.examples.clone()).unwrap_or_default(),
        "also_in": purge.also_in,
        "frees_bytes": frees,
        "frees_on": date(frees, app.clock.now()),
    }))
}

fn bytes(plan: &CleanupPlan) -> u64 {
    plan.rules.iter().map(|rule| rule.size_bytes).sum()
}

/// When bytes come free, if any do.
fn date(bytes: u64, on: Millis) -> Option<String> {
    (bytes > 0).then(|| on.to_string())
}

fn to_json(plan: &CleanupPlan) -> Value {
    let rules = plan.rules.iter().map(|rule| {
        json!({
            "rule": rule.rule,
            "versions": rule.versions,
            "files": rule.files,
            "size_bytes": rule.size_bytes,
            "examples": rule.examples,
        })
    });
    json!({
        "repository": plan.repository,
        "rules": rules.collect::<Vec<_>>(),
        "waits_until": plan.waits_until.map(|until| until.to_string()),
    })
}
