//! A file that is sent to clients while it is still being written. Clients need not wait for its end, and cannot
//! mistake a broken file for a complete one.

use std::fmt;
use std::fs::File;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The last bytes of a range are held back until the file is whole. A complete range must be a part of the real file,
/// and the file is verified only at its end.
const PART_END: u64 = 64 << 10;

/// How many bytes a file has so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grown {
    /// This many bytes may be sent; more will follow.
    Going(u64),
    /// This many bytes, and the file is complete.
    Whole(u64),
    /// The file will not be completed. Clients that have a part of it must notice.
    Broken,
}

/// Reports how far a file has grown. Each reader has one.
pub trait Growth: fmt::Debug + Send {
    /// How far it is now.
    fn now(&self) -> Grown;

    /// Waits until the file is longer than `at`, or will not be. If its writer stopped before the end, the file is
    /// broken.
    fn beyond(&self, at: u64) -> Waiting;
}

/// A wait for more of a file.
pub type Waiting = Pin<Box<dyn Future<Output = Grown> + Send>>;

/// The part of a growing file that is to be sent.
pub struct Growing {
    file: Arc<File>,
    from: u64,
    at: u64,
    /// Where that part ends, once it is known.
    end: Option<u64>,
    /// Bytes before the end that are held back until the file is whole.
    held: u64,
    growth: Box<dyn Growth>,
    waiting: Option<Waiting>,
}

impl Growing {
    /// The whole of `file`. `len` is its declared length.
    pub fn new(file: Arc<File>, len: Option<u64>, growth: impl Growth + 'static) -> Self {
        Self { file, from: 0, at: 0, end: len, held: 0, growth: Box::new(growth), waiting: None }
    }

    /// The bytes from `from` to before `to`, both within the declared length. The last bytes are held back until the
    /// file is whole.
    pub(crate) fn slice(self, from: u64, to: u64) -> Self {
        Self { from, at: from, end: Some(to), held: PART_END, ..self }
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// The length of the part, once it is known.
    pub(crate) fn len(&self) -> Option<u64> {
        self.end.map(|end| end - self.from)
    }

    /// The number of bytes that are still to be sent, once it is known.
    pub(crate) fn left(&self) -> Option<u64> {
        self.end.map(|end| end - self.at)
    }

    /// If the length is unknown, waits for the end of the file. Returns the file and its length.
    pub(crate) async fn whole(&self) -> io::Result<Option<(Arc<File>, u64)>> {
        if self.end.is_some() {
            return Ok(None);
        }
        let mut grown = self.growth.now();
        loop {
            match grown {
                Grown::Going(at) => grown = self.growth.beyond(at).await,
                Grown::Whole(len) => return Ok(Some((self.file.clone(), len))),
                Grown::Broken => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// The next bytes that may be sent, at most `most` of them: their offset and number. `None` at the end of the
    /// complete file.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>, most: u64) -> Poll<Option<io::Result<(u64, u64)>>> {
        loop {
            let grown = match &mut self.waiting {
                None => self.growth.now(),
                Some(waiting) => std::task::ready!(waiting.as_mut().poll(cx)),
            };
            self.waiting = None;
            let (there, whole) = match grown {
                Grown::Going(there) => (there, false),
                Grown::Whole(there) => (there, true),
                Grown::Broken => return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
            };
            if whole {
                self.end.get_or_insert(there);
            }
            let held = if whole { 0 } else { self.held };
            let (at, to) = (self.at, self.end.map_or(there, |end| end.saturating_sub(held).min(there)));
            if at < to {
                self.at = to.min(at + most);
                return Poll::Ready(Some(Ok((at, self.at - at))));
            }
            match (self.end == Some(at), whole) {
                (true, _) => return Poll::Ready(None),
                // The file ended before its declared length.
                (false, true) => return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
                (false, false) => self.waiting = Some(self.growth.beyond(there.max(at))),
            }
        }
    }
}

impl fmt::Debug for Growing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, at, end, growth, .. } = self;
        f.debug_struct("Growing").field("from", from).field("at", at).field("end", end).field("growth", growth).finish()
    }
}
