//! Events of the other nodes.

use super::{Others, body};
use crate::error::{Error, Result};
use bytes::Bytes;
use serde_json::{Map, Value};
use telemetry::{Event, EventId, Op};

/// The status with which a node says that it does not have an event.
const UNKNOWN: u16 = 404;

/// The event with this id, with the name of the node that has it.
pub(crate) async fn find(others: &Others, id: EventId, event: &mut Event) -> Result<Value> {
    let target = format!("/api/v1/events/{id}");
    let answers = event.during(Op::NodesWait, Box::pin(others.get(&target))).await;
    let mut silent = Vec::new();
    for (node, answer) in answers {
        if answer.as_ref().is_ok_and(|response| response.status.as_u16() == UNKNOWN) {
            continue;
        }
        let read = |body: Bytes| serde_json::from_slice::<Map<_, _>>(&body).map_err(|error| error.to_string());
        match body(answer).and_then(read) {
            Ok(found) => return Ok(of(&node, Value::Object(found))),
            Err(why) => silent.push(format!("node `{node}` did not answer: {why}")),
        }
    }
    if silent.is_empty() {
        return Err(Error::EventOfNoNode(id));
    }
    Err(Error::EventOfSilent { id, silent: silent.join("; ") })
}

/// An event with the name of its node.
pub(crate) fn of(node: &str, mut event: Value) -> Value {
    event["node"] = node.into();
    event
}
