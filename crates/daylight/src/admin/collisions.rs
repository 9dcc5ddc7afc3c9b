//! `/api/v1/repositories/NAME/collisions`: the names that several members of a group of gems have.

use crate::app::App;
use crate::error::Result;
use crate::lookup::pagination::{self, PageQuery};
use serde_json::{Value, json};
use telemetry::Event;

pub(super) async fn list(app: &App, name: &str, query: &str, event: &mut Event) -> Result<Value> {
    let PageQuery { after, limit } = pagination::read(query)?;
    let only_waiting = pagination::flag(query, "waiting")?;
    Ok(json!(repository::collisions(app.services(), name, &after, limit, only_waiting, event).await?))
}
