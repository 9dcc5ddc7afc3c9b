//! `/api/v1/repositories/NAME`: removes a repository, shows its size before that, and restores it.

use super::frees::Freed;
use super::repositories::RepositoryValue;
use crate::app::App;
use crate::error::Result;
use format::percent::Form;
use repository::moment::Moment;
use repository::{Author, RemovedRepository};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use telemetry::Event;

/// The body of a POST that restores a repository.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schemars(rename = "RestoreRepository")]
pub(super) struct RestoreBody {
    /// The name under which it comes back; without it, the one that it had.
    #[serde(default, rename = "as")]
    #[schemars(with = "String")]
    new_name: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RemovedRepository")]
pub(super) struct Removed {
    /// Its name, which is free again.
    removed: String,
    /// How many files it held.
    files: u64,
    /// The sum of their sizes.
    size_bytes: u64,
    /// Whether it kept its names from upstreams, which are asked for them again from now on, also if a repository of the same name is
    /// made.
    keeps_names: bool,
    #[serde(flatten)]
    frees: Freed,
    /// Until then it can be brought back. Null: the removal is final.
    restorable_until: Option<Moment>,
}

pub(super) async fn holding(app: &App, name: &str, event: &mut Event) -> Result<Value> {
    Ok(json!(repository::holding(app.services(), name, event).await?))
}

pub(super) async fn remove(app: &App, name: &str, query: &str, by: Author<'_>, event: &mut Event) -> Result<Value> {
    let confirmed = Form(query).value("confirm");
    let RemovedRepository { holding, frees, restorable_until, kept_names } =
        app.repositories.remove(name, confirmed.as_deref(), by, event).await?;
    Ok(json!(Removed {
        removed: name.to_owned(),
        files: holding.files,
        size_bytes: holding.size_bytes,
        keeps_names: kept_names,
        frees: frees.into(),
        restorable_until: restorable_until.map(Moment),
    }))
}

pub(super) async fn restore(
    app: &App,
    server: &str,
    name: &str,
    body: RestoreBody,
    by: Author<'_>,
    event: &mut Event,
) -> Result<Value> {
    let new_name = body.new_name.as_deref().unwrap_or(name);
    let restored = app.repositories.restore_repository(name, new_name, by, event).await?;
    Ok(json!(RepositoryValue::new(app, server, &restored)))
}
