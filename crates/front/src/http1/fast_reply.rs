//! A reply of the fast path: head and body, written together.

use crate::body::OutgoingBody;
use crate::body::chunk::Chunk;
use crate::connection::protocol::ProtocolError;
use crate::connection::socket::Socket;
use bytes::{Buf, Bytes};
use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

/// A reply that is being written.
pub(crate) struct FastReply {
    head: Bytes,
    /// `None` once it has been written.
    piece: Option<Chunk>,
}

impl FastReply {
    /// `None`: the body is not available at once.
    pub(super) fn new(head: Vec<u8>, mut body: OutgoingBody) -> Option<Self> {
        Some(Self { head: head.into(), piece: Some(body.whole()?) })
    }

    /// Writes head and body, both in one call if the socket takes them.
    pub(crate) fn poll(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(piece) = &mut self.piece {
            let slices = [IoSlice::new(&self.head), IoSlice::new(piece.chunk())];
            let left = if self.head.is_empty() { &slices[1..] } else { &slices };
            let wrote = ready!(socket.poll_send(cx, left))?;
            if wrote == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let of_head = wrote.min(self.head.len());
            self.head.advance(of_head);
            piece.advance(wrote - of_head);
            if !self.head.has_remaining() && !piece.has_remaining() {
                self.piece = None;
            }
        }
        socket.poll_flushed(cx)
    }
}

impl From<io::Error> for ProtocolError {
    fn from(error: io::Error) -> Self {
        Self { malformed: None, detail: error.to_string() }
    }
}
