//! `/api/v1/cleanup` and `/api/v1/repositories/NAME/purge`: plans of removals, and the removal.

use super::frees::Freed;
use crate::access::Caller;
use crate::app::App;
use crate::error::Result;
use crate::uses::recording;
use repository::moment::Moment;
use repository::{CleanupPlan, Cleanups, KeptName, PrunePlan, PurgePlan, RulePlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use telemetry::Event;

/// The body of a POST for a cleanup.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct CleanupRequest {
    /// Names; none: all that have rules.
    #[serde(default)]
    repositories: Vec<String>,
    /// Whether to carry out the plan.
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

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Cleanup {
    applied: bool,
    #[serde(flatten)]
    frees: Freed,
    repositories: Vec<CleanupPlan>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Purge {
    applied: bool,
    files: u64,
    size_bytes: u64,
    /// The first five files.
    examples: Vec<String>,
    /// All files, 10,000 at most: `files` counts them.
    names: Vec<String>,
    /// Other repositories with the same bytes, which therefore stay.
    also_in: BTreeSet<String>,
    /// Names of which nothing is left, and which stay with the repository all the same: the group asks no upstream for them.
    #[schemars(length(max = 100))]
    kept_names: Vec<KeptName>,
    #[serde(flatten)]
    frees: Freed,
}

/// The builds of snapshots that changed rules delete.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Pruned {
    /// How many files of builds of snapshots the new rules do not keep. They are deleted; a preview only counts them.
    files: u64,
    /// The sum of their sizes.
    size_bytes: u64,
    /// The first five of them.
    examples: Vec<String>,
    /// All of them, 10,000 at most.
    names: Vec<String>,
    /// Until then they can be restored, once the rules keep them again.
    restorable_until: Moment,
}

pub(super) async fn cleanup(app: &App, body: CleanupRequest, caller: &Caller, event: &mut Event) -> Result<Value> {
    let by = body.apply.then(|| caller.actor());
    recording::record_all(app, event).await?;
    let Cleanups { plans, frees } = app.repositories.cleanup(&body.repositories, by, body.no_undo, event).await?;
    free_now(app, body.apply, event).await;
    Ok(json!(Cleanup { applied: body.apply, frees: frees.into(), repositories: plans }))
}

pub(super) async fn purge(
    app: &App,
    name: &str,
    body: PurgeRequest,
    caller: &Caller,
    event: &mut Event,
) -> Result<Value> {
    let by = body.apply.then(|| caller.actor());
    let PurgePlan { mut plan, also_in, frees, kept_names } =
        app.repositories.purge(name, &body.what, &body.why, by, event).await?;
    free_now(app, body.apply, event).await;
    let RulePlan { files, size_bytes, examples, names, .. } = plan.rules.pop().unwrap_or_default();
    let (applied, frees) = (body.apply, frees.into());
    Ok(json!(Purge { applied, files, size_bytes, examples, names, also_in, kept_names, frees }))
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

impl Pruned {
    /// The builds that changed rules delete; `None`: all are kept.
    pub(super) fn of(plan: PrunePlan) -> Option<Self> {
        let RulePlan { files, size_bytes, examples, names, .. } = plan.files?;
        Some(Self { files, size_bytes, examples, names, restorable_until: Moment(plan.restorable_until) })
    }
}
