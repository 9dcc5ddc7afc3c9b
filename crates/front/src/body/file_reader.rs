//! Reads a part of a file in chunks of one buffer. The core reads bytes that the kernel has in memory; another thread
//! reads all others.

use crate::body::buffer_pool::{Buffer, BufferPool};
use crate::body::delivery::Delivery;
use crate::body::file_threads::FileThreads;
use crate::body::kernel_cache::{read_ahead, read_now};
use bytes::Bytes;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use telemetry::{Op, Tick};
use tokio::task::JoinHandle;

/// How much is read ahead when a read must wait for a disk anyway.
const AHEAD: u64 = 1 << 20;

/// The part of a file that is still to be read.
pub(crate) struct FileReader {
    file: Arc<File>,
    at: u64,
    left: u64,
    /// A thread reads the next chunk.
    reading: Option<JoinHandle<Read>>,
    file_access: FileAccess,
}

/// What replies need to read or send files.
#[derive(Debug, Clone)]
pub(crate) struct FileAccess {
    pub(crate) buffers: Arc<BufferPool>,
    /// Threads that may wait for a disk.
    pub(crate) threads: Arc<FileThreads>,
    /// Whether the kernel may send files.
    pub(crate) sendfile: bool,
}

/// The result of a read, and how long it took in nanoseconds.
type Read = (io::Result<Buffer>, u64);

impl FileReader {
    pub(crate) fn new(file: Arc<File>, from: u64, len: u64, file_access: FileAccess) -> Self {
        Self { file, at: from, left: len, reading: None, file_access }
    }

    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>, delivery: &Delivery) -> Poll<io::Result<Bytes>> {
        if self.reading.is_none() {
            let (mut buffer, began) = (self.file_access.buffers.take(), Tick::now());
            if let Some(read) = read_now(&self.file, buffer.room(self.left), self.at) {
                delivery.read(Tick::now().since(began));
                return Poll::Ready(read.and_then(|read| filled(buffer, read)).map(|buffer| self.hand_out(buffer)));
            }
            self.reading = Some(self.read(buffer, began));
        }
        let Some(thread) = &mut self.reading else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        let (read, nanos) =
            ready!(delivery.polled(Op::BodyRead, Pin::new(thread).poll(cx))).map_err(io::Error::other)?;
        self.reading = None;
        delivery.read(nanos);
        Poll::Ready(read.map(|buffer| self.hand_out(buffer)))
    }

    fn read(&self, mut buffer: Buffer, asked: Tick) -> JoinHandle<Read> {
        let (file, threads, at, left) = (self.file.clone(), self.file_access.threads.clone(), self.at, self.left);
        tokio::task::spawn_blocking(move || {
            let began = Tick::now();
            let _thread = threads.begin(asked, began);
            let read = read_ahead(&file, at, at + left.min(AHEAD)).and_then(|()| file.read_at(buffer.room(left), at));
            (read.and_then(|read| filled(buffer, read)), Tick::now().since(began))
        })
    }

    fn hand_out(&mut self, buffer: Buffer) -> Bytes {
        let len = buffer.as_ref().len() as u64;
        self.at += len;
        self.left -= len;
        Bytes::from_owner(buffer)
    }
}

/// If the file ends before the part does, that is an error.
fn filled(mut buffer: Buffer, len: usize) -> io::Result<Buffer> {
    if len == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    buffer.fill(len);
    Ok(buffer)
}
