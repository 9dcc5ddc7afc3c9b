//! `/api/v1/repositories/NAME`: removes a repository, shows its size before that, and restores it.

use super::frees::with_frees;
use super::repositories::{holds_json, to_json};
use crate::app::App;
use crate::error::Error;
use format::percent::Form;
use repository::Author;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use telemetry::Event;

/// The body of a POST that restores a repository.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schemars(rename = "RestoreRepository")]
pub(super) struct RestoreBody {
    /// The name under which it comes back; without it, the one that it had.
    #[serde(rename = "as")]
    #[schemars(with = "String")]
    new_name: Option<String>,
}

pub(super) async fn holding(app: &App, name: &str, event: &mut Event) -> Result<Value, Error> {
    let (holding, keeps_names) = app.repositories.holding(name, event).await?;
    let mut value = holds_json(holding);
    value["keeps_names"] = keeps_names.into();
    Ok(value)
}

pub(super) async fn remove(
    app: &App,
    name: &str,
    query: &str,
    by: Author<'_>,
    event: &mut Event,
) -> Result<Value, Error> {
    let confirmed = Form(query).value("confirm");
    let removed = app.repositories.remove(name, confirmed.as_deref(), by, event).await?;
    let value = json!({
        "removed": name,
        "files": removed.holding.files,
        "size_bytes": removed.holding.size_bytes,
        "keeps_names": removed.kept_names,
        "restorable_until": removed.restorable_until.map(|until| until.to_string()),
    });
    Ok(with_frees(value, removed.frees))
}

pub(super) async fn restore(
    app: &App,
    server: &str,
    name: &str,
    body: RestoreBody,
    by: Author<'_>,
    event: &mut Event,
) -> Result<Value, Error> {
    let new_name = body.new_name.as_deref().unwrap_or(name);
    let restored = app.repositories.restore_repository(name, new_name, by, event).await?;
    Ok(to_json(app, server, &restored))
}
