//! Finds the event of an answer by the id in its `Daylight-Event`.

use crate::app::App;
use crate::error::{Error, Result};
use crate::nodes::{self, Others};
use serde_json::Value;
use store::Lane;
use telemetry::{Event, EventId, Op};

/// The event as JSON, while it is kept: by this node, or by one of these others. Then it has the name of its node.
pub(crate) async fn find(app: &App, id: &str, others: Option<&Others>, event: &mut Event) -> Result<Value> {
    let id = EventId::read(id).ok_or_else(|| {
        Error::Input("an event's id is 16 hexadecimal digits, as in the header `Daylight-Event` of an answer".into())
    })?;
    match (find_here(app, id, event).await, others) {
        (Err(Error::NoSuchEvent(_)), Some(others)) => nodes::event::find(others, id, event).await,
        (Ok(found), Some(others)) => Ok(nodes::event::of(others.own(), found)),
        (found, _) => found,
    }
}

async fn find_here(app: &App, id: EventId, event: &mut Event) -> Result<Value> {
    if let Some(found) = app.recent.find(id) {
        return Ok(found.json());
    }
    // It may have ended a moment ago, and not be written yet.
    app.flush_sinks(event).await;
    if let Some(found) = app.recent.find(id) {
        return Ok(found.json());
    }
    let insight = app.insight.clone();
    let read = app.repositories.workers().run(Lane::Index, Op::EventsRead, event, move |()| insight.event(id));
    read.await??.ok_or(Error::NoSuchEvent(id))
}
