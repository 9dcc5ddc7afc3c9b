//! `/api/v1/repositories/NAME/collisions`: the names that several members of a group of gems have.

use crate::app::App;
use crate::error::Error;
use crate::lookup::pagination::{self, PageQuery};
use repository::{Collision, Collisions, NameOwnerChange, OwnerChanges};
use serde_json::{Value, json};
use telemetry::Event;

pub(super) async fn list(app: &App, name: &str, query: &str, event: &mut Event) -> Result<Value, Error> {
    let PageQuery { after, limit } = pagination::read(query)?;
    let only_waiting = pagination::flag(query, "waiting")?;
    let found = repository::collisions(app.repositories.services(), name, &after, limit, only_waiting, event).await?;
    let Collisions { names, waiting, unknown, rows, next } = found;
    let rows: Vec<Value> = rows.into_iter().map(to_json).collect();
    Ok(json!({ "names": names, "waiting": waiting, "unknown": unknown, "collisions": rows, "next": next }))
}

fn to_json(collision: Collision) -> Value {
    let Collision { name, owner, because, members, waiting } = collision;
    json!({ "name": name, "owner": owner, "because": because.as_str(), "members": members, "waiting": waiting })
}

/// The names that would have another owner.
pub(super) fn changes_json(changes: OwnerChanges) -> Value {
    let one = |change: NameOwnerChange| {
        let NameOwnerChange { group, name, before, after } = change;
        json!({ "group": group, "name": name, "before": before, "after": after })
    };
    json!({ "count": changes.count, "names": changes.names.into_iter().map(one).collect::<Vec<_>>() })
}
