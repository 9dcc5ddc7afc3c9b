//! The bodies of requests to backends.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderValue, TRAILER, TRANSFER_ENCODING};
use hyper::body::{Body, Frame, SizeHint};
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The body of a request to a backend.
#[derive(Debug, Default)]
pub enum BackendBody {
    /// No body.
    #[default]
    Empty,
    /// A body in memory.
    Bytes(Bytes),
    /// A body that is read from elsewhere.
    Source(Box<dyn BodySource>),
}

/// Gives the pieces of a body.
pub trait BodySource: fmt::Debug + Send {
    /// The length of all that is to come, if it is known. Without it the body is sent in chunks. A source that gives more or fewer
    /// bytes breaks the connection.
    fn len(&self) -> Option<u64>;

    /// Whether nothing is to come.
    fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The trailers that are to come, if they are known when the request is sent. Only these are sent, and only after chunks: their
    /// names must be in the head (RFC 9110 6.6.2).
    fn trailers(&self) -> Option<&HeaderMap> {
        None
    }

    /// The next piece; trailers are the last one.
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>>;
}

/// A body as hyper sends it.
#[derive(Debug)]
pub(super) struct SentBody {
    body: BackendBody,
    /// How many bytes are to come, where that was told.
    left: Option<u64>,
}

impl SentBody {
    pub(super) fn new(body: BackendBody) -> Self {
        let left = match &body {
            BackendBody::Empty => Some(0),
            BackendBody::Bytes(bytes) => Some(bytes.len() as u64),
            // Trailers exist only in chunks (RFC 9112 7.1.2).
            BackendBody::Source(source) if source.trailers().is_some_and(|trailers| !trailers.is_empty()) => None,
            BackendBody::Source(source) => source.len(),
        };
        Self { body, left }
    }

    pub(super) fn into_body(self) -> BackendBody {
        self.body
    }

    /// Sets the headers that frame the body. What they said before does not count: a head that disagrees with its body puts the
    /// connection out of step.
    pub(super) fn frame(&self, headers: &mut HeaderMap) {
        headers.remove(TRANSFER_ENCODING);
        headers.remove(TRAILER);
        match (&self.body, self.left) {
            // Only a request that told so has the length 0: a GET without a body has none.
            (BackendBody::Empty, _) if !headers.contains_key(CONTENT_LENGTH) => {}
            (_, Some(left)) => drop(headers.insert(CONTENT_LENGTH, HeaderValue::from(left))),
            (_, None) => {
                headers.remove(CONTENT_LENGTH);
                headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
            }
        }
        if let BackendBody::Source(source) = &self.body {
            for name in source.trailers().into_iter().flat_map(HeaderMap::keys) {
                headers.append(TRAILER, HeaderValue::from(name.clone()));
            }
        }
    }

    fn poll_source(
        source: &mut dyn BodySource,
        left: &mut Option<u64>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = match ready!(source.poll_frame(cx)) {
            Some(frame) => frame?,
            None if left.is_some_and(|left| left > 0) => {
                return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())));
            }
            None => return Poll::Ready(None),
        };
        if let (Some(left), Some(data)) = (left, frame.data_ref()) {
            *left = left.checked_sub(data.len() as u64).ok_or(io::ErrorKind::InvalidData)?;
        }
        Poll::Ready(Some(Ok(frame)))
    }
}

impl Body for SentBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let Self { body, left } = self.get_mut();
        match body {
            BackendBody::Empty => Poll::Ready(None),
            BackendBody::Bytes(bytes) => {
                *left = Some(0);
                let bytes = std::mem::take(bytes);
                Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
            }
            BackendBody::Source(source) => Self::poll_source(source.as_mut(), left, cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
