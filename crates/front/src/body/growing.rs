//! A file that is still being written while clients are sent it. Nobody waits for the end of it, and nobody takes what broke
//! off for the whole.

use std::fmt;
use std::fs::File;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The last so many bytes of a part wait until the file is whole: a part that is complete must be a part of the file, and only
/// at its end is it known what the file is.
const PART_END: u64 = 64 << 10;

/// How far a file has come, counted from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grown {
    /// So many bytes may be sent; there will be more.
    Going(u64),
    /// So many bytes, and that is all of it.
    Whole(u64),
    /// It will not become whole: whoever has a part is to notice.
    Broken,
}

/// What tells how far a file has come. Many readers may each have one.
pub trait Growth: fmt::Debug + Send {
    /// How far it is now.
    fn now(&self) -> Grown;

    /// Waits until it has come further than `at`, or will not. Where whoever writes it has gone before its end, it is broken.
    fn beyond(&self, at: u64) -> Waiting;
}

/// A wait for more of a file.
pub type Waiting = Pin<Box<dyn Future<Output = Grown> + Send>>;

/// What of such a file is to be sent.
pub struct Growing {
    file: Arc<File>,
    from: u64,
    at: u64,
    /// Where what is wanted ends, once that is known.
    end: Option<u64>,
    /// So many bytes before that wait until the file is whole.
    held: u64,
    growth: Box<dyn Growth>,
    waiting: Option<Waiting>,
}

impl Growing {
    /// The whole of `file`, which will have `len` bytes, if that was announced.
    pub fn new(file: Arc<File>, len: Option<u64>, growth: impl Growth + 'static) -> Self {
        Self { file, from: 0, at: 0, end: len, held: 0, growth: Box::new(growth), waiting: None }
    }

    /// What lies from `from` to before `to`, both within what was announced. Its last bytes wait until the file is whole.
    pub(crate) fn slice(self, from: u64, to: u64) -> Self {
        Self { from, at: from, end: Some(to), held: PART_END, ..self }
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// How long all of it is, once that is known.
    pub(crate) fn len(&self) -> Option<u64> {
        self.end.map(|end| end - self.from)
    }

    /// How much has not been handed out, once that is known.
    pub(crate) fn left(&self) -> Option<u64> {
        self.end.map(|end| end - self.at)
    }

    /// Where the length is not known, waits for it, and so for the end: the file, and how long it has become.
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

    /// The next part that may be sent, of at most `most` bytes: where it begins, and its length. `None` at the proper end.
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
                // It ended before its announced length.
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
