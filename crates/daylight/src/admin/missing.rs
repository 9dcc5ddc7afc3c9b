//! `/api/v1/repositories/NAME/not-found`: what an upstream was proven not to have.

use super::part;
use crate::app::App;
use crate::error::Error;
use serde_json::{Value, json};
use telemetry::Event;

pub(super) async fn list(app: &App, name: &str, query: &str, event: &mut Event) -> Result<Value, Error> {
    let (after, limit) = part::read(query)?;
    let listed = app.repositories.missing(name, (&after, limit), event).await?;
    let shown = |(path, until): &(String, telemetry::Millis)| json!({ "path": path, "until": until.to_string() });
    let rows: Vec<Value> = listed.rows.iter().map(shown).collect();
    Ok(json!({ "missing": rows, "next": listed.next }))
}

/// Forgets what is below `path`, or everything where it is empty.
pub(super) async fn forget(app: &App, (name, path): (&str, &str), event: &mut Event) -> Result<Value, Error> {
    let forgotten = app.repositories.forget_missing(name, path, event).await?;
    Ok(json!({ "forgotten": forgotten }))
}
