//! A reply on its way from the handler to the client.

use crate::body::delivery::Delivery;
use crate::connection::reply_stream::ReplyStream;
use std::rc::Rc;
use telemetry::{Event, Tick};

/// A reply that is not completely sent.
pub(super) struct PendingReply {
    pub(super) event: Box<Event>,
    pub(super) delivery: Rc<Delivery>,
    pub(super) first_byte: Option<Tick>,
    /// Its stream on HTTP/2, where the client may stall it.
    pub(super) stream: Option<ReplyStream>,
    /// The bytes sent at the last check, and since when that number has not changed.
    seen: (u64, Option<Tick>),
}

impl PendingReply {
    pub(super) fn new(event: Box<Event>, delivery: Rc<Delivery>) -> Self {
        Self { event, delivery, first_byte: None, stream: None, seen: (0, None) }
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
