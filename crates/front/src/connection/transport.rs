//! The transport of a connection: TCP, plain or under TLS.

use crate::body::sendfile::FilePart;
use crate::request::SocketEnds;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
use socket2::{SockRef, TcpKeepalive};
use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;

/// Bytes per read from a socket.
const READ: usize = 64 << 10;

thread_local! {
    /// One buffer for all connections of a core: only unsafe code may fill the uninitialized memory of hyper's own
    /// buffer.
    pub(super) static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ].into_boxed_slice());
}

/// The transport. It outlives the protocol, as the client may still be sending.
#[derive(Debug)]
pub(crate) enum Transport {
    /// TCP without encryption.
    Plain(TcpStream),
    /// TCP with TLS.
    Tls(RefCell<Box<TlsStream<TcpStream>>>),
}

impl Transport {
    /// Both ends of a plain socket.
    pub(super) fn ends(&self) -> Option<SocketEnds> {
        let Transport::Plain(tcp) = self else { return None };
        Some(SocketEnds { peer: tcp.peer_addr().ok()?, ours: tcp.local_addr().ok()? })
    }

    pub(super) fn poll_read(&self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let tcp = match self {
            Transport::Plain(tcp) => tcp,
            Transport::Tls(tls) => {
                let mut buffer = ReadBuf::new(into);
                ready!(Pin::new(tls.borrow_mut().as_mut()).poll_read(cx, &mut buffer))?;
                return Poll::Ready(Ok(buffer.filled().len()));
            }
        };
        loop {
            ready!(tcp.poll_read_ready(cx))?;
            match tcp.try_read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(read) if (1..into.len()).contains(&read) => {
                    // The socket is empty now. The kernel signals when more arrives, so the next request need not begin
                    // with a read that finds nothing.
                    let _ = tcp.try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
                    return Poll::Ready(Ok(read));
                }
                done => return Poll::Ready(done),
            }
        }
    }

    pub(super) fn poll_write(&self, cx: &mut Context<'_>, from: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self {
            Transport::Plain(tcp) => when_writable(tcp, cx, || tcp.try_write_vectored(from)),
            Transport::Tls(tls) => Pin::new(tls.borrow_mut().as_mut()).poll_write_vectored(cx, from),
        }
    }

    /// Hands the written bytes to the kernel.
    pub(super) fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Transport::Plain(_) => Poll::Ready(Ok(())),
            Transport::Tls(tls) => Pin::new(tls.borrow_mut().as_mut()).poll_flush(cx),
        }
    }

    /// Ends the sending direction.
    pub(super) fn poll_shutdown(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Transport::Plain(_) => Poll::Ready(self.end_sending()),
            Transport::Tls(tls) => Pin::new(tls.borrow_mut().as_mut()).poll_shutdown(cx),
        }
    }

    /// Appends one read to `into`. Returns its length; 0 at the end.
    pub(crate) async fn read_more(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        poll_fn(|cx| {
            SCRATCH.with_borrow_mut(|scratch| {
                let read = ready!(self.poll_read(cx, scratch))?;
                into.extend_from_slice(&scratch[..read]);
                Poll::Ready(Ok(read))
            })
        })
        .await
    }

    /// The protocol that both sides agreed on in TLS.
    pub(crate) fn agreed(&self) -> Option<Vec<u8>> {
        match self {
            Transport::Plain(_) => None,
            Transport::Tls(tls) => tls.borrow().get_ref().1.alpn_protocol().map(<[u8]>::to_vec),
        }
    }

    /// Whether [`Transport::poll_send`] works.
    pub(crate) fn sends_files(&self) -> bool {
        matches!(self, Transport::Plain(_))
    }

    /// Has the kernel send a part of a file. Bytes before the part are sent first, in one packet with the beginning of
    /// the file.
    pub(super) fn poll_send(
        &self,
        cx: &mut Context<'_>,
        before: &[IoSlice<'_>],
        part: &FilePart,
        len: usize,
    ) -> Poll<io::Result<usize>> {
        let Transport::Plain(tcp) = self else {
            return Poll::Ready(Err(io::Error::other("a file through TLS would not be encrypted")));
        };
        when_writable(tcp, cx, || {
            tcp.try_io(Interest::WRITABLE, || {
                if before.is_empty() {
                    return part.send(tcp, len);
                }
                Ok(sendmsg(tcp, before, &mut SendAncillaryBuffer::default(), SendFlags::MORE | SendFlags::NOSIGNAL)?)
            })
        })
    }

    fn end_sending(&self) -> io::Result<()> {
        match self {
            Transport::Plain(tcp) => SockRef::from(tcp).shutdown(Shutdown::Write),
            Transport::Tls(tls) => SockRef::from(tls.borrow().get_ref().0).shutdown(Shutdown::Write),
        }
    }

    /// Has the kernel reset the connection when it is closed. So a client notices that a body whose end is the end of the connection
    /// broke off (RFC 9112, 8).
    pub(crate) fn reset_at_close(&self) {
        // If it fails, the connection has ended already.
        let _ = match self {
            Transport::Plain(tcp) => SockRef::from(tcp).set_linger(Some(Duration::ZERO)),
            Transport::Tls(_) => Ok(()),
        };
    }

    /// Has the kernel look for a peer that has vanished, which then ends the connection. If this fails, only time is lost.
    pub(super) fn keep_alive(&self) {
        let often = TcpKeepalive::new()
            .with_time(Duration::from_secs(60))
            .with_interval(Duration::from_secs(15))
            .with_retries(4);
        let _ = match self {
            Transport::Plain(tcp) => SockRef::from(tcp).set_tcp_keepalive(&often),
            Transport::Tls(tls) => SockRef::from(tls.borrow().get_ref().0).set_tcp_keepalive(&often),
        };
    }

    /// Ends the sending direction and discards what the client still sends, until it stops. Closing a socket with
    /// unread bytes would reset the connection, and the client would lose the reply with the reason (RFC 9112,
    /// 9.6).
    ///
    /// A client that sends nothing for `idle` has stopped.
    pub(crate) async fn linger(&self, idle: Duration) {
        if self.end_sending().is_err() {
            return;
        }
        let discarded = || poll_fn(|cx| SCRATCH.with_borrow_mut(|scratch| self.poll_read(cx, scratch)));
        while matches!(timeout(idle, discarded()).await, Ok(Ok(1..))) {
            // A client that sends as fast as it can gets no more time of the core than others.
            tokio::task::yield_now().await;
        }
    }
}

fn when_writable(
    tcp: &TcpStream,
    cx: &mut Context<'_>,
    write: impl Fn() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    // Nearly always the socket is writable, and asking first costs as much as the rest.
    loop {
        match write() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready!(tcp.poll_write_ready(cx))?,
            done => return Poll::Ready(done),
        }
    }
}
