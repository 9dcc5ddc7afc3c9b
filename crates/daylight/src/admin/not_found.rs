//! `/api/v1/repositories/NAME/not-found`: the paths that an upstream is known not to have.

use crate::app::App;
use crate::error::Error;
use crate::lookup::pagination::{self, PageQuery};
use serde_json::{Value, json};
use telemetry::Event;

pub(super) async fn list(app: &App, name: &str, query: &str, event: &mut Event) -> Result<Value, Error> {
    let PageQuery { after, limit } = pagination::read(query)?;
    let page = app.repositories.missing(name, &after, limit, event).await?;
    let to_json = |(path, until): &(String, telemetry::Millis)| json!({ "path": path, "until": until.to_string() });
    let rows: Vec<Value> = page.rows.iter().map(to_json).collect();
    Ok(json!({ "missing": rows, "next": page.next }))
}

/// Forgets the paths below `path`, or all where it is empty.
pub(super) async fn forget(app: &App, name: &str, path: &str, event: &mut Event) -> Result<Value, Error> {
    let forgotten = app.repositories.forget_missing(name, path, event).await?;
    Ok(json!({ "forgotten": forgotten }))
}
