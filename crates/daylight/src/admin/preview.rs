//! `/api/v1/repositories/NAME/preview`: which of the last day's requests would be answered otherwise, were a repository set so.
//! Nothing is changed for that, and no upstream is asked.

use super::explain::{content, explain};
use crate::access::Caller;
use crate::app::App;
use crate::error::Error;
use crate::route::Content;
use crate::settings_patch::SettingsPatch;
use repository::{Repository, RepositoryTable};
use serde_json::{Value, json};
use std::sync::Arc;
use store::RepositoryId;
use telemetry::{Event, MemberRecord, MemberSaid};

/// Most paths that are looked at, those that are asked for most.
const PATHS_MAX: usize = 1_000;

/// How a request is answered.
#[derive(Debug, PartialEq, Eq)]
struct Resolved {
    /// 0: it depends on the member's upstream.
    status: u16,
    /// The member that has it, or whose upstream would be asked.
    member: Option<String>,
}

pub(super) async fn show(
    app: &App,
    name: &str,
    body: SettingsPatch,
    who: &Caller,
    event: &mut Event,
) -> Result<Value, Error> {
    let former_files = body.former_files();
    let before = app.repositories.known(event).await?;
    let after = app.repositories.with_settings(name, |record| body.apply(record), event).await?;
    let id = app.repositories.find(name, event).await?.0.id;
    app.flush_sinks(event).await;
    let recent = app.recent_paths.counts();
    let (mut looked_at, mut left_out, mut changes) = (0, 0, Vec::new());
    for (path, count) in recent.paths {
        let Ok(url) = content(&path) else { continue };
        if ![&*before, &after].iter().any(|known| holds(known, &url, id)) {
            continue;
        }
        if looked_at == PATHS_MAX {
            left_out += 1;
            continue;
        }
        looked_at += 1;
        let was = resolve(app, &before, &url, who, event).await?;
        let will_be = resolve(app, &after, &url, who, event).await?;
        if was != will_be {
            let shown = |one: Option<Resolved>| one.map(|one| json!({ "status": one.status, "member": one.member }));
            changes.push(json!({ "path": path, "requests": count, "before": shown(was), "after": shown(will_be) }));
        }
    }
    let since = recent.since.to_string();
    let mut told: Value = json!({ "since": since, "paths": looked_at, "left_out": left_out, "changes": changes });
    if let (Some(now), Some(then)) = (before.by_name.get(name), after.by_name.get(name))
        && let Some(cached) = app.repositories.former(now, then, event).await?
    {
        let (lost_files, lost_bytes) = cached.lost(former_files);
        told["cached"] = json!({
            "files": cached.files, "size_bytes": cached.size_bytes,
            "verified_files": cached.verified_files, "verified_bytes": cached.verified_bytes,
            "lost_files": lost_files, "lost_bytes": lost_bytes,
        });
    }
    Ok(told)
}

/// Whether the repository that a URL names is this one, or a group that holds it.
fn holds(known: &RepositoryTable, url: &Content, id: RepositoryId) -> bool {
    let of = |one: &Arc<Repository>| one.id == id || one.leaves.iter().any(|leaf| leaf.id == id);
    known.by_name.get(&url.repository).is_some_and(of)
}

/// How a URL is answered; `None`: that depends on a query, or it is no such URL.
async fn resolve(
    app: &App,
    known: &RepositoryTable,
    url: &Content,
    who: &Caller,
    event: &mut Event,
) -> Result<Option<Resolved>, Error> {
    let Some(repository) = known.by_name.get(&url.repository) else { return Ok(None) };
    let told = match explain(app, url, (repository.clone(), known.stamp), who, event).await {
        Ok(Some(told)) => told,
        Ok(None) | Err(Error::Repository(_) | Error::MethodNotAllowed { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let open = told.outcome.is_none();
    let decides = |one: &&MemberRecord| match one.said {
        MemberSaid::Hit | MemberSaid::Stale => !open,
        MemberSaid::Unknown => open,
        _ => false,
    };
    let member = told.members.iter().find(decides).map(|one| one.member.clone());
    Ok(Some(Resolved { status: told.status, member }))
}
