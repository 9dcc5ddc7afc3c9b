//! Sends a [`Stream`]: the pieces of another server, each when the one before has been written.

use crate::body::chunk::Data;
use crate::body::delivery::{Delivery, Progress};
use crate::body::file_parts::FileParts;
use crate::body::sendfile::TURN;
use crate::body::stream::{Piece, Stream};
use http::HeaderMap;
use std::fs::File;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use telemetry::Op;

/// A stream that is being sent.
pub(crate) struct Passing {
    stream: Stream,
    /// Bytes that the stream gave.
    given: u64,
    /// The part of a file that is still to be handed out: where it begins, and its length.
    part: Option<(Arc<File>, u64, u64)>,
    parts: FileParts,
    ended: bool,
}

/// The next step of a stream.
pub(crate) enum Passed {
    Data(Data),
    Trailers(HeaderMap),
}

impl Passing {
    pub(crate) fn new(stream: Stream, parts: FileParts) -> Self {
        Self { stream, given: 0, part: None, parts, ended: false }
    }

    /// The bytes that are still to be handed out, once that is known.
    pub(crate) fn left(&self) -> Option<u64> {
        let taken = self.part.as_ref().map_or(0, |(_, _, len)| *len) + self.parts.left();
        let source = if self.ended { 0 } else { self.stream.len()?.saturating_sub(self.given) };
        Some(source + taken)
    }

    /// The length of the whole, once it has ended.
    pub(crate) fn len(&self) -> Option<u64> {
        self.ended.then_some(self.given)
    }

    /// The next step. `None`: the body ends here.
    pub(crate) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        delivery: &Rc<Delivery>,
    ) -> Poll<Option<io::Result<Passed>>> {
        loop {
            if let Some(rest) = self.parts.poll_rest(cx, delivery) {
                return rest.map_ok(Passed::Data).map(Some);
            }
            if let Some((file, at, len)) = self.part.take() {
                let now = len.min(TURN as u64);
                self.part = Some((file.clone(), at + now, len - now)).filter(|(_, _, left)| *left > 0);
                if let Some(data) = self.parts.begin(file, at, now, delivery) {
                    return Poll::Ready(Some(Ok(Passed::Data(data))));
                }
                continue;
            }
            let piece = ready!(delivery.polled(Op::BodyWait, self.stream.poll_next(cx)));
            let step = piece.transpose().and_then(|piece| self.take(piece));
            if step.is_err() {
                delivery.progress.set(Progress::BrokeOff);
            }
            match step.transpose() {
                Some(Ok(None)) => {}
                step => return Poll::Ready(step.and_then(Result::transpose)),
            }
        }
    }

    /// Takes a piece, and compares the length with the declared one. `Ok(Some(None))`: it goes on with the next step.
    fn take(&mut self, piece: Option<Piece>) -> io::Result<Option<Option<Passed>>> {
        let (len, step) = match piece {
            Some(Piece::Bytes(bytes)) if bytes.is_empty() => (0, None),
            Some(Piece::Bytes(bytes)) => (bytes.len() as u64, Some(Passed::Data(Data::Memory(bytes)))),
            Some(Piece::File { file, from, len }) => {
                self.part = Some((file, from, len)).filter(|_| len > 0);
                (len, None)
            }
            end @ (Some(Piece::Trailers(_)) | None) => {
                if self.stream.len().is_some_and(|declared| declared != self.given) {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the body is shorter than declared"));
                }
                self.ended = true;
                let Some(Piece::Trailers(trailers)) = end else { return Ok(None) };
                return Ok(Some(Some(Passed::Trailers(trailers))));
            }
        };
        self.given += len;
        if self.stream.len().is_some_and(|declared| declared < self.given) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the body is longer than declared"));
        }
        Ok(Some(step))
    }
}
