//! An open connection to a server that keeps pages: commands are sent together, and replies come in their order.

use super::command::{Dialect, PageCommand};
use super::replies::{PageReplies, PageReply, PageWant};
use crate::backend::BackendStream;
use crate::error::Error;
use std::fmt;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncReadExt;

/// The most bytes of memory that are kept for commands between two turns.
const OUT_KEPT_BYTES: usize = 64 << 10;

/// An open connection. It stays on the core that opened it.
pub struct PageConnection {
    /// The URL of the server, for messages.
    pub(super) name: Arc<str>,
    pub(super) stream: Pin<Box<dyn BackendStream>>,
    pub(super) replies: PageReplies,
    /// Commands that were not sent yet, from `sent` on.
    pub(super) out: Vec<u8>,
    sent: usize,
    /// The stream may still have bytes that were written.
    is_unflushed: bool,
    /// Counts commands.
    turn: u8,
    pub(super) instance: Option<u64>,
}

impl PageConnection {
    pub(super) fn new(name: Arc<str>, stream: Pin<Box<dyn BackendStream>>, dialect: Dialect) -> Self {
        Self {
            name,
            stream,
            replies: PageReplies::of(dialect),
            out: Vec::new(),
            sent: 0,
            is_unflushed: false,
            turn: 0,
            instance: None,
        }
    }

    /// The process of the server, by the second of its start and its number. memcached counts versions (CAS) from 1 again after a
    /// restart. `None`: it does not tell, so its versions tell nothing.
    pub fn instance(&self) -> Option<u64> {
        self.instance
    }

    /// Adds a command to the ones that [`PageConnection::poll_send`] sends.
    pub fn push(&mut self, command: PageCommand<'_>) {
        command.write(self.replies.dialect(), self.turn, &mut self.out);
        self.turn = (self.turn + 1) % 26;
    }

    /// Sends all commands, in one write if the socket has room for them.
    pub fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.out.is_empty() && !self.is_unflushed {
            return Poll::Ready(Ok(()));
        }
        self.is_unflushed = true;
        while self.sent < self.out.len() {
            let written = ready!(self.stream.as_mut().poll_write(cx, &self.out[self.sent..]));
            match written {
                Ok(0) => return Poll::Ready(Err(self.broken(io::ErrorKind::WriteZero.into()))),
                Ok(written) => self.sent += written,
                Err(error) => return Poll::Ready(Err(self.broken(error))),
            }
        }
        self.sent = 0;
        self.out.clear();
        self.out.shrink_to(OUT_KEPT_BYTES);
        let flushed = ready!(self.stream.as_mut().poll_flush(cx));
        self.is_unflushed = false;
        Poll::Ready(flushed.map_err(|error| self.broken(error)))
    }

    /// The next reply. After an error the connection cannot be used.
    pub fn poll_reply(&mut self, want: PageWant, cx: &mut Context<'_>) -> Poll<Result<PageReply, Error>> {
        loop {
            match self.replies.next(want) {
                Ok(Some(reply)) => return Poll::Ready(Ok(reply)),
                Ok(None) => {}
                Err(why) => {
                    return Poll::Ready(Err(Error::BadResponse { host: self.name.to_string(), why }));
                }
            }
            let mut room = self.replies.room();
            let read = ready!(pin!(self.stream.read_buf(&mut room)).poll(cx));
            match read {
                Ok(0) => return Poll::Ready(Err(self.broken(io::ErrorKind::UnexpectedEof.into()))),
                Ok(_) => {}
                Err(error) => return Poll::Ready(Err(self.broken(error))),
            }
        }
    }

    /// The next reply, after all commands were sent.
    pub(super) async fn reply(&mut self, want: PageWant) -> Result<PageReply, Error> {
        std::future::poll_fn(|cx| {
            ready!(self.poll_send(cx))?;
            self.poll_reply(want, cx)
        })
        .await
    }

    fn broken(&self, source: io::Error) -> Error {
        Error::PageServerBroke { host: self.name.to_string(), source }
    }
}

impl fmt::Debug for PageConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageConnection").field("name", &self.name).finish_non_exhaustive()
    }
}
