//! A reply between its handler and its client.

use crate::body::delivery::Sent;
use crate::connection::reply_stream::Stream;
use std::rc::Rc;
use telemetry::{Event, Tick};

/// A reply on its way out.
pub(super) struct Leaving {
    pub(super) event: Box<Event>,
    pub(super) sent: Rc<Sent>,
    pub(super) first_byte: Option<Tick>,
    /// On HTTP/2, where its client may keep it waiting.
    pub(super) stream: Option<Stream>,
    /// How much had gone when somebody last looked, and since when it is no more.
    seen: (u64, Option<Tick>),
}

impl Leaving {
    pub(super) fn new(event: Box<Event>, sent: Rc<Sent>) -> Self {
        Self { event, sent, first_byte: None, stream: None, seen: (0, None) }
    }

    /// Since when nothing of it has left, though it could.
    pub(super) fn stalled_since(&mut self, now: Tick) -> Option<Tick> {
        if !self.sent.is_held() || self.stream.is_none() {
            self.seen.1 = None;
            return None;
        }
        let bytes = self.sent.bytes.get();
        if self.seen.0 != bytes || self.seen.1.is_none() {
            self.seen = (bytes, Some(now));
        }
        self.seen.1
    }
}
