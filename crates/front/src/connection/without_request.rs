//! Events of connections that ended without a request.

use std::net::IpAddr;
use telemetry::{Event, Outcome, Reason, Recorder, Tick};

/// The result of a connection that brought no request.
pub(super) struct Ending {
    /// The status of the reply; 0 for none.
    pub(super) status: u16,
    pub(super) outcome: Outcome,
    pub(super) reason: Option<Reason>,
    pub(super) detail: String,
}

impl Ending {
    /// Turned away for this reason, without a status.
    pub(super) fn turned_away(reason: Reason, detail: String) -> Self {
        Self { status: 0, outcome: Outcome::TurnedAway, reason: Some(reason), detail }
    }

    /// The client has disconnected.
    pub(super) fn client_gone(detail: String) -> Self {
        Self { status: 0, outcome: Outcome::ClientGone, reason: None, detail }
    }

    /// The client sent something invalid.
    pub(super) fn malformed(status: u16, reason: Reason, detail: String) -> Self {
        Self { status, outcome: Outcome::Malformed, reason: Some(reason), detail }
    }
}

/// Records a connection that was turned away.
pub(crate) fn turn_away(recorder: &Recorder, client: IpAddr, reason: Reason) {
    recorder.attempt();
    let mut event = Event::request(recorder.clock().now(), Tick::now());
    event.client = recorder.client_addresses().text(client);
    event.outcome = Some(Outcome::TurnedAway);
    event.reason = Some(reason);
    recorder.release(event);
}

/// Records a connection, or a head, that never became a request.
pub(super) fn release(recorder: &Recorder, client: IpAddr, began: Tick, ending: Ending) {
    recorder.attempt();
    let mut event = Event::request(recorder.clock().now(), began);
    event.client = recorder.client_addresses().text(client);
    event.status = ending.status;
    event.outcome = Some(ending.outcome);
    event.reason = ending.reason;
    event.detail = ending.detail;
    event.duration = Tick::now().since(event.began);
    recorder.release(event);
}
