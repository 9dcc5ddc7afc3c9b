//! `/api/v1/repositories/NAME/not-found`: the paths that an upstream is known not to have.

use crate::app::App;
use crate::error::Result;
use crate::lookup::pagination::{self, PageQuery};
use repository::moment::Moment;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use telemetry::Event;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Missing {
    missing: Vec<MissingPath>,
    /// What to give as `after` for the next part, which may be empty; null: this was the last.
    next: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MissingPath {
    path: String,
    /// Until then that is believed.
    until: Moment,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Forgotten {
    /// How many paths.
    forgotten: u64,
}

pub(super) async fn list(app: &App, name: &str, query: &str, event: &mut Event) -> Result<Value> {
    let PageQuery { after, limit } = pagination::read(query)?;
    let page = app.repositories.missing(name, &after, limit, event).await?;
    let missing = page.rows.into_iter().map(|(path, until)| MissingPath { path, until: Moment(until) });
    Ok(json!(Missing { missing: missing.collect(), next: page.next }))
}

/// Forgets the paths below `path`, or all where it is empty.
pub(super) async fn forget(app: &App, name: &str, path: &str, event: &mut Event) -> Result<Value> {
    let forgotten = app.repositories.forget_missing(name, path, event).await?;
    Ok(json!(Forgotten { forgotten }))
}
