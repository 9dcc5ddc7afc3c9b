//! `/api/v1/events/ID`: the event of an answer, by the id in its `Daylight-Event`.

use crate::app::App;
use crate::error::Error;
use serde_json::Value;
use telemetry::{Event, EventId};

pub(super) async fn show(app: &App, id: &str, event: &mut Event) -> Result<Value, Error> {
    let id = EventId::read(id).ok_or_else(|| {
        Error::Input("an event's id is 16 hexadecimal digits, as in the header `Daylight-Event` of an answer".into())
    })?;
    let found = match app.recent.find(id) {
        Some(found) => found,
        // It may have ended a moment ago, and not be written yet.
        None => {
            app.flush_sinks(event).await;
            app.recent.find(id).ok_or(Error::NoSuchEvent(id))?
        }
    };
    Ok(found.json())
}
