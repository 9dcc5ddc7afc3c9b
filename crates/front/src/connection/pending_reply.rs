//! A reply between its handler and its client.

use crate::body::delivery::Delivery;
use crate::connection::reply_stream::ReplyStream;
use std::rc::Rc;
use telemetry::{Event, Tick};

/// A reply on its way out.
pub(super) struct PendingReply {
    pub(super) event: Box<Event>,
    pub(super) delivery: Rc<Delivery>,
    pub(super) first_byte: Option<Tick>,
    /// On HTTP/2, where its client may keep it waiting.
    pub(super) stream: Option<ReplyStream>,
    /// How much had gone when somebody last looked, and since when it is no more.
    seen: (u64, Option<Tick>),
}

impl PendingReply {
    pub(super) fn new(event: Box<Event>, delivery: Rc<Delivery>) -> Self {
        Self { event, delivery, first_byte: None, stream: None, seen: (0, None) }
    }

    /// Since when nothing of it has left, though it could.
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
