//! `/api/v1/repositories/NAME`: removing it, how much that takes away, and bringing it back.

use super::repositories::shown;
use crate::app::App;
use crate::error::Error;
use format::percent::Form;
use serde::Deserialize;
use serde_json::{Value, json};
use telemetry::Event;

/// How a repository comes back.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Restore {
    /// Under this name, where that is another than it had.
    #[serde(rename = "as")]
    new_name: Option<String>,
}

pub(super) async fn holding(app: &App, name: &str, event: &mut Event) -> Result<Value, Error> {
    let holding = app.repositories.holding(name, event).await?;
    Ok(json!({ "files": holding.files, "size_bytes": holding.size_bytes }))
}

pub(super) async fn remove(app: &App, name: &str, query: &str, by: &str, event: &mut Event) -> Result<Value, Error> {
    let confirmed = Form(query).value("confirm");
    let removed = app.repositories.remove(name, confirmed.as_deref(), by, event).await?;
    let told = json!({
        "removed": name,
        "files": removed.holding.files,
        "size_bytes": removed.holding.size_bytes,
        "restorable_until": removed.restorable_until.to_string(),
    });
    Ok(told)
}

pub(super) async fn restore(app: &App, name: &str, body: Restore, by: &str, event: &mut Event) -> Result<Value, Error> {
    let new_name = body.new_name.as_deref().unwrap_or(name);
    let restored = app.repositories.restore_repository(name, new_name, by, event).await?;
    Ok(shown(app, &restored))
}
