//! The event of a request that has no reply yet.

use super::context::Connection;
use crate::body::delivery::Sent;
use crate::connection::state::Ledger;
use std::net::IpAddr;
use std::rc::Rc;
use telemetry::{Event, Op};

/// An event whose request has no reply yet. Dropped in the middle, it is released: the client has left.
pub(super) struct Attempt {
    /// Here until there is a reply.
    pub(super) event: Option<Box<Event>>,
    pub(super) client: IpAddr,
    ledger: Rc<Ledger>,
}

/// What an event is told of a request.
pub(crate) struct Asking<'a> {
    pub(crate) method: &'static str,
    pub(crate) protocol: &'static str,
    pub(crate) path: &'a str,
    pub(crate) agent: Option<&'a [u8]>,
    /// Whom a trusted proxy speaks for.
    pub(crate) forwarded: Option<IpAddr>,
}

impl Attempt {
    pub(super) fn begin<H>(connection: &Connection<H>, asking: &Asking<'_>) -> Self {
        let ledger = &connection.ledger;
        let recorder = ledger.recorder();
        recorder.attempt();
        let (began, now) = ledger.begin();
        let mut event = Event::request(recorder.clock().at_tick(now), began);
        if let Some(nanos) = ledger.handshake.take() {
            event.add(Op::TlsHandshake, nanos);
        }
        (event.method, event.protocol) = (asking.method, asking.protocol);
        event.asked(asking.path);
        match asking.forwarded {
            Some(client) => event.client = client.to_string().into(),
            None => event.client = connection.client_text.clone(),
        }
        if let Some(agent) = asking.agent {
            let mut known = connection.agent.borrow_mut();
            if known.0 != agent {
                *known = (agent.to_vec(), Event::text(&String::from_utf8_lossy(agent)).into());
            }
            event.agent = known.1.clone();
        }
        let client = asking.forwarded.unwrap_or(connection.client);
        Self { event: Some(event), client, ledger: ledger.clone() }
    }

    /// There is a reply: from here the event belongs to the ledger.
    pub(super) fn leave(mut self) -> Rc<Sent> {
        self.event.take().map(|event| self.ledger.leave(event)).unwrap_or_default()
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(event) = self.event.take() {
            self.ledger.give_up(event);
        }
    }
}
