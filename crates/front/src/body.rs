//! A reply's body on its way through hyper: pieces of memory, or of a file read off the core.

use crate::ledger::{Progress, Sent};
use crate::reply::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use telemetry::{Bound, Tally, Tick};
use tokio::task::JoinHandle;

/// Bytes of a file read at once. A client however slow holds two of these: one on its way out, and one read ahead.
const PIECE: u64 = 128 << 10;

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
    pub(crate) fn new(body: Body, sent: Rc<Sent>, threads: &Arc<Bound>) -> Self {
        let source = match body {
            Body::Empty => Source::Whole(Bytes::new()),
            Body::Bytes(bytes) => Source::Whole(bytes),
            Body::File { file, from, len } => {
                Source::File(Pieces { file: Some(file), at: from, left: len, next: None, threads: threads.clone() })
            }
        };
        let body = Self { source, sent };
        if body.left() == 0 {
            body.sent.progress.set(Progress::Ended);
        }
        body
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
            Source::File(pieces) => ready!(pieces.poll_next(cx, &body.sent.reads)),
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
    next: Option<JoinHandle<Piece>>,
    threads: Arc<Bound>,
}

/// What a read came to.
#[derive(Debug)]
struct Piece {
    file: File,
    bytes: io::Result<Vec<u8>>,
    nanos: u64,
}

impl Pieces {
    fn poll_next(&mut self, cx: &mut Context<'_>, reads: &Cell<Tally>) -> Poll<io::Result<Bytes>> {
        self.read_ahead();
        let Some(next) = &mut self.next else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        let done = ready!(Pin::new(next).poll(cx));
        self.next = None;
        let piece = done.map_err(io::Error::other)?;
        let Tally { count, nanos } = reads.get();
        reads.set(Tally { count: count + 1, nanos: nanos + piece.nanos });
        let bytes = piece.bytes?;
        self.file = Some(piece.file);
        self.at += bytes.len() as u64;
        self.left -= bytes.len() as u64;
        self.read_ahead();
        Poll::Ready(Ok(bytes.into()))
    }

    /// Begins to read the next piece, unless one is under way or there is none.
    fn read_ahead(&mut self) {
        let len = self.left.min(PIECE);
        if len == 0 {
            return;
        }
        if let Some(mut file) = self.file.take() {
            let (at, threads, asked) = (self.at, self.threads.clone(), Tick::now());
            self.next = Some(tokio::task::spawn_blocking(move || {
                let began = Tick::now();
                threads.waited(began.since(asked));
                let _thread = threads.enter();
                let bytes = read(&mut file, at, len);
                Piece { file, bytes, nanos: Tick::now().since(began) }
            }));
        }
    }
}

fn read(file: &mut File, at: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or_default());
    file.seek(SeekFrom::Start(at))?;
    file.take(len).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == len { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
