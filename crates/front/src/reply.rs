//! What a handler answers with. Which status that is, is the program's business.

use crate::body::growing::Growing;
use crate::body::rope::Rope;
use crate::conditional::checkpoints::Checkpoints;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

/// Every reply says under which event it is recorded.
pub(crate) const DAYLIGHT_EVENT: HeaderName = HeaderName::from_static("daylight-event");

/// A complete answer, as if nobody had asked conditionally: [`crate::conditional`] turns it into a 304, a 206 or a
/// 416 and takes the body off a `HEAD`.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers, without `Content-Length`, `Date`, `Accept-Ranges` and `Daylight-Event`, which are added.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
    /// Which ranges of the body may be asked for.
    pub ranges: Ranges,
    /// What stands behind the status on HTTP/1.1, where that is to say more than which status it is. In ASCII.
    pub phrase: Option<&'static str>,
    /// How much later than `Last-Modified` the client must have its copy from to be told that it is unchanged. For those
    /// who say when by their own clock, and nothing else.
    pub margin: Duration,
}

/// The bytes of a reply.
#[derive(Debug, Default)]
pub enum Body {
    /// None.
    #[default]
    Empty,
    /// In memory.
    Bytes(Bytes),
    /// In memory, in pieces that others send too. Never a page.
    Rope(Rope),
    /// In a file of our own descriptor: sent by the kernel, or in pieces; read off the core if a disk has to be waited for.
    File {
        /// The file. Its cursor stays where it is. Whoever deletes it must not cut it short while it is sent.
        file: Arc<File>,
        /// Where the body begins in it.
        from: u64,
        /// Its length. If the file turns out shorter, the connection breaks.
        len: u64,
    },
    /// In a file that is still being written: sent as it grows, and broken off if it breaks.
    Growing(Growing),
}

impl Body {
    /// A whole file of `len` bytes, which other replies may be made of too.
    pub fn file(file: impl Into<Arc<File>>, len: u64) -> Self {
        Body::File { file: file.into(), from: 0, len }
    }

    /// Bytes, where that is known by now.
    pub fn len(&self) -> Option<u64> {
        match self {
            Body::Empty => Some(0),
            Body::Bytes(bytes) => Some(bytes.len() as u64),
            Body::Rope(rope) => Some(rope.len()),
            Body::File { len, .. } => Some(*len),
            Body::Growing(growing) => growing.len(),
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}

/// Which ranges a reply allows.
#[derive(Debug, Clone, Default)]
pub enum Ranges {
    /// None: `Range` is ignored.
    #[default]
    None,
    /// Single byte ranges (RFC 9110, 14).
    Bytes,
    /// The tail of an append-only index, for a client that proves that it holds what precedes it; else everything.
    Prefix(Checkpoints),
}

impl Ranges {
    /// Whether any may be asked for.
    pub(crate) fn any(&self) -> bool {
        !matches!(self, Ranges::None)
    }
}

impl Reply {
    /// A reply with neither headers nor body.
    pub fn new(status: StatusCode) -> Self {
        let (headers, body, ranges) = (HeaderMap::new(), Body::Empty, Ranges::None);
        Self { status, headers, body, ranges, phrase: None, margin: Duration::ZERO }
    }

    /// A reply of plain text.
    pub fn text(status: StatusCode, text: impl Into<Bytes>) -> Self {
        Self::new(status)
            .header(http::header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))
            .body(Body::Bytes(text.into()))
    }

    /// With this header, instead of one of the same name.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// With this body.
    pub fn body(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    /// With these ranges.
    pub fn ranges(mut self, ranges: Ranges) -> Self {
        self.ranges = ranges;
        self
    }
}
