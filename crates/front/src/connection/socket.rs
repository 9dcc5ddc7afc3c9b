//! The socket as hyper sees it. Every byte in and out is counted here, and the flush that ends an exchange is detected
//! here.

use crate::body::sendfile::stands_in;
use crate::connection::state::ConnectionState;
use crate::connection::transport::{SCRATCH, Transport};
use crate::http1::line_ends::{LineEnds, has_lone_lf};
use hyper::rt::{Read, ReadBufCursor, Write};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

/// Buffer capacity that a connection keeps after a larger request.
const KEPT: usize = 1 << 10;

/// The socket of a connection.
pub(crate) struct Socket {
    transport: Rc<Transport>,
    state: Rc<ConnectionState>,
    /// Bytes that were read before the protocol was known, or while the connection was idle.
    ahead: Vec<u8>,
    /// How many of them have been checked before.
    again: usize,
    ends: LineEnds,
}

impl Socket {
    pub(crate) fn new(transport: Rc<Transport>, state: Rc<ConnectionState>, ahead: Vec<u8>) -> Self {
        Self { transport, state, ahead, again: 0, ends: LineEnds::default() }
    }

    /// Has the kernel ask a silent client whether it is there: a tunnel has no limit of idle time.
    pub(crate) fn keep_alive(&self) {
        self.transport.keep_alive();
    }

    /// Takes back bytes that were read. They are read again before all others.
    pub(crate) fn take_back(&mut self, bytes: &[u8]) {
        self.ahead.splice(..0, bytes.iter().copied());
        self.again += bytes.len();
    }

    /// The bytes that were read and not yet handled, if no other bytes came since the last request and their line ends
    /// are valid. Bytes that are not [`Socket::consume`]d are checked when they are read.
    pub(crate) fn waiting(&mut self) -> Option<&[u8]> {
        self.state.arrived();
        (self.again == 0 && !has_lone_lf(&self.ahead)).then_some(&*self.ahead)
    }

    /// The first `len` of the waiting bytes: a request.
    pub(crate) fn request(&self, len: usize) -> &[u8] {
        self.ahead.get(..len).unwrap_or_default()
    }

    /// The first `len` of the waiting bytes were a request, which is now answered.
    pub(crate) fn consume(&mut self, len: usize) {
        if len < self.ahead.len() {
            self.ahead.drain(..len);
        } else {
            self.ahead.clear();
        }
        self.ahead.shrink_to(KEPT);
    }

    /// Whether the client is there, while its request of `len` bytes waits for an answer. Bytes behind the request are kept, and then no
    /// more are read.
    pub(crate) fn poll_connected(&mut self, cx: &mut Context<'_>, len: usize) -> bool {
        if self.ahead.len() > len {
            return true;
        }
        match self.poll_more(cx) {
            Poll::Ready(read) => read > 0,
            Poll::Pending => true,
        }
    }

    /// Waits for bytes from the client, and keeps them. `false`: none will come.
    pub(crate) fn poll_for_bytes(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if !self.ahead.is_empty() {
            return Poll::Ready(true);
        }
        self.poll_more(cx).map(|read| read > 0)
    }

    /// One read, whose bytes are kept. Returns its length; 0 if no more will come.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        SCRATCH.with_borrow_mut(|scratch| {
            let read = ready!(self.transport.poll_read(cx, scratch)).unwrap_or(0);
            self.ahead.extend_from_slice(&scratch[..read]);
            Poll::Ready(read)
        })
    }

    /// Reads up to `room` bytes, once, and passes them to `take`.
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
            let read = ready!(self.transport.poll_read(cx, &mut scratch[..room]))?;
            take(&mut scratch[..read]);
            Poll::Ready(Ok(()))
        })
    }

    /// Writes, without regard to interim responses.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, from: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        ready!(self.state.poll_turn(cx));
        let file = from.iter().position(|slice| stands_in(slice));
        let poll = match file {
            None => self.transport.poll_write(cx, from),
            Some(at) => {
                let Some(part) = self.state.shown_file() else {
                    return Poll::Ready(Err(io::Error::other("a stand-in without its file")));
                };
                // This wait is for a disk and not for the client.
                ready!(part.poll_ready(cx))?;
                let poll = self.transport.poll_send(cx, &from[..at], &part, from[at].len());
                if poll.is_pending() {
                    part.pause();
                }
                poll
            }
        };
        match &poll {
            Poll::Ready(Ok(len)) => self.state.wrote(*len),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.state.write_blocked(),
        }
        poll
    }

    /// Flushes what [`Socket::poll_send`] has written: every byte so far has then been passed to the kernel or to TLS.
    pub(crate) fn poll_flushed(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = self.transport.poll_flush(cx);
        match &poll {
            Poll::Ready(Ok(())) => self.state.flushed(),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.state.write_blocked(),
        }
        poll
    }

    /// Writes the interim responses that wait; `begun`: only the rest of one that was begun.
    fn poll_interims(&mut self, cx: &mut Context<'_>, begun: bool) -> Poll<io::Result<()>> {
        let interims = self.state.interims.clone();
        let written = interims.write(begun, |bytes| match self.poll_send(cx, &[IoSlice::new(bytes)]) {
            Poll::Ready(Ok(0)) => Err(Poll::Ready(Err(io::ErrorKind::WriteZero.into()))),
            Poll::Ready(Ok(len)) => Ok(len),
            Poll::Ready(Err(error)) => Err(Poll::Ready(Err(error))),
            Poll::Pending => Err(Poll::Pending),
        });
        written.map_or_else(|end| end, |()| Poll::Ready(Ok(())))
    }

    /// Flushes without a word about it to the state of the connection.
    pub(crate) fn poll_flush_quietly(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.transport.poll_flush(cx)
    }

    /// Whether a byte that was read has been replaced, so that what comes after the head is not as the client sent it.
    pub(crate) fn has_replaced(&self) -> bool {
        self.ends.has_replaced()
    }
}

impl Read for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut into: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let socket = self.get_mut();
        let (state, mut ends) = (socket.state.clone(), std::mem::take(&mut socket.ends));
        let again = std::mem::take(&mut socket.again);
        let mut taken = 0;
        let poll = socket.poll_take(cx, into.remaining(), |bytes| {
            taken = bytes.len();
            if !bytes.is_empty() {
                ends.check(&mut bytes[again.min(taken)..]);
                state.at_message_end.set(ends.whole());
                state.arrived();
                into.put_slice(bytes);
            }
        });
        socket.ends = ends;
        socket.again = again.saturating_sub(taken);
        poll
    }
}

impl Write for Socket {
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
        ready!(socket.poll_interims(cx, true))?;
        socket.poll_send(cx, from)
    }

    /// hyper calls this only when its own buffer is empty, so interim responses cannot come between its bytes.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let socket = self.get_mut();
        ready!(socket.poll_interims(cx, false))?;
        socket.poll_flushed(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Bytes that arrive after this are not a request.
        self.state.at_message_end.set(false);
        self.transport.poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
