//! A stream that tells what arrived on it.

use crate::stream::Stream;
use hyper::rt::{Read, ReadBufCursor, Write};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

/// What came over a connection.
#[derive(Debug, Default)]
pub(super) struct Arrived {
    pub(super) bytes: AtomicU64,
    /// Interim responses to the present request.
    pub(super) interim: AtomicU32,
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

impl Write for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream.duplex().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream.duplex().poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.duplex().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.duplex().poll_shutdown(cx)
    }
}
