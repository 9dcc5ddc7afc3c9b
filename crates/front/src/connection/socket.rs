//! The socket as hyper sees it: every byte in and out passes here, and the flush that ends an exchange is seen here.

use crate::body::sendfile::{FilePart, stands_in};
use crate::connection::state::Ledger;
use crate::http1::line_ends::{LineEnds, lone};
use hyper::rt::{Read, ReadBufCursor, Write};
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
use socket2::SockRef;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;

/// Bytes read from a socket at once, at most.
const READ: usize = 64 << 10;
/// Room for the next request that a connection keeps when the last was larger.
const KEPT: usize = 1 << 10;

thread_local! {
    /// One buffer for all connections of a core: hyper's own holds memory that only unsafe code may fill directly.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ].into_boxed_slice());
}

/// What carries the bytes. It outlives hyper's machine when the client may still be sending.
#[derive(Debug)]
pub(crate) enum Stream {
    /// TCP without encryption.
    Plain(TcpStream),
    /// TCP with TLS.
    Tls(RefCell<Box<TlsStream<TcpStream>>>),
}

impl Stream {
    fn poll_read(&self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let tcp = match self {
            Stream::Plain(tcp) => tcp,
            Stream::Tls(tls) => {
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
                    // That was all. The kernel tells when more comes: there is no need to ask it first, at each request.
                    let _ = tcp.try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
                    return Poll::Ready(Ok(read));
                }
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_write(&self, cx: &mut Context<'_>, from: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self {
            Stream::Plain(tcp) => when_writable(tcp, cx, || tcp.try_write_vectored(from)),
            Stream::Tls(tls) => Pin::new(tls.borrow_mut().as_mut()).poll_write_vectored(cx, from),
        }
    }

    /// Hands to the kernel what was written.
    fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::Tls(tls) => Pin::new(tls.borrow_mut().as_mut()).poll_flush(cx),
        }
    }

    /// Says that no more comes.
    fn poll_shutdown(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Plain(_) => Poll::Ready(self.end_sending()),
            Stream::Tls(tls) => Pin::new(tls.borrow_mut().as_mut()).poll_shutdown(cx),
        }
    }

    /// Adds what comes next to `into`, one read of it. Returns how much that was; 0 at the end.
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

    /// What both sides agreed to speak, through TLS.
    pub(crate) fn agreed(&self) -> Option<Vec<u8>> {
        match self {
            Stream::Plain(_) => None,
            Stream::Tls(tls) => tls.borrow().get_ref().1.alpn_protocol().map(<[u8]>::to_vec),
        }
    }

    /// Whether [`Stream::poll_send`] works.
    pub(crate) fn sends_files(&self) -> bool {
        matches!(self, Stream::Plain(_))
    }

    /// Has the kernel send a part of a file, or what comes before it, in one packet with its beginning.
    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        before: &[IoSlice<'_>],
        part: &FilePart,
        len: usize,
    ) -> Poll<io::Result<usize>> {
        let Stream::Plain(tcp) = self else {
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
            Stream::Plain(tcp) => SockRef::from(tcp).shutdown(Shutdown::Write),
            Stream::Tls(tls) => SockRef::from(tls.borrow().get_ref().0).shutdown(Shutdown::Write),
        }
    }

    /// Ends our half and throws away what the client still sends, until it stops: closing over unread bytes resets the connection, and
    /// the client would lose the reply that tells it why (RFC 9112, 9.6).
    ///
    /// Whoever sends nothing for `idle` has stopped.
    pub(crate) async fn linger(&self, idle: Duration) {
        if self.end_sending().is_err() {
            return;
        }
        let discarded = || poll_fn(|cx| SCRATCH.with_borrow_mut(|scratch| self.poll_read(cx, scratch)));
        while matches!(timeout(idle, discarded()).await, Ok(Ok(1..))) {
            // A client that sends as fast as it can has no more of the core than others.
            tokio::task::yield_now().await;
        }
    }
}

fn when_writable(
    tcp: &TcpStream,
    cx: &mut Context<'_>,
    write: impl Fn() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(tcp.poll_write_ready(cx))?;
        match write() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return Poll::Ready(done),
        }
    }
}

/// A connection's socket.
pub(crate) struct Wire {
    stream: Rc<Stream>,
    ledger: Rc<Ledger>,
    /// What was read before it was known who reads, or while nobody did.
    ahead: Vec<u8>,
    /// So much of that was looked through before.
    again: usize,
    ends: LineEnds,
}

impl Wire {
    pub(crate) fn new(stream: Rc<Stream>, ledger: Rc<Ledger>, ahead: Vec<u8>) -> Self {
        Self { stream, ledger, ahead, again: 0, ends: LineEnds::default() }
    }

    /// These bytes were read and come back: they are to be read again before all others.
    pub(crate) fn take_back(&mut self, bytes: &[u8]) {
        self.ahead.splice(..0, bytes.iter().copied());
        self.again += bytes.len();
    }

    /// What was read and waits, if it is all of what was said since the last request, and its lines end as they must. What of it is
    /// not [`Wire::taken`] is looked through when it is read.
    pub(crate) fn look(&mut self) -> Option<&[u8]> {
        self.ledger.arrived();
        (self.again == 0 && !lone(&self.ahead)).then_some(&*self.ahead)
    }

    /// That was a request, and nobody else is to read it.
    pub(crate) fn taken(&mut self) {
        self.ahead.clear();
        self.ahead.shrink_to(KEPT);
    }

    /// Waits for the client to say something, and keeps it. False: it never will.
    pub(crate) fn poll_heard(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if !self.ahead.is_empty() {
            return Poll::Ready(true);
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let read = ready!(self.stream.poll_read(cx, scratch)).unwrap_or(0);
            self.ahead.extend_from_slice(&scratch[..read]);
            Poll::Ready(read > 0)
        })
    }

    /// Reads up to `room` bytes, once, and hands them to `take`.
    pub(crate) fn poll_take(
        &mut self,
        cx: &mut Context<'_>,
        room: usize,
        take: impl FnOnce(&mut [u8]),
    ) -> Poll<io::Result<()>> {
        if !self.ahead.is_empty() {
            let mut rest = self.ahead.split_off(room.min(self.ahead.len()));
            std::mem::swap(&mut rest, &mut self.ahead);
            take(&mut rest);
            return Poll::Ready(Ok(()));
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let room = room.min(scratch.len());
            let read = ready!(self.stream.poll_read(cx, &mut scratch[..room]))?;
            take(&mut scratch[..read]);
            Poll::Ready(Ok(()))
        })
    }
}

impl Read for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut into: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        let (ledger, mut ends) = (wire.ledger.clone(), std::mem::take(&mut wire.ends));
        let again = std::mem::take(&mut wire.again);
        let mut taken = 0;
        let poll = wire.poll_take(cx, into.remaining(), |bytes| {
            taken = bytes.len();
            if !bytes.is_empty() {
                ends.check(&mut bytes[again.min(taken)..]);
                ledger.whole.set(ends.whole());
                ledger.arrived();
                into.put_slice(bytes);
            }
        });
        wire.ends = ends;
        wire.again = again.saturating_sub(taken);
        poll
    }
}

impl Write for Wire {
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
        ready!(self.ledger.poll_turn(cx));
        let file = from.iter().position(|slice| stands_in(slice));
        let poll = match file {
            None => self.stream.poll_write(cx, from),
            Some(at) => {
                let Some(part) = self.ledger.shown() else {
                    return Poll::Ready(Err(io::Error::other("a stand-in without its file")));
                };
                // What holds us up here is not the client's doing.
                ready!(part.poll_ready(cx))?;
                let poll = self.stream.poll_send(cx, &from[..at], &part, from[at].len());
                if poll.is_pending() {
                    part.pause();
                }
                poll
            }
        };
        match &poll {
            Poll::Ready(Ok(len)) => self.ledger.wrote(*len),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.ledger.stalls(),
        }
        poll
    }

    /// hyper asks this only when its own buffer is empty, so every byte so far is the kernel's, or that of TLS.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = self.stream.poll_flush(cx);
        match &poll {
            Poll::Ready(Ok(())) => self.ledger.flushed(),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.ledger.stalls(),
        }
        poll
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Nothing that may still come is a request.
        self.ledger.whole.set(false);
        self.stream.poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
