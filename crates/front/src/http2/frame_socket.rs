//! The socket as h2 sees it. Incoming frames are checked for floods, and one connection's frames cannot monopolize a
//! core. Outgoing bytes are sent when the connection's turn ends: h2 would write each reply alone, while twenty small
//! replies fit into one write.

use super::flood::FloodGuard;
use crate::connection::protocol_detect::PREFACE;
use crate::connection::socket::Socket;
use crate::connection::state::ConnectionState;
use hyper::rt::Write as _;
use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that a connection reads before other connections run: about a thousand frames, or a millisecond.
const TURN: usize = 32 << 10;
/// The most bytes that wait for the end of a turn.
const WAITING: usize = 16 << 10;

/// Clones share the socket: one for h2, and one to end the turn.
#[derive(Clone)]
pub(super) struct FrameSocket(Rc<RefCell<Inner>>);

struct Inner {
    socket: Socket,
    state: Rc<ConnectionState>,
    flood: FloodGuard,
    turn: usize,
    /// Written by h2, but not to the socket yet. Has no capacity while it is empty.
    waiting: Vec<u8>,
    /// The kernel takes no more bytes for now.
    blocked: bool,
}

impl FrameSocket {
    pub(super) fn new(socket: Socket, state: Rc<ConnectionState>) -> Self {
        let flood = FloodGuard::new(PREFACE.len());
        Self(Rc::new(RefCell::new(Inner { socket, state, flood, turn: 0, waiting: Vec::new(), blocked: false })))
    }

    /// The turn ends: the waiting bytes are sent.
    pub(super) fn poll_send(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let inner = &mut *self.0.borrow_mut();
        while !inner.waiting.is_empty() {
            ready!(inner.poll_write(cx, &[]))?;
        }
        if inner.blocked {
            // A larger write is blocked, whose bytes h2 still holds.
            return Poll::Pending;
        }
        inner.socket.poll_flushed(cx)
    }
}

impl Inner {
    /// Writes the waiting bytes, and `from` after them. Returns how much of `from` was written.
    fn poll_write(&mut self, cx: &mut Context<'_>, from: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let mut slices = Vec::with_capacity(from.len() + 1);
        slices.push(IoSlice::new(&self.waiting));
        slices.extend(from.iter().map(|slice| IoSlice::new(slice)));
        let wrote = self.socket.poll_send(cx, &slices);
        self.blocked = wrote.is_pending();
        let wrote = ready!(wrote)?;
        if wrote == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        let waited = wrote.min(self.waiting.len());
        self.waiting.drain(..waited);
        if self.waiting.is_empty() {
            self.waiting = Vec::new();
        }
        Poll::Ready(Ok(wrote - waited))
    }
}

impl AsyncRead for FrameSocket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let inner = &mut *self.0.borrow_mut();
        if inner.state.flooded.get() {
            // The protocol ends the connection.
            return Poll::Pending;
        }
        if inner.turn >= TURN {
            inner.turn = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = into.filled().len();
        let read = inner.socket.poll_take(cx, into.remaining(), |bytes| into.put_slice(bytes));
        if read.is_pending() {
            inner.turn = 0;
        }
        ready!(read)?;
        let came = &into.filled()[before..];
        inner.turn += came.len();
        if !inner.flood.received(came) {
            inner.state.flooded.set(true);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for FrameSocket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(from)])
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let inner = &mut *self.0.borrow_mut();
        let len = from.iter().map(|slice| slice.len()).sum::<usize>();
        let wrote = if inner.waiting.len() + len <= WAITING {
            if inner.waiting.capacity() == 0 {
                inner.waiting.reserve_exact(WAITING);
            }
            from.iter().for_each(|slice| inner.waiting.extend_from_slice(slice));
            len
        } else {
            loop {
                let wrote = ready!(inner.poll_write(cx, from))?;
                if wrote > 0 {
                    break wrote;
                }
            }
        };
        inner.flood.sent(wrote);
        Poll::Ready(Ok(wrote))
    }

    /// h2 flushes after each reply. The replies of a turn are sent together at its end.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(cx))?;
        Pin::new(&mut self.0.borrow_mut().socket).poll_shutdown(cx)
    }
}
