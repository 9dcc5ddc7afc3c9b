//! Events of connections that ended before they brought a request.

use std::net::IpAddr;
use telemetry::{Event, Outcome, Reason, Recorder, Tick};

/// Records a connection that was turned away.
pub(crate) fn turn_away(recorder: &Recorder, client: IpAddr, reason: Reason) {
    recorder.attempt();
    let mut event = Event::request(recorder.clock().now(), Tick::now());
    event.client = client.to_string().into();
    event.outcome = Some(Outcome::TurnedAway);
    event.reason = Some(reason);
    recorder.release(event);
}

/// Records what never became a request.
pub(super) fn release(recorder: &Recorder, client: IpAddr, began: Tick, end: (u16, Outcome, Option<Reason>, String)) {
    recorder.attempt();
    let mut event = Event::request(recorder.clock().now(), began);
    event.client = client.to_string().into();
    event.status = end.0;
    event.outcome = Some(end.1);
    event.reason = end.2;
    event.detail = end.3;
    event.duration = Tick::now().since(event.began);
    recorder.release(event);
}
