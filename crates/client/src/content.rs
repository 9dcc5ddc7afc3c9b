//! The body of an outgoing request: nothing, bytes, a file that is read while it is sent, or an object.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use object_store::client::HttpRequestBody;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

/// Bytes per read of a file, and per piece of an object.
const PIECE: usize = 64 << 10;

/// The body of an outgoing request.
#[derive(Debug, Clone)]
pub enum Content {
    /// These bytes, with their length.
    Bytes(Bytes),
    /// The bytes of a file from its beginning, with its length. The caller opens the file, so the file that was
    /// checked is the file that is sent. Reads block: only for programs that do nothing else on this thread.
    File(Arc<File>),
}

impl Default for Content {
    fn default() -> Self {
        Content::Bytes(Bytes::new())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::Bytes(text.into())
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Content::Bytes(bytes)
    }
}

/// The body as it is sent.
#[derive(Debug)]
pub(crate) enum RequestBody {
    Bytes(Option<Bytes>),
    File {
        file: Arc<File>,
        at: u64,
        left: u64,
    },
    /// `piece`: of a larger part, as it is left. `moved`: the number of pieces that were sent.
    Object {
        body: HttpRequestBody,
        piece: Bytes,
        left: u64,
        moved: Arc<AtomicU64>,
    },
}

impl RequestBody {
    pub(crate) fn of(content: Content) -> io::Result<Self> {
        match content {
            Content::Bytes(bytes) => Ok(Self::Bytes((!bytes.is_empty()).then_some(bytes))),
            Content::File(file) => {
                let left = file.metadata()?.len();
                Ok(Self::File { file, at: 0, left })
            }
        }
    }

    /// A body of `object_store`, in pieces: the number of the ones that were sent shows whether a large body moves.
    pub(crate) fn of_object(body: HttpRequestBody, moved: Arc<AtomicU64>) -> Self {
        // `is_empty` of this type tells the opposite where the body has several parts.
        let left = body.content_length() as u64;
        Self::Object { body, piece: Bytes::new(), left, moved }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let next = match &mut *self {
            Self::Bytes(bytes) => bytes.take().map(Ok),
            Self::File { left: 0, .. } | Self::Object { left: 0, .. } => None,
            Self::File { file, at, left } => Some(piece(file, at, left)),
            Self::Object { body, piece, left, moved } => {
                while piece.is_empty() {
                    match ready!(Pin::new(&mut *body).poll_frame(cx)) {
                        Some(Ok(frame)) => *piece = frame.into_data().unwrap_or_default(),
                        Some(Err(error)) => return Poll::Ready(Some(Err(io::Error::other(error)))),
                        None => return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
                    }
                }
                let next = piece.split_to(piece.len().min(PIECE));
                *left = left.saturating_sub(next.len() as u64);
                moved.fetch_add(1, Relaxed);
                Some(Ok(next))
            }
        };
        Poll::Ready(next.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Bytes(None) | Self::File { left: 0, .. } | Self::Object { left: 0, .. })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Bytes(bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
            Self::File { left, .. } | Self::Object { left, .. } => *left,
        })
    }
}

/// The next bytes. The length was already sent, so a file that has become shorter is an error.
fn piece(file: &File, at: &mut u64, left: &mut u64) -> io::Result<Bytes> {
    let mut piece = vec![0; usize::try_from(*left).unwrap_or(PIECE).min(PIECE)];
    file.read_exact_at(&mut piece, *at)?;
    *at += piece.len() as u64;
    *left -= piece.len() as u64;
    Ok(piece.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::PutPayload;
    use std::task::Waker;

    #[test]
    fn a_large_object_is_sent_in_pieces_that_are_counted() {
        let parts: PutPayload =
            [Bytes::from(vec![1; PIECE * 2 + 5]), Bytes::new(), Bytes::from_static(b"end")].into_iter().collect();
        let moved = Arc::new(AtomicU64::new(0));
        let mut body = RequestBody::of_object(parts.into(), moved.clone());
        assert_eq!(body.size_hint().exact(), Some(PIECE as u64 * 2 + 8));
        let mut cx = Context::from_waker(Waker::noop());
        let mut lengths = Vec::new();
        while let Poll::Ready(Some(frame)) = Pin::new(&mut body).poll_frame(&mut cx) {
            lengths.push(frame.unwrap().into_data().unwrap().len());
        }
        assert_eq!(lengths, [PIECE, PIECE, 5, 3]);
        assert!(body.is_end_stream() && moved.load(Relaxed) == 4);
    }
}
