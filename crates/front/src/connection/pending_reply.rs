//! A reply on its way from the handler to the client.

use crate::body::delivery::Delivery;
use crate::connection::reply_stream::ReplyStream;
use std::rc::Rc;
use std::sync::Arc;
use telemetry::{Event, Op, OpenRequest, OpenRequestFacts, OpenRequests, OpsUnderWay, Tick};

/// A reply that is not completely sent.
pub(super) struct PendingReply {
    pub(super) event: Box<Event>,
    /// Since when there is a reply.
    pub(super) ready: Tick,
    pub(super) delivery: Rc<Delivery>,
    pub(super) first_byte: Option<Tick>,
    /// Its stream on HTTP/2, where the client may stall it.
    pub(super) stream: Option<ReplyStream>,
    /// Its place in the table of open requests, once the request has outlasted its turn.
    open: Option<OpenRequest>,
    /// The bytes sent at the last check, and since when that number has not changed.
    seen: (u64, Option<Tick>),
}

impl PendingReply {
    pub(super) fn new(event: Box<Event>, ready: Tick, delivery: Rc<Delivery>, open: Option<OpenRequest>) -> Self {
        Self { event, ready, delivery, first_byte: None, stream: None, open, seen: (0, None) }
    }

    /// Shows the table of open requests how far the reply is.
    pub(super) fn show(&mut self, table: &Arc<OpenRequests>) {
        let open = self.open.get_or_insert_with(|| table.open(&OpenRequestFacts::of(&self.event)));
        open.sent(self.delivery.bytes.get());
        open.waits(OpsUnderWay::only(self.delivery.source_wait().unwrap_or(Op::BodySend)));
    }

    /// Since when the client has taken no bytes of the reply, although they were ready.
    pub(super) fn stalled_since(&mut self, now: Tick) -> Option<Tick> {
        if !self.delivery.is_held() || self.stream.is_none() {
            self.seen.1 = None;
            return None;
        }
        let bytes = self.delivery.bytes.get();
        if self.seen.0 != bytes || self.seen.1.is_none() {
            self.seen = (bytes, Some(now));
        }
        self.seen.1
    }
}
