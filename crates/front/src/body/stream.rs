//! A body that another server sends. Its pieces pass through: bytes, parts of a file into which they were spooled, trailers.

use bytes::Bytes;
use http::HeaderMap;
use std::cell::RefCell;
use std::fmt;
use std::fs::File;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use telemetry::Event;

/// A piece of a [`Stream`].
#[derive(Debug)]
pub enum Piece {
    /// Bytes, which are not empty.
    Bytes(Bytes),
    /// A part of a file, which is not empty. The file must keep these bytes while they are sent.
    File {
        /// The file.
        file: Arc<File>,
        /// Where the part begins.
        from: u64,
        /// Its length.
        len: u64,
    },
    /// The trailers, as the last piece. Without chunks (HTTP/1.0, or a body with a declared length) they are left out.
    Trailers(HeaderMap),
}

/// Gives the pieces of a [`Stream`]. It is dropped when the client has gone.
pub trait StreamSource: fmt::Debug {
    /// The next piece, when there is one. It is asked for when the client's socket has taken the last piece. `None`: the body ends here.
    /// After an error the connection to the client breaks, so that the client cannot take a part for the whole.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Piece>>>;

    /// Whether the body has no end by itself, as an event stream. The duration of its event then ends with the first byte, and when
    /// the server stops, it is dropped after the time that open requests have.
    fn is_endless(&self) -> bool {
        false
    }

    /// The last word about the event of the request, when the delivery has ended, well or not. A value that is set here holds.
    fn record(&mut self, event: &mut Event) {
        let _ = event;
    }
}

/// The body polls the source, and the end of the event has the last word of it.
pub(crate) type SharedSource = Rc<RefCell<dyn StreamSource>>;

/// A body that another server sends.
pub struct Stream {
    source: SharedSource,
    len: Option<u64>,
}

impl Stream {
    /// The pieces of `source`. `len`: the declared length, which the front compares with the bytes that came: a body that is shorter or
    /// longer breaks the connection.
    pub fn new(source: impl StreamSource + 'static, len: Option<u64>) -> Self {
        Self { source: Rc::new(RefCell::new(source)), len }
    }

    /// The declared length.
    pub(crate) fn len(&self) -> Option<u64> {
        self.len
    }

    /// The next piece.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Piece>>> {
        self.source.borrow_mut().poll_piece(cx)
    }

    /// The source.
    pub(crate) fn source(&self) -> SharedSource {
        self.source.clone()
    }

    /// Whether the body has no end by itself.
    pub(crate) fn is_endless(&self) -> bool {
        self.source.borrow().is_endless()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("source", &self.source).field("len", &self.len).finish()
    }
}
