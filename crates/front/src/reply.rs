//! The reply of a handler. The program chooses its status.

use crate::body::growing::Growing;
use crate::body::live::Live;
use crate::body::rope::Rope;
use crate::body::stream::Stream;
use crate::conditional::checkpoints::Checkpoints;
use crate::connection::tunnel::Tunnel;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::borrow::Cow;
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Every reply has the id of its event in this header.
pub(crate) const DAYLIGHT_EVENT: HeaderName = HeaderName::from_static("daylight-event");

/// A complete reply, as for a request without conditions. [`crate::conditional`] turns it into a 304, a 206 or a 416,
/// and removes the body for `HEAD`.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers. The front adds `Content-Length`, `Date`, `Accept-Ranges` and `Daylight-Event`.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
    /// The ranges of the body that a client may ask for.
    pub ranges: Ranges,
    /// The reason phrase after the status on HTTP/1.1, where the standard one is not enough. ASCII only.
    pub phrase: Option<Cow<'static, str>>,
    /// Which dates of a client's copy prove that it is current.
    pub unchanged: UnchangedDates,
    /// It is the reply of another server to this very request, and is sent as it is: conditions and ranges were that server's matter.
    pub verbatim: bool,
}

/// Which dates in `If-Modified-Since` prove that a client has the current body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnchangedDates {
    /// The date of `Last-Modified`, and later ones: the body does not change twice within a second.
    #[default]
    NotBefore,
    /// The date of `Last-Modified`, which no other body has; and dates that are later by this margin.
    SameOrLaterBy(Duration),
    /// Dates that are later by this margin: the client dates its copy by its own clock.
    LaterBy(Duration),
}

impl UnchangedDates {
    /// Whether a copy with the date `held` is current if the body was last modified at `modified`.
    pub(crate) fn hold(self, modified: SystemTime, held: SystemTime) -> bool {
        match self {
            Self::NotBefore => modified <= held,
            Self::SameOrLaterBy(margin) => modified == held || modified + margin <= held,
            Self::LaterBy(margin) => modified + margin <= held,
        }
    }
}

/// The body of a reply.
#[derive(Debug, Default)]
pub enum Body {
    /// No body.
    #[default]
    Empty,
    /// Bytes in memory.
    Bytes(Bytes),
    /// Segments in memory that other replies share. Never becomes a page.
    Rope(Rope),
    /// A part of an open file. The kernel sends it, or it is read in chunks; a read that must wait for a disk happens
    /// on another thread.
    File {
        /// The file. Its cursor does not move. It must not be truncated while it is sent.
        file: Arc<File>,
        /// Where the body begins in the file.
        from: u64,
        /// The length of the body. If the file turns out to be shorter, the connection breaks.
        len: u64,
    },
    /// A file that is still being written. It is sent as it grows, and the connection breaks if the writing fails.
    Growing(Growing),
    /// Pieces that are sent as they come. Over HTTP/1.0 the end of the connection is its end.
    Live(Live),
    /// Pieces of a body that another server sends, with its length, if that server declared it, and its trailers.
    Stream(Stream),
    /// After a 101: the connection belongs to this tunnel from here.
    Tunnel(Box<dyn Tunnel>),
}

impl Body {
    /// A whole file of `len` bytes, which other replies may share.
    pub fn file(file: impl Into<Arc<File>>, len: u64) -> Self {
        Body::File { file: file.into(), from: 0, len }
    }

    /// The length, where it is known by now.
    pub fn len(&self) -> Option<u64> {
        match self {
            Body::Empty => Some(0),
            Body::Bytes(bytes) => Some(bytes.len() as u64),
            Body::Rope(rope) => Some(rope.len()),
            Body::File { len, .. } => Some(*len),
            Body::Growing(growing) => growing.len(),
            Body::Stream(stream) => stream.len(),
            Body::Live(_) | Body::Tunnel(_) => None,
        }
    }

    /// Whether the body is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}

/// The ranges that a reply allows.
#[derive(Debug, Clone, Default)]
pub enum Ranges {
    /// `Range` is ignored.
    #[default]
    None,
    /// Single byte ranges (RFC 9110, 14).
    Bytes,
    /// The tail of an append-only index, for a client that proves that it has everything before the tail. Other clients
    /// get the whole index.
    Prefix(Checkpoints),
}

impl Ranges {
    /// Whether the reply allows any range.
    pub(crate) fn any(&self) -> bool {
        !matches!(self, Ranges::None)
    }
}

impl Reply {
    /// A reply without headers and without a body.
    pub fn new(status: StatusCode) -> Self {
        let (headers, body, ranges) = (HeaderMap::new(), Body::Empty, Ranges::None);
        Self { status, headers, body, ranges, phrase: None, unchanged: UnchangedDates::NotBefore, verbatim: false }
    }

    /// A reply of plain text.
    pub fn text(status: StatusCode, text: impl Into<Bytes>) -> Self {
        Self::new(status)
            .header(http::header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))
            .body(Body::Bytes(text.into()))
    }

    /// Sets a header, and replaces one of the same name.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    /// Sets the ranges.
    pub fn ranges(mut self, ranges: Ranges) -> Self {
        self.ranges = ranges;
        self
    }
}
