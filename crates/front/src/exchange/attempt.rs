//! The event of a request that has no reply yet.

use super::context::ConnectionContext;
use crate::body::delivery::Delivery;
use crate::connection::state::ConnectionState;
use std::net::IpAddr;
use std::rc::Rc;
use telemetry::{Class, Event, Kind, Op, OpenRequest, Subject, Tick};

/// An event whose request has no reply yet. If it is dropped, the client has disconnected, and the event is released.
pub(crate) struct OpenEvent {
    /// `None` once there is a reply.
    pub(super) event: Option<Box<Event>>,
    pub(super) client: IpAddr,
    /// When the last byte of the head arrived.
    pub(super) head_end: Tick,
    state: Rc<ConnectionState>,
}

/// The facts of a request that its event records.
pub(crate) struct RequestFacts<'a> {
    pub(crate) method: &'static str,
    pub(crate) protocol: &'static str,
    pub(crate) path: &'a str,
    pub(crate) agent: Option<&'a [u8]>,
    /// The client that a trusted proxy names.
    pub(crate) forwarded: Option<IpAddr>,
    /// The server asks itself whether it answers.
    pub(crate) is_probe: bool,
}

impl OpenEvent {
    pub(crate) fn begin(connection: &ConnectionContext, facts: &RequestFacts<'_>) -> Self {
        let state = &connection.state;
        let recorder = state.recorder();
        if !facts.is_probe {
            recorder.attempt();
        }
        let (began, now) = state.begin();
        let mut event = Event::request(recorder.clock().at_tick(now), began);
        if facts.is_probe {
            event.kind = Kind::Probe;
        }
        if now != began {
            event.add(Op::HeadRead, now.since(began));
        }
        if let Some(nanos) = state.handshake.take() {
            event.add(Op::TlsHandshake, nanos);
        }
        (event.method, event.protocol) = (facts.method, facts.protocol);
        event.asked(facts.path);
        match facts.forwarded {
            Some(client) => event.client = recorder.client_addresses().text(client),
            None => event.client = connection.client_text.clone(),
        }
        if let Some(agent) = facts.agent {
            let mut known = connection.agent.borrow_mut();
            if known.0 != agent {
                *known = (agent.to_vec(), Event::text(&String::from_utf8_lossy(agent)).into());
            }
            event.agent = known.1.clone();
        }
        let client = facts.forwarded.unwrap_or(connection.client);
        Self { event: Some(event), client, head_end: now, state: state.clone() }
    }

    /// Sets the class and the subject of the event.
    pub(crate) fn is_about(&mut self, class: Class, subject: Subject) {
        if let Some(event) = &mut self.event {
            (event.class, event.subject) = (Some(class), subject);
        }
    }

    /// A stored reply was asked for from `began` until `now`, and does not hold. The handler begins.
    pub(crate) fn not_confirmed(&mut self, began: Tick, now: Tick) {
        if let Some(event) = &mut self.event {
            event.add(Op::HeadParse, began.since(self.head_end));
            event.add(Op::AppPagesRead, now.since(began));
        }
        self.head_end = now;
    }

    /// There is a reply since `ready`: the state of the connection owns the event from here.
    pub(super) fn into_delivery(mut self, ready: Tick, open: Option<OpenRequest>) -> Rc<Delivery> {
        self.event.take().map(|event| self.state.reply_pending(event, ready, open)).unwrap_or_default()
    }
}

impl Drop for OpenEvent {
    fn drop(&mut self) {
        if let Some(event) = self.event.take() {
            self.state.abandon(event);
        }
    }
}
