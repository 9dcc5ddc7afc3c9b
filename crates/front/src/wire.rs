//! The socket as hyper sees it: every byte in and out passes here, and the flush that ends an exchange is seen here.

use crate::ledger::Ledger;
use hyper::rt::{Read, ReadBufCursor, Write};
use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use telemetry::Tick;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Bytes read from a socket at once, at most.
const READ: usize = 64 << 10;

thread_local! {
    /// One buffer for all connections of a core: hyper's own holds memory that only unsafe code may fill directly.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ].into_boxed_slice());
}

/// What carries the bytes.
#[derive(Debug)]
pub(crate) enum Stream {
    /// TCP without encryption.
    Plain(TcpStream),
}

/// A connection's socket.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: Stream,
    ledger: Rc<Ledger>,
}

impl Wire {
    pub(crate) fn new(stream: Stream, ledger: Rc<Ledger>) -> Self {
        Self { stream, ledger }
    }

    fn stream(&mut self) -> Pin<&mut TcpStream> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream),
        }
    }

    fn wrote(&self, poll: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match poll {
            Poll::Ready(Ok(_)) => self.ledger.wrote(),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.ledger.stalled(),
        }
        poll
    }
}

impl Read for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut into: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        SCRATCH.with_borrow_mut(|scratch| {
            let room = into.remaining().min(scratch.len());
            let mut read = ReadBuf::new(&mut scratch[..room]);
            ready!(wire.stream().poll_read(cx, &mut read))?;
            if !read.filled().is_empty() {
                wire.ledger.arrived();
                into.put_slice(read.filled());
            }
            Poll::Ready(Ok(()))
        })
    }
}

impl Write for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        let poll = wire.stream().poll_write(cx, from);
        wire.wrote(poll)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        let poll = wire.stream().poll_write_vectored(cx, from);
        wire.wrote(poll)
    }

    /// hyper asks this only when its own buffer is empty, so every byte so far is the kernel's.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        ready!(wire.stream().poll_flush(cx))?;
        wire.ledger.flushed();
        Poll::Ready(Ok(()))
    }

    /// Ends our half, and when the client may still be sending, reads on until it stops: closing over unread bytes
    /// resets the connection, and the client would lose the reply that tells it why.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        if wire.ledger.lingering_since.get().is_none() {
            ready!(wire.stream().poll_shutdown(cx))?;
            if !wire.ledger.unread.get() && !wire.ledger.has_open_head() {
                return Poll::Ready(Ok(()));
            }
            wire.ledger.lingering_since.set(Some(Tick::now()));
        }
        SCRATCH.with_borrow_mut(|scratch| {
            loop {
                let mut read = ReadBuf::new(scratch);
                match ready!(wire.stream().poll_read(cx, &mut read)) {
                    Ok(()) if !read.filled().is_empty() => {}
                    _ => return Poll::Ready(Ok(())),
                }
            }
        })
    }
}
