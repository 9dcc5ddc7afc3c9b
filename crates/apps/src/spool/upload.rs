//! An upload, received as slowly as the client sends it, before a backend hears of the request.

use super::anonymous_file::{self, Reading};
use super::room::{Held, Spool};
use bytes::{Bytes, BytesMut};
use client::BodySource;
use front::{Upload, UploadError};
use http::HeaderMap;
use hyper::body::Frame;
use std::fs::File;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use telemetry::{Event, Op, Tick};

/// An upload up to this length stays in memory, and a longer one is written in pieces of at least this length.
const MEMORY: usize = 16 << 10;

/// An upload that has arrived completely.
#[derive(Debug, Clone)]
pub(crate) struct SpooledUpload(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    place: Place,
    len: u64,
    trailers: Option<HeaderMap>,
    /// Its room in the spool.
    _held: Held,
}

#[derive(Debug)]
enum Place {
    Memory(Bytes),
    File(Arc<File>),
}

/// An upload did not arrive, or there was no room for it.
#[derive(Debug)]
pub(crate) enum NotSpooled {
    /// It did not arrive.
    Upload(UploadError),
    /// The spool is full.
    Full,
    /// The spool cannot be written.
    Io(io::Error),
}

impl Spool {
    /// Receives an upload completely. `clean` removes the trailers that do not go on.
    pub(crate) async fn receive(
        &self,
        upload: &mut Upload,
        clean: fn(&mut HeaderMap),
        event: &mut Event,
    ) -> Result<SpooledUpload, NotSpooled> {
        let (mut memory, mut file, mut written, mut held) = (BytesMut::new(), None, 0_u64, self.held());
        if let Some(declared) = upload.declared().filter(|declared| *declared > MEMORY as u64) {
            if declared > self.bound().capacity() {
                return Err(NotSpooled::Upload(UploadError::TooLarge { limit: self.bound().capacity() }));
            }
            if !self.has_room(declared) {
                self.bound().reject();
                return Err(NotSpooled::Full);
            }
        }
        while let Some(piece) = upload.next(event).await {
            memory.extend_from_slice(&piece.map_err(NotSpooled::Upload)?);
            if memory.len() > MEMORY {
                let bytes = memory.split().freeze();
                let len = bytes.len() as u64;
                held.more(len).map_err(|_| NotSpooled::Full)?;
                file = Some(self.written(file, bytes, written, event).await?);
                written += len;
            }
        }
        let place = match file {
            None => Place::Memory(memory.freeze()),
            Some(file) if memory.is_empty() => Place::File(file),
            Some(file) => {
                held.more(memory.len() as u64).map_err(|_| NotSpooled::Full)?;
                let (rest, at) = (memory.freeze(), written);
                written += rest.len() as u64;
                Place::File(self.written(Some(file), rest, at, event).await?)
            }
        };
        let len = if let Place::Memory(bytes) = &place { bytes.len() as u64 } else { written };
        let mut trailers = upload.trailers();
        trailers.iter_mut().for_each(clean);
        let trailers = trailers.filter(|trailers| !trailers.is_empty());
        Ok(SpooledUpload(Arc::new(Kept { place, len, trailers, _held: held })))
    }

    async fn written(
        &self,
        file: Option<Arc<File>>,
        bytes: Bytes,
        at: u64,
        event: &mut Event,
    ) -> Result<Arc<File>, NotSpooled> {
        // On the line of the request it is part of the time in which the upload arrives.
        let writing = event.running(Op::BodyReceive);
        let written = anonymous_file::write(&self.folder, file, bytes, at).await;
        let nanos = writing.end();
        event.add(Op::SpoolWrite, nanos);
        written.map_err(NotSpooled::Io)
    }
}

impl SpooledUpload {
    /// All of it, if it is in memory and has no trailers.
    pub(crate) fn bytes(&self) -> Option<Bytes> {
        match &self.0.place {
            Place::Memory(bytes) if self.0.trailers.is_none() => Some(bytes.clone()),
            _ => None,
        }
    }

    /// Reads it from its beginning. `progress` has the time of the last piece.
    pub(crate) fn reader(&self, progress: Arc<AtomicU64>) -> UploadReader {
        UploadReader { kept: self.0.clone(), at: 0, reading: None, ended: false, progress }
    }
}

/// Reads an upload for a backend.
#[derive(Debug)]
pub(crate) struct UploadReader {
    kept: Arc<Kept>,
    at: u64,
    reading: Option<Reading>,
    ended: bool,
    progress: Arc<AtomicU64>,
}

impl UploadReader {
    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        let file = match &self.kept.place {
            Place::Memory(bytes) => return Poll::Ready(Ok(bytes.clone())),
            Place::File(file) => file,
        };
        if self.reading.is_none() {
            match anonymous_file::read(file, self.at, self.kept.len - self.at) {
                Ok(read) => return Poll::Ready(read),
                Err(reading) => self.reading = Some(reading),
            }
        }
        let Some(reading) = &mut self.reading else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        let read = ready!(Pin::new(reading).poll(cx));
        self.reading = None;
        Poll::Ready(read.map_err(io::Error::other).flatten())
    }
}

impl BodySource for UploadReader {
    fn len(&self) -> Option<u64> {
        self.kept.trailers.is_none().then_some(self.kept.len - self.at)
    }

    fn trailers(&self) -> Option<&HeaderMap> {
        self.kept.trailers.as_ref()
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.progress.store(Tick::now().0, Relaxed);
        if self.at < self.kept.len {
            let bytes = ready!(self.poll_bytes(cx));
            self.at += bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
            return Poll::Ready(Some(bytes.map(Frame::data)));
        }
        if std::mem::replace(&mut self.ended, true) {
            return Poll::Ready(None);
        }
        Poll::Ready(self.kept.trailers.clone().map(|trailers| Ok(Frame::trailers(trailers))))
    }
}
