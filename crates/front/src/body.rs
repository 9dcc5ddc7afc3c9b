//! A reply's body on its way through hyper: memory, whole or in pieces; a part of a file that the kernel sends, or pieces of one.

use crate::buffers;
use crate::file_part::FilePart;
use crate::ledger::Ledger;
use crate::pieces::{Means, Pieces};
use crate::reply::Body;
use crate::rope::Rope;
use crate::sent::{Progress, Sent};
use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

/// Up to this many bytes one read and one write cost no more than having the kernel send them: they fit into one buffer.
const SENDFILE_ABOVE: u64 = buffers::SIZE as u64;

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
        };
        let body = Self { source, sent };
        body.sent.expect(body.left());
        body.note_end();
        body
    }

    pub(crate) fn sent(&self) -> &Rc<Sent> {
        &self.sent
    }

    /// All of it, if it is in memory.
    pub(crate) fn whole(&mut self) -> Option<Piece> {
        let Source::Whole(bytes) = &mut self.source else { return None };
        let piece = Piece::new(Data::Memory(std::mem::take(bytes)), self.sent.clone());
        self.note_end();
        Some(piece)
    }

    pub(crate) fn left(&self) -> u64 {
        match &self.source {
            Source::Whole(bytes) => bytes.len() as u64,
            Source::Rope(rope) => rope.len(),
            Source::Part(part, _) => part.as_ref().map_or(0, |part| part.left()),
            Source::Pieces(pieces) => pieces.left(),
        }
    }

    fn note_end(&self) {
        if self.left() == 0 && self.sent.progress.get() == Progress::Going {
            self.sent.progress.set(Progress::Ended);
        }
    }
}

impl http_body::Body for Sending {
    type Data = Piece;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Piece>>>> {
        let body = self.get_mut();
        if body.left() == 0 {
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
        };
        match data {
            Ok(data) => {
                body.note_end();
                Poll::Ready(Some(Ok(Frame::data(Piece::new(data, body.sent.clone())))))
            }
            Err(error) => {
                body.sent.progress.set(Progress::Broken);
                Poll::Ready(Some(Err(error)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left())
    }
}

/// What hyper holds of a body. It takes off what the wire has written, and so tells how much that was.
pub(crate) struct Piece {
    data: Data,
    sent: Rc<Sent>,
}

enum Data {
    Memory(Bytes),
    File(Rc<FilePart>),
}

impl Piece {
    fn new(data: Data, sent: Rc<Sent>) -> Self {
        sent.hold();
        Self { data, sent }
    }
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        match &self.data {
            Data::Memory(bytes) => bytes.len(),
            Data::File(part) => usize::try_from(part.left()).unwrap_or(usize::MAX),
        }
    }

    fn chunk(&self) -> &[u8] {
        match &self.data {
            Data::Memory(bytes) => bytes,
            Data::File(part) => part.stand_in(),
        }
    }

    fn advance(&mut self, len: usize) {
        match &mut self.data {
            Data::Memory(bytes) => bytes.advance(len),
            Data::File(part) => part.advance(len),
        }
        self.sent.bytes.set(self.sent.bytes.get() + len as u64);
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.sent.let_go();
    }
}
