//! The event of a request that has no reply yet.

use super::context::ConnectionContext;
use crate::body::delivery::Delivery;
use crate::connection::state::ConnectionState;
use std::net::IpAddr;
use std::rc::Rc;
use telemetry::{Event, Op};

/// An event whose request has no reply yet. Dropped in the middle, it is released: the client has left.
pub(super) struct OpenEvent {
    /// Here until there is a reply.
    pub(super) event: Option<Box<Event>>,
    pub(super) client: IpAddr,
    state: Rc<ConnectionState>,
}

/// What an event is told of a request.
pub(crate) struct RequestFacts<'a> {
    pub(crate) method: &'static str,
    pub(crate) protocol: &'static str,
    pub(crate) path: &'a str,
    pub(crate) agent: Option<&'a [u8]>,
    /// Whom a trusted proxy speaks for.
    pub(crate) forwarded: Option<IpAddr>,
}

impl OpenEvent {
    pub(super) fn begin<H>(connection: &ConnectionContext<H>, facts: &RequestFacts<'_>) -> Self {
        let state = &connection.state;
        let recorder = state.recorder();
        recorder.attempt();
        let (began, now) = state.begin();
        let mut event = Event::request(recorder.clock().at_tick(now), began);
        if let Some(nanos) = state.handshake.take() {
            event.add(Op::TlsHandshake, nanos);
        }
        (event.method, event.protocol) = (facts.method, facts.protocol);
        event.asked(facts.path);
        match facts.forwarded {
            Some(client) => event.client = client.to_string().into(),
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
        Self { event: Some(event), client, state: state.clone() }
    }

    /// There is a reply: from here the event belongs to the state.
    pub(super) fn leave(mut self) -> Rc<Delivery> {
        self.event.take().map(|event| self.state.leave(event)).unwrap_or_default()
    }
}

impl Drop for OpenEvent {
    fn drop(&mut self) {
        if let Some(event) = self.event.take() {
            self.state.give_up(event);
        }
    }
}
