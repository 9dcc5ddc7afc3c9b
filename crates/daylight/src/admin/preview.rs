//! `/api/v1/repositories/NAME/preview`: which requests of the last day would get another answer with changed settings. It changes nothing
//! and asks no upstream.

use super::cleanup::pruned_json;
use super::collisions::changes_json;
use super::explain::{content, explain};
use crate::access::Caller;
use crate::app::App;
use crate::error::Error;
use crate::route::Content;
use crate::settings_patch::SettingsPatch;
use repository::{Cached, FormerFiles, Repository, RepositoryTable};
use serde_json::{Value, json};
use std::sync::Arc;
use store::RepositoryId;
use telemetry::{Event, MemberRecord, MemberSaid};

/// Most paths that are compared, the most requested ones.
const PATHS_MAX: usize = 1_000;

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Resolution {
    /// 0: the status depends on the upstream of the member.
    status: u16,
    /// The member that has it, or whose upstream would be asked.
    member: Option<String>,
}

pub(super) async fn show(
    app: &App,
    name: &str,
    body: SettingsPatch,
    caller: &Caller,
    event: &mut Event,
) -> Result<Value, Error> {
    let former_files = body.former_files();
    let before = app.repositories.table(event).await?;
    let after = app.repositories.with_settings(name, |record| body.apply(record), event).await?;
    let id = app.repositories.find(name, event).await?.0.id;
    app.flush_sinks(event).await;
    let recent = app.recent_paths.counts();
    let (mut looked_at, mut left_out, mut changes) = (0, 0, Vec::new());
    for (path, count) in recent.paths {
        let Ok(url) = content(&path) else { continue };
        if ![&*before, &after].iter().any(|table| holds(table, &url, id)) {
            continue;
        }
        if looked_at == PATHS_MAX {
            left_out += 1;
            continue;
        }
        looked_at += 1;
        let old = resolve(app, &before, &url, caller, event).await?;
        let mut new = resolve(app, &after, &url, caller, event).await?;
        // Of the new upstream nothing is cached yet. What stays of the former one is answered as before.
        if let (FormerFiles::KeepVerified, Some(now), Some(was)) = (former_files, before.by_name.get(name), &old)
            && new.as_ref().is_some_and(|new| new.status == 0 && new.member.as_deref() == Some(name))
            && was.status == 200
            && was.member.as_deref() == Some(name)
            && app.repositories.stays_cached(now, &url.path, event).await?
        {
            new.clone_from(&old);
        }
        if old != new {
            let to_json =
                |one: Option<Resolution>| one.map(|one| json!({ "status": one.status, "member": one.member }));
            changes.push(json!({ "path": path, "requests": count, "before": to_json(old), "after": to_json(new) }));
        }
    }
    let since = recent.since.to_string();
    let mut value: Value = json!({ "since": since, "paths": looked_at, "left_out": left_out, "changes": changes });
    if let (Some(now), Some(then)) = (before.by_name.get(name), after.by_name.get(name))
        && let Some(cached) = app.repositories.former(now, then, event).await?
    {
        value["cached"] = cached_json(cached, former_files);
    }
    if let Some(changes) = app.repositories.owner_changes(&before, &after, id, event).await? {
        value["owners"] = changes_json(changes);
    }
    if let (Some(now), Some(then)) = (before.by_name.get(name), after.by_name.get(name))
        && now.record.retention != then.record.retention
        && then.record.retention.is_some()
    {
        let plan = app.repositories.prune_plan(then, event).await?;
        if let Some(pruned) = pruned_json(&plan) {
            value["pruned"] = pruned;
        }
    }
    Ok(value)
}

/// What is, or was, cached of an upstream that gets another URL.
pub(super) fn cached_json(cached: Cached, decided: FormerFiles) -> Value {
    let (lost_files, lost_bytes) = cached.lost(decided);
    json!({
        "files": cached.files, "size_bytes": cached.size_bytes,
        "verified_files": cached.verified_files, "verified_bytes": cached.verified_bytes,
        "lost_files": lost_files, "lost_bytes": lost_bytes,
    })
}

/// Whether a URL names this repository, or a group that contains it.
fn holds(table: &RepositoryTable, url: &Content, id: RepositoryId) -> bool {
    let of = |one: &Arc<Repository>| one.id == id || one.leaves.iter().any(|leaf| leaf.id == id);
    table.by_name.get(&url.repository).is_some_and(of)
}

/// The answer to a GET of a URL; `None`: it depends on a query, or the URL does not exist.
async fn resolve(
    app: &App,
    table: &RepositoryTable,
    url: &Content,
    caller: &Caller,
    event: &mut Event,
) -> Result<Option<Resolution>, Error> {
    let Some(repository) = table.by_name.get(&url.repository) else { return Ok(None) };
    let explained = match explain(app, url, repository.clone(), table.stamp, caller, event).await {
        Ok(Some(explained)) => explained.event,
        Ok(None) | Err(Error::Repository(_) | Error::MethodNotAllowed { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let open = explained.outcome.is_none();
    let decides = |one: &&MemberRecord| match one.said {
        MemberSaid::Hit | MemberSaid::Stale => !open,
        MemberSaid::Unknown => open,
        _ => false,
    };
    let member = explained.members.iter().find(decides).map(|one| one.member.clone());
    Ok(Some(Resolution { status: explained.status, member }))
}
