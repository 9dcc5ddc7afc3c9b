//! The HTTP/2 stream of a reply. Stalled streams are reset through it.

use crate::body::chunk::Chunk;
use crate::connection::stream_slots::StreamSlot;
use h2::{Reason as Code, SendStream};
use std::cell::RefCell;
use std::rc::Rc;

/// A stream that a client may stall.
pub(crate) struct ReplyStream {
    sending: Rc<RefCell<SendStream<Chunk>>>,
    _slot: StreamSlot,
}

impl ReplyStream {
    /// It holds its slot until it ends.
    pub(crate) fn new(sending: Rc<RefCell<SendStream<Chunk>>>, slot: StreamSlot) -> Self {
        Self { sending, _slot: slot }
    }

    /// Resets the stream: the client has stalled it for too long.
    pub(crate) fn reset(&self) {
        self.sending.borrow_mut().send_reset(Code::CANCEL);
    }
}
