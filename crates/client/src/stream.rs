//! A connection as hyper sees it.

use hyper::rt::Read as _;
use hyper_util::rt::TokioIo;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

/// An open connection.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Unix(UnixStream),
}

/// A stream that has just been opened.
#[derive(Debug)]
pub(crate) struct Dialled {
    pub(crate) stream: Stream,
    /// The address of the server; `None` where it is behind a proxy.
    pub(crate) peer: Option<IpAddr>,
}

pub(crate) trait Duplex: AsyncRead + AsyncWrite {}
impl<T: AsyncRead + AsyncWrite> Duplex for T {}

impl Stream {
    pub(crate) fn duplex(&mut self) -> Pin<&mut (dyn Duplex + Unpin)> {
        match self {
            Stream::Plain(tcp) => Pin::new(tcp),
            Stream::Tls(tls) => Pin::new(tls.as_mut()),
            Stream::Unix(unix) => Pin::new(unix),
        }
    }

    /// Reads as hyper wants it. Returns the number of bytes; 0 is the end.
    pub(crate) fn read_into(
        &mut self,
        cx: &mut Context<'_>,
        into: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<usize>> {
        let mut counted = Counted { stream: self, len: 0 };
        ready!(Pin::new(&mut TokioIo::new(&mut counted)).poll_read(cx, into))?;
        Poll::Ready(Ok(counted.len))
    }
}

/// Counts the bytes of one read, because hyper does not tell how full its buffer is.
struct Counted<'a> {
    stream: &'a mut Stream,
    len: usize,
}

impl AsyncRead for Counted<'_> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let (counted, before) = (self.get_mut(), into.filled().len());
        ready!(counted.stream.duplex().poll_read(cx, into))?;
        counted.len = into.filled().len() - before;
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.get_mut().duplex().poll_read(cx, into)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().duplex().poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().duplex().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().duplex().poll_shutdown(cx)
    }
}

impl hyper::rt::Read for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        self.get_mut().read_into(cx, into).map_ok(drop)
    }
}

impl hyper::rt::Write for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().duplex().poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().duplex().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().duplex().poll_shutdown(cx)
    }
}
