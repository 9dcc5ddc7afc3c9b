//! The body of an outgoing request: nothing, bytes, or a file that is read while it is sent.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Bytes per read of a file.
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
    File { file: Arc<File>, at: u64, left: u64 },
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
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let next = match &mut *self {
            Self::Bytes(bytes) => bytes.take().map(Ok),
            Self::File { left: 0, .. } => None,
            Self::File { file, at, left } => Some(piece(file, at, left)),
        };
        Poll::Ready(next.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Bytes(None) | Self::File { left: 0, .. })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Bytes(bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
            Self::File { left, .. } => *left,
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
