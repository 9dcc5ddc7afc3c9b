//! A stream that tells what arrived on it, and that can still be read when it can no longer be written.
//!
//! A server may answer before it has read the whole request, and close its connection: 413, 401, or 501 of Python's `http.server`. Then
//! writing fails, while the answer waits to be read (RFC 9112 9.5).

use crate::stream::{Duplex, Stream};
use hyper::rt::{Read, ReadBufCursor, Write};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

/// What came over a connection.
#[derive(Debug, Default)]
pub(super) struct Arrived {
    pub(super) bytes: AtomicU64,
    /// Interim responses to the present request.
    pub(super) interim: AtomicU32,
    /// The server takes no more bytes. All that is written is lost.
    pub(super) is_deaf: AtomicBool,
}

/// A stream as hyper sees it.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) stream: Stream,
    pub(super) arrived: Arc<Arrived>,
}

impl Read for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let read = ready!(self.stream.read_into(cx, into))?;
        self.arrived.bytes.fetch_add(read as u64, Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl Watched {
    /// Writes `len` bytes. If the server takes no more, it counts as done: reading tells the rest.
    fn written(
        &mut self,
        len: usize,
        write: impl FnOnce(Pin<&mut (dyn Duplex + Unpin)>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.arrived.is_deaf.load(Relaxed) {
            return Poll::Ready(Ok(len));
        }
        let written = ready!(write(self.stream.duplex()));
        Poll::Ready(written.or_else(|error| self.unless_deaf(error).map(|()| len)))
    }

    fn unless_deaf(&self, error: io::Error) -> io::Result<()> {
        let is_deaf = matches!(
            error.kind(),
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted
        );
        self.arrived.is_deaf.store(is_deaf, Relaxed);
        if is_deaf { Ok(()) } else { Err(error) }
    }
}

impl Write for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.written(bytes.len(), |stream| stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let len = pieces.iter().map(|piece| piece.len()).sum();
        self.written(len, |stream| stream.poll_write_vectored(cx, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.written(0, |stream| stream.poll_flush(cx).map_ok(|()| 0)).map_ok(drop)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.duplex().poll_shutdown(cx)
    }
}
