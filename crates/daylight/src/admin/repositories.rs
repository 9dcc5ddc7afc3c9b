//! `/api/v1/repositories`.

use super::cleanup::pruned_json;
use super::exceptions;
use super::frees::with_frees;
use super::preview::{cached_json, hosted_json};
use crate::app::App;
use crate::config::duration;
use crate::conformance;
use crate::error::Error;
use crate::lookup::pagination::{self, PageQuery};
use crate::settings_patch::{RepositoryDefinition, SettingsPatch};
use repository::{
    Author, ChangedRepository, ClaimedOver, FollowedState, Held, HeldBackState, HintFigures, IndexCheck, Repository,
    Unconfirmed,
};
use serde_json::{Value, json};
use std::time::Duration;
use store::RepositoryKind;
use telemetry::{Event, Millis, Reason};

/// What a repository holds as JSON.
pub(super) fn holds_json(holds: Held) -> Value {
    json!({ "files": holds.files, "size_bytes": holds.size_bytes, "packages": holds.packages })
}

/// A repository as JSON. `server` is the URL of the server.
pub(super) fn to_json(app: &App, server: &str, repository: &Repository) -> Value {
    let record = &repository.record;
    let mut value = json!({
        "name": record.name,
        "url": format!("{server}/repository/{}/", record.name),
        "format": record.format,
        "kind": record.kind,
        "private": record.private,
        "created": record.created.to_string(),
        "holds": holds_json(app.repositories.holds(repository)),
    });
    let settings = match record.kind {
        RepositoryKind::Remote => json!({ "remote": record.remote }),
        RepositoryKind::Group => {
            let since = (0..record.members.len()).map(|at| record.member_since(at).to_string());
            json!({ "members": record.members, "members_since": since.collect::<Vec<_>>() })
        }
        RepositoryKind::Hosted => repository.format.hosted_settings(record),
    };
    if repository.format.is_tree() {
        value["listing"] = record.listing.unwrap_or(true).into();
    }
    if let Some(index) = repository.followed() {
        value["index"] = index_json(index);
    }
    if let Some(secret) = &record.hook_secret {
        value["hook_secret"] = secret.as_str().into();
    }
    if let Some(hooks) = repository.hints(app.clock.now()) {
        value["hooks"] = hooks_json(hooks);
    }
    if record.kind == RepositoryKind::Remote {
        value["behind_since"] = json!(repository.behind_since(app.clock.now()).map(|at| at.to_string()));
    }
    if let Some(policy) = &record.policy {
        value["policy"] = exceptions::policy_json(policy);
    }
    if let Some(versions) = record.keep_versions {
        value["keep_versions"] = versions.into();
    }
    if let Some(seconds) = record.keep_unused_s {
        value["keep_unused"] = duration::show(Duration::from_secs(seconds)).into();
    }
    if !record.claims.is_empty() {
        value["claims"] = json!(record.claims);
    }
    if let (Value::Object(value), Value::Object(settings)) = (&mut value, settings) {
        value.extend(settings);
    }
    value
}

/// How the index of an upstream stands, as JSON.
fn index_json(index: FollowedState) -> Value {
    // It was never proven where the server did not look since its start.
    let moment = |at: Millis| (at.0 > 0).then(|| at.to_string());
    let held_back = index.held_back.map(|HeldBackState { names, since, accepted }| {
        json!({ "names": names, "since": since.to_string(), "accepted": accepted })
    });
    json!({
        "names": index.names,
        "looked_at": moment(index.looked),
        "proven": moment(index.proven),
        "failure": index.failure.map(Reason::as_str),
        "held_back": held_back,
    })
}

/// How the hooks of a repository go, as JSON.
fn hooks_json(hooks: HintFigures) -> Value {
    let moment = |at: Option<Millis>| at.map(|at| at.to_string());
    json!({
        "taken": hooks.taken,
        "refused": hooks.refused,
        "lost": hooks.lost,
        "unseen": hooks.unseen,
        "waiting": hooks.waiting,
        "last": moment(hooks.last),
        "last_seen": moment(hooks.seen),
        "lag_ms": hooks.lag_ms,
    })
}

pub(super) async fn list(app: &App, server: &str, event: &mut Event) -> Result<Value, Error> {
    let known = app.repositories.table(event).await?;
    let mut all: Vec<_> = known.by_name.values().collect();
    all.sort_by(|a, b| a.record.name.cmp(&b.record.name));
    let all: Vec<Value> = all.into_iter().map(|repository| to_json(app, server, repository)).collect();
    Ok(json!({ "repositories": all }))
}

pub(super) async fn show(app: &App, server: &str, name: &str, event: &mut Event) -> Result<Value, Error> {
    let (repository, _) = app.repositories.find(name, event).await?;
    Ok(to_json(app, server, &repository))
}

pub(super) async fn add(
    app: &App,
    server: &str,
    body: RepositoryDefinition,
    by: Author<'_>,
    event: &mut Event,
) -> Result<Value, Error> {
    body.settings()?.check_references(&app.references)?;
    let record = body.record(conformance::info_format(app.conformance))?;
    let hidden = app.repositories.hidden_by_new(&record, event).await?;
    if let Some(hidden) = hidden.filter(|_| !body.include_hosted) {
        let (name, hidden) = (record.name, Box::new(hidden));
        return Err(repository::Error::from(Unconfirmed::WouldHideHosted { name, hidden }).into());
    }
    let made = app.repositories.add(record, by, event).await?;
    Ok(to_json(app, server, &made))
}

pub(super) async fn change(
    app: &App,
    server: &str,
    name: &str,
    body: SettingsPatch,
    by: Author<'_>,
    event: &mut Event,
) -> Result<Value, Error> {
    body.check_references(&app.references)?;
    let info_format = body.info_format()?;
    let claimed = app.repositories.find(name, event).await?.0.record.claims.clone();
    let set = app.repositories.set_deciding(name, |record| body.apply(record), body.decisions(), by, event);
    let ChangedRepository { repository: mut changed, former, frees, pruned, hidden, difference } = set.await?;
    if body.changes_urls() {
        app.repositories.pin_anew(name, event).await?;
    }
    if let Some(info_format) = info_format {
        changed = repository::reform(app.repositories.services(), name, info_format, by, event).await?;
    }
    let mut answer = to_json(app, server, &changed);
    answer["difference"] = difference.into();
    if let Some(former) = former.filter(|former| former.files > 0) {
        answer["cached"] = cached_json(former, body.decisions().former_files);
    }
    if let Some(hidden) = &hidden {
        answer["hosted"] = hosted_json(hidden);
    }
    if let Some(pruned) = pruned.as_ref().and_then(pruned_json) {
        answer["pruned"] = pruned;
    }
    let claims: Vec<String> = changed.record.claims.iter().filter(|name| !claimed.contains(name)).cloned().collect();
    let over = repository::claimed_over(app.repositories.services(), &changed, &claims, event).await?;
    if !over.is_empty() {
        let over = over.into_iter().map(|ClaimedOver { name, group, repository, versions }| {
            json!({ "name": name, "group": group, "repository": repository, "versions": versions })
        });
        answer["claimed_over"] = over.collect();
    }
    Ok(match frees {
        Some(frees) => with_frees(answer, frees),
        None => answer,
    })
}

pub(super) async fn compact(
    app: &App,
    server: &str,
    name: &str,
    by: Author<'_>,
    event: &mut Event,
) -> Result<Value, Error> {
    let now = app.clock.now();
    let compacted = repository::rebuild_versions(app.repositories.services(), name, now, by, event).await?;
    Ok(to_json(app, server, &compacted))
}

/// Believes an index of the upstream that is held back. Where the upstream fails now, it is told as accepted, and counts later.
pub(super) async fn accept_index(app: &App, server: &str, name: &str, event: &mut Event) -> Result<Value, Error> {
    let repository = repository::accept_index(app.repositories.services(), name, event).await?;
    Ok(to_json(app, server, &repository))
}

pub(super) async fn check_index(app: &App, name: &str, query: &str, event: &mut Event) -> Result<Value, Error> {
    let PageQuery { after, limit } = pagination::read(query)?;
    let IndexCheck { names, versions, infos, older, gems, unproven, problems, next } =
        repository::check_index(app.repositories.services(), name, &after, limit, event).await?;
    Ok(json!({
        "names": names, "versions": versions, "infos": infos, "older": older, "gems": gems, "unproven": unproven,
        "problems": problems, "next": next,
    }))
}
