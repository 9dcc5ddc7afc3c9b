//! A reply's body on its way through hyper: memory, whole or in pieces; a part of a file that the kernel sends, or pieces of one.

pub(crate) mod buffer_pool;
pub(crate) mod chunk;
pub(crate) mod delivery;
pub(crate) mod file_reader;
pub(crate) mod growing;
pub(crate) mod kernel_cache;
pub(crate) mod rope;
pub(crate) mod sendfile;

use crate::body::chunk::{Data, Piece};
use crate::body::delivery::{Progress, Sent};
use crate::body::file_reader::{Means, Pieces};
use crate::body::growing::Growing;
use crate::body::rope::Rope;
use crate::body::sendfile::FilePart;
use crate::connection::state::Ledger;
use crate::reply::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::fs::File;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Up to this many bytes one read and one write cost no more than having the kernel send them: they fit into one buffer.
const SENDFILE_ABOVE: u64 = buffer_pool::SIZE as u64;

/// A body that notes how far it has come in its [`Sent`] cell, and nowhere else.
pub(crate) struct Sending {
    source: Source,
    sent: Rc<Sent>,
}

enum Source {
    Whole(Bytes),
    Rope(Rope),
    /// Handed out as one piece.
    Part(Option<Rc<FilePart>>, Rc<Ledger>),
    Pieces(Pieces),
    Growing(Box<Sprout>),
}

/// A file that grows, and what its parts are sent with.
struct Sprout {
    growing: Growing,
    /// What of a part has not been handed out.
    part: Option<Pieces>,
    ledger: Rc<Ledger>,
    means: Means,
    kernel: bool,
}

impl Sending {
    /// `kernel` tells whether this client's wire can have the kernel send files.
    pub(crate) fn new(body: Body, sent: Rc<Sent>, ledger: &Rc<Ledger>, means: &Means, kernel: bool) -> Self {
        let source = match body {
            Body::Empty => Source::Whole(Bytes::new()),
            Body::Bytes(bytes) => Source::Whole(bytes),
            Body::Rope(rope) => Source::Rope(rope),
            Body::File { file, from, len } if kernel && len > SENDFILE_ABOVE => {
                let part = FilePart::new(file, from, len, sent.clone(), means.threads.clone());
                Source::Part(Some(part), ledger.clone())
            }
            Body::File { file, from, len } => Source::Pieces(Pieces::new(file, from, len, means.clone())),
            Body::Growing(growing) => {
                let (ledger, means) = (ledger.clone(), means.clone());
                Source::Growing(Box::new(Sprout { growing, part: None, ledger, means, kernel }))
            }
        };
        Self::of(source, sent)
    }

    /// A whole file that the kernel holds in memory and sends from there.
    pub(crate) fn in_memory(file: Arc<File>, len: u64, sent: Rc<Sent>, ledger: &Rc<Ledger>, means: &Means) -> Self {
        let part = FilePart::in_memory(file, len, sent.clone(), means.threads.clone());
        Self::of(Source::Part(Some(part), ledger.clone()), sent)
    }

    fn of(source: Source, sent: Rc<Sent>) -> Self {
        let body = Self { source, sent };
        body.sent.expect(body.left().unwrap_or(u64::MAX));
        body.note_end();
        body
    }

    pub(crate) fn sent(&self) -> &Rc<Sent> {
        &self.sent
    }

    /// Whether it is in memory, in one piece.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.source, Source::Whole(_))
    }

    /// All of it, if it is at hand: in memory, or a file for the kernel to send.
    pub(crate) fn whole(&mut self) -> Option<Piece> {
        let data = match &mut self.source {
            Source::Whole(bytes) => Data::Memory(std::mem::take(bytes)),
            Source::Part(part, ledger) => Data::File(part.take().inspect(|part| ledger.show(part))?),
            _ => return None,
        };
        let piece = Piece::new(data, self.sent.clone());
        self.note_end();
        Some(piece)
    }

    /// What has not been handed out, where that is known by now.
    pub(crate) fn left(&self) -> Option<u64> {
        match &self.source {
            Source::Whole(bytes) => Some(bytes.len() as u64),
            Source::Rope(rope) => Some(rope.len()),
            Source::Part(part, _) => Some(part.as_ref().map_or(0, |part| part.left())),
            Source::Pieces(pieces) => Some(pieces.left()),
            Source::Growing(sprout) => Some(sprout.growing.left()? + sprout.part.as_ref().map_or(0, Pieces::left)),
        }
    }

    fn is_ended(&self) -> bool {
        self.left() == Some(0)
    }

    fn note_end(&self) {
        if let Source::Growing(sprout) = &self.source
            && let Some(len) = sprout.growing.len()
        {
            self.sent.expect(len);
        }
        if self.is_ended() && self.sent.progress.get() == Progress::Going {
            self.sent.progress.set(Progress::Ended);
        }
    }
}

impl http_body::Body for Sending {
    type Data = Piece;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Piece>>>> {
        let body = self.get_mut();
        if body.is_ended() {
            body.note_end();
            return Poll::Ready(None);
        }
        let data = match &mut body.source {
            Source::Whole(bytes) => Ok(Data::Memory(std::mem::take(bytes))),
            Source::Rope(rope) => rope.next().map(Data::Memory).ok_or_else(|| io::ErrorKind::BrokenPipe.into()),
            Source::Part(part, ledger) => part
                .take()
                .inspect(|part| ledger.show(part))
                .map(Data::File)
                .ok_or_else(|| io::ErrorKind::BrokenPipe.into()),
            Source::Pieces(pieces) => {
                // One buffer a reply: the next when this one has gone.
                ready!(body.sent.poll_gone(cx));
                ready!(pieces.poll_next(cx, &body.sent)).map(Data::Memory)
            }
            Source::Growing(sprout) => {
                ready!(body.sent.poll_gone(cx));
                match ready!(sprout.poll_next(cx, &body.sent)) {
                    Some(data) => data,
                    None => {
                        body.note_end();
                        return Poll::Ready(None);
                    }
                }
            }
        };
        match data {
            Ok(data) => {
                body.note_end();
                Poll::Ready(Some(Ok(Frame::data(Piece::new(data, body.sent.clone())))))
            }
            Err(error) => {
                if body.sent.progress.get() == Progress::Going {
                    body.sent.progress.set(Progress::Broken);
                }
                Poll::Ready(Some(Err(error)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_ended()
    }

    fn size_hint(&self) -> SizeHint {
        self.left().map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl Sprout {
    /// What comes next, when it is there.
    fn poll_next(&mut self, cx: &mut Context<'_>, sent: &Rc<Sent>) -> Poll<Option<io::Result<Data>>> {
        loop {
            if let Some(part) = self.part.as_mut().filter(|part| part.left() > 0) {
                return part.poll_next(cx, sent).map_ok(Data::Memory).map(Some);
            }
            // One turn at a time: a stand-in that is cut into chunks is shown whole.
            let (at, len) = match ready!(self.growing.poll_next(cx, sendfile::TURN as u64)) {
                Some(Ok(part)) => part,
                Some(Err(error)) => {
                    sent.progress.set(Progress::BrokeOff);
                    return Poll::Ready(Some(Err(error)));
                }
                None => return Poll::Ready(None),
            };
            let file = self.growing.file().clone();
            if self.kernel && len > SENDFILE_ABOVE {
                let part = FilePart::new(file, at, len, sent.clone(), self.means.threads.clone());
                self.ledger.show(&part);
                return Poll::Ready(Some(Ok(Data::File(part))));
            }
            self.part = Some(Pieces::new(file, at, len, self.means.clone()));
        }
    }
}
