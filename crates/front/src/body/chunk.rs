//! A chunk of a reply's body as hyper and h2 hold it. It counts the bytes that were written of it.

use crate::body::delivery::Sent;
use crate::body::sendfile::FilePart;
use bytes::{Buf, Bytes};
use std::rc::Rc;

/// What hyper holds of a body. It takes off what the wire has written, and so tells how much that was.
pub(crate) struct Piece {
    data: Data,
    sent: Rc<Sent>,
}

pub(crate) enum Data {
    Memory(Bytes),
    File(Rc<FilePart>),
}

impl Piece {
    /// One to end with.
    pub(crate) fn nothing(sent: Rc<Sent>) -> Self {
        Self::new(Data::Memory(Bytes::new()), sent)
    }

    pub(crate) fn new(data: Data, sent: Rc<Sent>) -> Self {
        sent.hold();
        Self { data, sent }
    }
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        match &self.data {
            Data::Memory(bytes) => bytes.len(),
            Data::File(part) => usize::try_from(part.left()).unwrap_or(usize::MAX),
        }
    }

    fn chunk(&self) -> &[u8] {
        match &self.data {
            Data::Memory(bytes) => bytes,
            Data::File(part) => part.stand_in(),
        }
    }

    fn advance(&mut self, len: usize) {
        match &mut self.data {
            Data::Memory(bytes) => bytes.advance(len),
            Data::File(part) => part.advance(len),
        }
        self.sent.bytes.set(self.sent.bytes.get() + len as u64);
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.sent.let_go();
    }
}
