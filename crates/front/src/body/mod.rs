//! The body of a reply on its way through hyper: bytes in memory, a file that the kernel sends or that is read in
//! chunks, or pieces that come as they happen.

pub(crate) mod buffer_pool;
pub(crate) mod chunk;
pub(crate) mod delivery;
pub(crate) mod file_parts;
pub(crate) mod file_reader;
pub(crate) mod file_threads;
pub(crate) mod growing;
pub(crate) mod kernel_cache;
pub(crate) mod kernel_copy;
pub(crate) mod live;
pub(crate) mod passing;
pub(crate) mod rope;
pub(crate) mod sendfile;
pub(crate) mod stream;

use crate::body::chunk::{Chunk, Data};
use crate::body::delivery::{Delivery, Progress};
use crate::body::file_parts::{FileParts, SENDFILE_ABOVE};
use crate::body::file_reader::{FileAccess, FileReader};
use crate::body::growing::Growing;
use crate::body::live::Live;
use crate::body::passing::{Passed, Passing};
use crate::body::rope::Rope;
use crate::body::sendfile::FilePart;
use crate::connection::state::ConnectionState;
use crate::reply::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use telemetry::Op;

/// A body that records its progress in its [`Delivery`].
pub(crate) struct OutgoingBody {
    source: BodySource,
    delivery: Rc<Delivery>,
}

enum BodySource {
    Whole(Bytes),
    /// No body. The head names the length that another reply would have: a 304 may (RFC 9110, 8.6).
    Bare(u64),
    Rope(Rope),
    /// Handed out as one chunk.
    Part(Option<Rc<FilePart>>, Rc<ConnectionState>),
    FileReader(FileReader),
    Growing(Box<GrowingSource>),
    Live(Live),
    Stream(Box<Passing>),
    /// No body: after the head the connection belongs to a tunnel, which ends the delivery.
    Tunnel,
}

/// A growing file, and the state for sending it.
struct GrowingSource {
    growing: Growing,
    parts: FileParts,
}

impl OutgoingBody {
    /// `kernel`: whether the kernel can send files on this connection.
    pub(crate) fn new(
        body: Body,
        delivery: Rc<Delivery>,
        state: &Rc<ConnectionState>,
        file_access: &FileAccess,
        kernel: bool,
    ) -> Self {
        let source = match body {
            Body::Empty => BodySource::Whole(Bytes::new()),
            Body::Bytes(bytes) => BodySource::Whole(bytes),
            Body::Rope(rope) => BodySource::Rope(rope),
            Body::File { file, from, len } if kernel && len > SENDFILE_ABOVE => {
                let part = FilePart::new(file, from, len, delivery.clone(), file_access.threads.clone());
                BodySource::Part(Some(part), state.clone())
            }
            Body::File { file, from, len } => {
                BodySource::FileReader(FileReader::new(file, from, len, file_access.clone()))
            }
            Body::Growing(growing) => {
                let parts = FileParts::new(state, file_access, kernel);
                BodySource::Growing(Box::new(GrowingSource { growing, parts }))
            }
            Body::Live(live) => {
                delivery.set_live();
                BodySource::Live(live)
            }
            Body::Stream(stream) => {
                if stream.is_endless() {
                    delivery.set_endless();
                }
                delivery.set_source(stream.source());
                let parts = FileParts::new(state, file_access, kernel);
                BodySource::Stream(Box::new(Passing::new(stream, parts)))
            }
            Body::Tunnel(tunnel) => {
                delivery.set_endless();
                state.keep_tunnel(tunnel, delivery.clone());
                BodySource::Tunnel
            }
        };
        let body = Self { source, delivery };
        body.delivery.expect(body.left().unwrap_or(u64::MAX));
        body.note_end();
        body
    }

    /// Has the head of a reply without a body name this length.
    pub(crate) fn naming(mut self, len: Option<u64>) -> Self {
        if let (Some(len), BodySource::Whole(_)) = (len.filter(|_| self.is_ended()), &self.source) {
            self.source = BodySource::Bare(len);
        }
        self
    }

    pub(crate) fn delivery(&self) -> &Rc<Delivery> {
        &self.delivery
    }

    /// Whether [`OutgoingBody::whole`] has it.
    pub(crate) fn is_at_once(&self) -> bool {
        matches!(self.source, BodySource::Whole(_) | BodySource::Bare(_) | BodySource::Part(..))
    }

    /// All of it, if it is available at once: bytes in memory, or a file that the kernel sends.
    pub(crate) fn whole(&mut self) -> Option<Chunk> {
        let data = match &mut self.source {
            BodySource::Whole(bytes) => Data::Memory(std::mem::take(bytes)),
            BodySource::Bare(_) => Data::Memory(Bytes::new()),
            BodySource::Part(part, state) => Data::File(part.take().inspect(|part| state.show_file(part))?),
            _ => return None,
        };
        let piece = Chunk::new(data, self.delivery.clone());
        self.note_end();
        Some(piece)
    }

    /// The number of bytes that are still to be sent, where it is known by now.
    pub(crate) fn left(&self) -> Option<u64> {
        match &self.source {
            BodySource::Whole(bytes) => Some(bytes.len() as u64),
            BodySource::Rope(rope) => Some(rope.len()),
            BodySource::Part(part, _) => Some(part.as_ref().map_or(0, |part| part.left())),
            BodySource::FileReader(pieces) => Some(pieces.left()),
            BodySource::Growing(growing_source) => Some(growing_source.growing.left()? + growing_source.parts.left()),
            BodySource::Live(live) => live.len().map(|_| 0),
            BodySource::Stream(passing) => passing.left(),
            BodySource::Bare(_) | BodySource::Tunnel => Some(0),
        }
    }

    fn is_ended(&self) -> bool {
        self.left() == Some(0)
    }

    fn note_end(&self) {
        let learned = match &self.source {
            BodySource::Growing(growing_source) => growing_source.growing.len(),
            BodySource::Live(live) => live.len(),
            BodySource::Stream(passing) => passing.len(),
            BodySource::Tunnel => return,
            _ => None,
        };
        learned.into_iter().for_each(|len| self.delivery.expect(len));
        if self.is_ended() && self.delivery.progress.get() == Progress::Going {
            self.delivery.progress.set(Progress::Ended);
        }
    }
}

impl http_body::Body for OutgoingBody {
    type Data = Chunk;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Chunk>>>> {
        let body = self.get_mut();
        if body.is_ended() {
            body.note_end();
            return Poll::Ready(None);
        }
        let data = match &mut body.source {
            BodySource::Whole(bytes) => Ok(Data::Memory(std::mem::take(bytes))),
            BodySource::Rope(rope) => rope.next().map(Data::Memory).ok_or_else(|| io::ErrorKind::BrokenPipe.into()),
            BodySource::Part(part, state) => part
                .take()
                .inspect(|part| state.show_file(part))
                .map(Data::File)
                .ok_or_else(|| io::ErrorKind::BrokenPipe.into()),
            BodySource::FileReader(pieces) => {
                // One buffer for a reply: the next chunk waits until this one has been written.
                ready!(body.delivery.poll_gone(cx));
                ready!(pieces.poll_next(cx, &body.delivery)).map(Data::Memory)
            }
            BodySource::Growing(growing_source) => {
                ready!(body.delivery.poll_gone(cx));
                match ready!(growing_source.poll_next(cx, &body.delivery)) {
                    Some(data) => data,
                    None => {
                        body.note_end();
                        return Poll::Ready(None);
                    }
                }
            }
            BodySource::Live(live) => {
                // The next piece is taken when this one was written: what a slow client has not read waits in one place.
                ready!(body.delivery.poll_gone(cx));
                match ready!(body.delivery.polled(Op::BodyWait, live.poll_next(cx))) {
                    Some(piece) => Ok(Data::Memory(piece)),
                    None => {
                        body.note_end();
                        return Poll::Ready(None);
                    }
                }
            }
            BodySource::Stream(passing) => {
                ready!(body.delivery.poll_gone(cx));
                match ready!(passing.poll_next(cx, &body.delivery)).transpose() {
                    Ok(Some(Passed::Data(data))) => Ok(data),
                    Err(error) => Err(error),
                    Ok(end) => {
                        body.note_end();
                        let Some(Passed::Trailers(trailers)) = end else { return Poll::Ready(None) };
                        return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
                    }
                }
            }
            BodySource::Bare(_) | BodySource::Tunnel => return Poll::Ready(None),
        };
        match data {
            Ok(data) => {
                body.note_end();
                Poll::Ready(Some(Ok(Frame::data(Chunk::new(data, body.delivery.clone())))))
            }
            Err(error) => {
                if body.delivery.progress.get() == Progress::Going {
                    body.delivery.progress.set(Progress::Broken);
                }
                Poll::Ready(Some(Err(error)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_ended() && !matches!(self.source, BodySource::Bare(_))
    }

    fn size_hint(&self) -> SizeHint {
        let named = if let BodySource::Bare(len) = self.source { Some(len) } else { self.left() };
        named.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl GrowingSource {
    /// The next chunk, when it is there.
    fn poll_next(&mut self, cx: &mut Context<'_>, delivery: &Rc<Delivery>) -> Poll<Option<io::Result<Data>>> {
        loop {
            if let Some(rest) = self.parts.poll_rest(cx, delivery) {
                return rest.map(Some);
            }
            let (at, len) =
                match ready!(delivery.polled(Op::BodyWait, self.growing.poll_next(cx, sendfile::TURN as u64))) {
                    Some(Ok(part)) => part,
                    Some(Err(error)) => {
                        delivery.progress.set(Progress::BrokeOff);
                        return Poll::Ready(Some(Err(error)));
                    }
                    None => return Poll::Ready(None),
                };
            if let Some(data) = self.parts.begin(self.growing.file().clone(), at, len, delivery) {
                return Poll::Ready(Some(Ok(data)));
            }
        }
    }
}
