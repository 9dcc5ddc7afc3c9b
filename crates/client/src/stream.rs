//! A connection as hyper sees it.

use std::cell::RefCell;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Bytes per read: as many as hyper's own buffer takes.
const PIECE: usize = 64 << 10;

thread_local! {
    // One copy more than reading into hyper's buffer, which would need `unsafe`.
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; PIECE].into());
}

/// An open connection.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A stream that has just been opened.
#[derive(Debug)]
pub(crate) struct Dialled {
    pub(crate) stream: Stream,
    /// The address of the server; `None` where it is behind a proxy.
    pub(crate) peer: Option<IpAddr>,
}

trait Duplex: AsyncRead + AsyncWrite {}
impl<T: AsyncRead + AsyncWrite> Duplex for T {}

impl Stream {
    fn duplex(self: Pin<&mut Self>) -> Pin<&mut (dyn Duplex + Unpin)> {
        match self.get_mut() {
            Stream::Plain(tcp) => Pin::new(tcp),
            Stream::Tls(tls) => Pin::new(tls.as_mut()),
        }
    }
}

impl hyper::rt::Read for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut into: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        BUFFER.with_borrow_mut(|buffer| {
            let room = buffer.len().min(into.remaining());
            let mut piece = ReadBuf::new(&mut buffer[..room]);
            std::task::ready!(self.duplex().poll_read(cx, &mut piece))?;
            into.put_slice(piece.filled());
            Poll::Ready(Ok(()))
        })
    }
}

impl hyper::rt::Write for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.duplex().poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.duplex().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.duplex().poll_shutdown(cx)
    }
}
