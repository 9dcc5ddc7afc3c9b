//! A reply's body on its way through hyper: pieces of memory, or of a file read off the core.

use crate::ledger::{Progress, Sent};
use crate::reply::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::task::JoinHandle;

/// Bytes of a file read at once. Two of these are held for a reply: one on its way out, one being read.
const PIECE: u64 = 256 << 10;

/// A body that notes how far it has come in its [`Sent`] cell, and nowhere else.
#[derive(Debug)]
pub(crate) struct Sending {
    source: Source,
    sent: Rc<Sent>,
}

#[derive(Debug)]
enum Source {
    Whole(Bytes),
    File(Pieces),
}

impl Sending {
    pub(crate) fn new(body: Body, sent: Rc<Sent>) -> Self {
        let source = match body {
            Body::Empty => Source::Whole(Bytes::new()),
            Body::Bytes(bytes) => Source::Whole(bytes),
            Body::File { file, from, len } => {
                Source::File(Pieces { file: Some(file), at: from, left: len, next: None })
            }
        };
        if matches!(&source, Source::Whole(bytes) if bytes.is_empty())
            || matches!(&source, Source::File(f) if f.left == 0)
        {
            sent.progress.set(Progress::Ended);
        }
        Self { source, sent }
    }

    fn left(&self) -> u64 {
        match &self.source {
            Source::Whole(bytes) => bytes.len() as u64,
            Source::File(pieces) => pieces.left,
        }
    }
}

impl http_body::Body for Sending {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let body = self.get_mut();
        if body.left() == 0 {
            body.sent.progress.set(Progress::Ended);
            return Poll::Ready(None);
        }
        let piece = match &mut body.source {
            Source::Whole(bytes) => Ok(std::mem::take(bytes)),
            Source::File(pieces) => ready!(pieces.poll_next(cx)),
        };
        match piece {
            Ok(piece) => {
                body.sent.bytes.set(body.sent.bytes.get() + piece.len() as u64);
                if body.left() == 0 {
                    body.sent.progress.set(Progress::Ended);
                }
                Poll::Ready(Some(Ok(Frame::data(piece))))
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

/// A part of a file, read piece by piece on the core's blocking threads, one piece ahead of what is being sent.
#[derive(Debug)]
struct Pieces {
    /// Here while no read is under way.
    file: Option<File>,
    at: u64,
    /// Bytes not yet handed out.
    left: u64,
    next: Option<JoinHandle<(File, io::Result<Vec<u8>>)>>,
}

impl Pieces {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        self.read_ahead(self.left);
        let Some(next) = &mut self.next else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        let done = ready!(Pin::new(next).poll(cx));
        self.next = None;
        let (file, piece) = done.map_err(io::Error::other)?;
        let piece = piece?;
        self.file = Some(file);
        self.at += piece.len() as u64;
        self.left -= piece.len() as u64;
        self.read_ahead(self.left);
        Poll::Ready(Ok(piece.into()))
    }

    /// Begins to read the next piece, unless one is under way.
    fn read_ahead(&mut self, left: u64) {
        let len = left.min(PIECE);
        if len == 0 {
            return;
        }
        if let Some(mut file) = self.file.take() {
            let at = self.at;
            self.next = Some(tokio::task::spawn_blocking(move || {
                let piece = read_piece(&mut file, at, len);
                (file, piece)
            }));
        }
    }
}

fn read_piece(file: &mut File, at: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut piece = Vec::with_capacity(usize::try_from(len).unwrap_or_default());
    file.seek(SeekFrom::Start(at))?;
    file.take(len).read_to_end(&mut piece)?;
    if piece.len() as u64 == len { Ok(piece) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
