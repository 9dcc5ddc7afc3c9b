//! `/api/v1/repositories`.

use crate::app::App;
use crate::conformance;
use crate::error::Error;
use crate::reply;
use format::gem::info::FormatVersion;
use front::Reply;
use http::StatusCode;
use repository::{NewRepository, Protocol, Repository};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use store::RepositoryKind;
use telemetry::Event;

/// Only the owners of a package may change it.
const ENFORCED: &str = "enforced";
/// Who owns a package is written down and decides nothing.
const RECORDED: &str = "recorded";

/// The body of a POST.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Add {
    name: String,
    format: String,
    kind: String,
    #[serde(default)]
    private: bool,
    #[serde(default)]
    info_format: Option<String>,
}

/// The body of a PATCH: what is not named stays as it is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    /// Index protocols by name, and whether they are to be answered.
    #[serde(default)]
    protocols: BTreeMap<String, bool>,
    /// What the lines of its `/info` are to tell.
    #[serde(default)]
    info_format: Option<String>,
    /// `enforced` or `recorded`.
    #[serde(default)]
    owners: Option<String>,
}

fn shown(app: &App, repository: &Repository) -> Value {
    let record = &repository.record;
    json!({
        "name": record.name,
        "url": format!("{}/repository/{}/", app.url, record.name),
        "format": record.format,
        "kind": record.kind,
        "private": record.private,
        "members": record.members,
        "protocols": repository.protocols(),
        "info_format": repository.info_format().as_str(),
        "owners": if record.owners_enforced { ENFORCED } else { RECORDED },
        "created": record.created.to_string(),
    })
}

pub(super) async fn list(app: &App, event: &mut Event) -> Result<Reply, Error> {
    let known = app.repositories.known(event).await?;
    let mut all: Vec<_> = known.by_name.values().collect();
    all.sort_by(|a, b| a.record.name.cmp(&b.record.name));
    let all: Vec<Value> = all.into_iter().map(|repository| shown(app, repository)).collect();
    Ok(reply::json(StatusCode::OK, &json!({ "repositories": all })))
}

pub(super) async fn show(app: &App, name: &str, event: &mut Event) -> Result<Reply, Error> {
    let (repository, _) = app.repositories.find(name, event).await?;
    Ok(reply::json(StatusCode::OK, &shown(app, &repository)))
}

pub(super) async fn add(app: &App, body: Add, by: &str, event: &mut Event) -> Result<Reply, Error> {
    let kind = match body.kind.as_str() {
        "hosted" => RepositoryKind::Hosted,
        "remote" => RepositoryKind::Remote,
        "group" => RepositoryKind::Group,
        other => {
            let other = Event::text(other);
            return Err(Error::Input(format!(
                "there is no kind `{other}` of repository; there are: hosted, remote, group"
            )));
        }
    };
    let info_format = body.info_format.as_deref().map(info_format).transpose()?;
    let info_format = info_format.unwrap_or_else(|| conformance::info_format(app.conformance));
    let new = NewRepository { name: body.name, format: body.format, kind, private: body.private, info_format };
    let made = app.repositories.add(new, by, event).await?;
    Ok(reply::json(StatusCode::CREATED, &shown(app, &made)))
}

fn info_format(name: &str) -> Result<FormatVersion, Error> {
    let there_is_none = || Error::Input(format!("there is no info format `{}`; there are: v1, v2", Event::text(name)));
    FormatVersion::named(name).ok_or_else(there_is_none)
}

pub(super) async fn change(app: &App, name: &str, body: Change, by: &str, event: &mut Event) -> Result<Reply, Error> {
    let protocols = body.protocols.iter().map(|(name, on)| Ok((Protocol::named(name)?, *on)));
    let protocols: Vec<_> = protocols.collect::<Result<_, repository::Error>>()?;
    let enforced = match body.owners.as_deref() {
        None => None,
        Some(ENFORCED) => Some(true),
        Some(RECORDED) => Some(false),
        Some(other) => {
            let other = Event::text(other);
            return Err(Error::Input(format!("owners are {ENFORCED} or {RECORDED}, not `{other}`")));
        }
    };
    let info_format = body.info_format.as_deref().map(info_format).transpose()?;
    let mut changed = app.repositories.switch(name, (&protocols, enforced), by, event).await?;
    if let Some(info_format) = info_format {
        changed = app.repositories.reform(name, info_format, by, event).await?;
    }
    Ok(reply::json(StatusCode::OK, &shown(app, &changed)))
}

pub(super) async fn compact(app: &App, name: &str, by: &str, event: &mut Event) -> Result<Reply, Error> {
    let now = app.clock.now();
    let compacted = app.repositories.rebuild_versions(name, now, by, event).await?;
    Ok(reply::json(StatusCode::OK, &shown(app, &compacted)))
}

pub(super) async fn remove(app: &App, name: &str, by: &str, event: &mut Event) -> Result<Reply, Error> {
    app.repositories.remove(name, by, event).await?;
    Ok(reply::no_content())
}
