//! The HTTP/2 stream that a reply leaves on, for the watch over replies that their clients do not take.

use crate::body::chunk::Piece;
use crate::connection::stream_slots::Place;
use h2::{Reason as Code, SendStream};
use std::cell::RefCell;
use std::rc::Rc;

/// A stream that a client may keep waiting.
pub(crate) struct Stream {
    sending: Rc<RefCell<SendStream<Piece>>>,
    _place: Place,
}

impl Stream {
    /// It holds its place until it ends.
    pub(crate) fn new(sending: Rc<RefCell<SendStream<Piece>>>, place: Place) -> Self {
        Self { sending, _place: place }
    }

    /// Ends it: the client has let it wait for too long.
    pub(crate) fn reset(&self) {
        self.sending.borrow_mut().send_reset(Code::CANCEL);
    }
}
