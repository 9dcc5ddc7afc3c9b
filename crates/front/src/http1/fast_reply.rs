//! A reply of the fast path: head and body, written together.

use crate::body::chunk::Chunk;
use crate::connection::protocol::ProtocolError;
use crate::connection::socket::Socket;
use bytes::Buf;
use std::cell::Cell;
use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

// The memory of a head that was sent, for the next one of this thread.
thread_local!(static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) });

/// Memory of this size is kept. Most heads are smaller.
const KEPT: usize = 1 << 10;

/// A head that begins with these bytes.
pub(super) fn head(begin: &[u8]) -> Vec<u8> {
    let mut head = SPARE.take();
    head.reserve(KEPT);
    head.extend_from_slice(begin);
    head
}

/// A reply that is being written.
pub(crate) struct FastReply {
    head: Vec<u8>,
    /// How much of the head has been written.
    sent: usize,
    /// `None` once it has been written.
    piece: Option<Chunk>,
}

impl FastReply {
    pub(super) fn new(head: Vec<u8>, body: Chunk) -> Self {
        Self { head, sent: 0, piece: Some(body) }
    }

    /// Writes head and body, both in one call if the socket takes them.
    pub(crate) fn poll(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(piece) = &mut self.piece {
            let slices = [IoSlice::new(&self.head[self.sent..]), IoSlice::new(piece.chunk())];
            let left = if self.sent == self.head.len() { &slices[1..] } else { &slices };
            let wrote = ready!(socket.poll_send(cx, left))?;
            if wrote == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let of_head = wrote.min(self.head.len() - self.sent);
            self.sent += of_head;
            piece.advance(wrote - of_head);
            if self.sent == self.head.len() && !piece.has_remaining() {
                self.piece = None;
            }
        }
        socket.poll_flushed(cx)
    }
}

impl Drop for FastReply {
    fn drop(&mut self) {
        if self.head.capacity() == KEPT {
            self.head.clear();
            // Fails on a thread that is ending.
            let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.head)));
        }
    }
}

impl From<io::Error> for ProtocolError {
    fn from(error: io::Error) -> Self {
        Self { malformed: None, detail: error.to_string() }
    }
}
