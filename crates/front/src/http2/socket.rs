//! The wire as h2 sees it: what comes in is looked at for floods, and one connection's frames do not keep a core.

use super::flood::Flood;
use crate::ledger::Ledger;
use crate::opening::PREFACE;
use crate::wire::Wire;
use hyper::rt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that a connection reads before the others of its core have a turn: some thousand frames, a millisecond.
const TURN: usize = 32 << 10;

pub(super) struct Socket {
    wire: Wire,
    ledger: Rc<Ledger>,
    flood: Flood,
    turn: usize,
}

impl Socket {
    pub(super) fn new(wire: Wire, ledger: Rc<Ledger>) -> Self {
        Self { wire, ledger, flood: Flood::new(PREFACE.len()), turn: 0 }
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let socket = self.get_mut();
        if socket.ledger.flooded.get() {
            // Whoever drives the connection ends it.
            return Poll::Pending;
        }
        if socket.turn >= TURN {
            socket.turn = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = into.filled().len();
        let read = socket.wire.poll_take(cx, into.remaining(), |bytes| into.put_slice(bytes));
        if read.is_pending() {
            socket.turn = 0;
        }
        ready!(read)?;
        let came = &into.filled()[before..];
        socket.turn += came.len();
        if !socket.flood.came(came) {
            socket.ledger.flooded.set(true);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
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
        let socket = self.get_mut();
        let written = ready!(rt::Write::poll_write_vectored(Pin::new(&mut socket.wire), cx, from))?;
        socket.flood.went(written);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        rt::Write::poll_flush(Pin::new(&mut self.get_mut().wire), cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        rt::Write::poll_shutdown(Pin::new(&mut self.get_mut().wire), cx)
    }
}
