//! A chunk of a reply's body as hyper and h2 hold it. It counts the bytes that were written.

use crate::body::delivery::{Delivery, Progress};
use crate::body::sendfile::FilePart;
use bytes::{Buf, Bytes};
use std::rc::Rc;

/// A chunk of a body. hyper advances it by what the socket has written, which tells how much was sent.
pub(crate) struct Chunk {
    data: Data,
    delivery: Rc<Delivery>,
}

pub(crate) enum Data {
    Memory(Bytes),
    File(Rc<FilePart>),
}

impl Chunk {
    /// An empty chunk that ends a body.
    pub(crate) fn nothing(delivery: Rc<Delivery>) -> Self {
        Self::new(Data::Memory(Bytes::new()), delivery)
    }

    /// A chunk that is a whole body.
    pub(crate) fn whole(data: Data, delivery: Rc<Delivery>) -> Self {
        let chunk = Self::new(data, delivery);
        chunk.delivery.expect(chunk.remaining() as u64);
        chunk.delivery.progress.set(Progress::Ended);
        chunk
    }

    pub(crate) fn new(data: Data, delivery: Rc<Delivery>) -> Self {
        delivery.hold();
        Self { data, delivery }
    }
}

impl Buf for Chunk {
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
        self.delivery.bytes.set(self.delivery.bytes.get() + len as u64);
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.delivery.let_go();
    }
}
