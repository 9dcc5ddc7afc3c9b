//! Memory for pieces of bodies that arrive. All buffers have one size, so a download uses those of earlier ones.

use bytes::BytesMut;
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName, Slot, lock};

/// The number of bytes that a piece has, if they arrive fast enough. The last chunk may make it longer.
pub(crate) const PIECE: usize = 512 << 10;
/// The longest chunk of a body.
const CHUNK: usize = 64 << 10;
/// The size of a buffer.
const BUFFER: usize = PIECE + CHUNK;
/// A download has two buffers: one is filled while the other one is written.
const TWO: u64 = 2 * BUFFER as u64;
/// The most bytes of all buffers.
const ALL: u64 = 56 * TWO;
/// Free buffers that are kept for the next download.
const SPARE: usize = 8;

/// The buffers of all downloads.
#[derive(Debug)]
pub(crate) struct PieceBuffers {
    spare: Mutex<Vec<BytesMut>>,
    bound: Arc<Bound>,
}

impl PieceBuffers {
    pub(crate) fn new() -> Self {
        Self { spare: Mutex::default(), bound: Bound::new(BoundName::FlightPieces, "", ALL) }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The place of one download. `None`: others have all buffers.
    pub(crate) fn place(&self) -> Option<Slot> {
        self.bound.hold(TWO).ok()
    }

    /// An empty buffer, for a download with a place.
    pub(crate) fn take(&self) -> BytesMut {
        let spare = lock(&self.spare).pop();
        spare.unwrap_or_else(|| BytesMut::with_capacity(BUFFER))
    }

    /// Keeps a buffer for the next download.
    pub(crate) fn give_back(&self, mut buffer: BytesMut) {
        let mut spare = lock(&self.spare);
        if buffer.capacity() >= BUFFER && spare.len() < SPARE {
            buffer.clear();
            spare.push(buffer);
        }
    }
}
