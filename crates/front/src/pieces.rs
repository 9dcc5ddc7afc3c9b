//! A part of a file in pieces of one buffer each: read at once if it is in the kernel's memory, else off the core.

use crate::buffers::{Buffer, Buffers};
use crate::in_memory::{read_ahead, read_now};
use crate::ledger::Sent;
use bytes::Bytes;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use telemetry::{Bound, Tick};
use tokio::task::JoinHandle;

/// Brought into memory when a disk has to be waited for anyway.
const AHEAD: u64 = 1 << 20;

/// What of the part has not been handed out yet.
pub(crate) struct Pieces {
    file: Arc<File>,
    at: u64,
    left: u64,
    step: Step,
    means: Means,
}

/// What the files of all replies are read or sent with.
#[derive(Debug, Clone)]
pub(crate) struct Means {
    pub(crate) buffers: Arc<Buffers>,
    /// Threads that may wait for a disk.
    pub(crate) threads: Arc<Bound>,
    /// Whether the kernel may send files.
    pub(crate) sendfile: bool,
}

enum Step {
    /// Nothing is under way.
    Begin,
    /// No buffer is left.
    Waiting(Pin<Box<dyn Future<Output = Option<Buffer>>>>),
    /// A thread reads.
    Reading(JoinHandle<(io::Result<Buffer>, u64)>),
}

impl Pieces {
    pub(crate) fn new(file: File, from: u64, len: u64, means: Means) -> Self {
        Self { file: Arc::new(file), at: from, left: len, step: Step::Begin, means }
    }

    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>, sent: &Sent) -> Poll<io::Result<Bytes>> {
        loop {
            match &mut self.step {
                Step::Begin => match self.means.buffers.take_now() {
                    Some(buffer) => {
                        if let Some(read) = self.read(buffer, sent) {
                            return Poll::Ready(read.map(|buffer| self.hand_out(buffer)));
                        }
                    }
                    None => self.step = Step::Waiting(Box::pin(self.means.buffers.clone().take())),
                },
                Step::Waiting(turn) => {
                    let buffer = ready!(turn.as_mut().poll(cx)).ok_or(io::ErrorKind::BrokenPipe)?;
                    self.step = Step::Begin;
                    if let Some(read) = self.read(buffer, sent) {
                        return Poll::Ready(read.map(|buffer| self.hand_out(buffer)));
                    }
                }
                Step::Reading(thread) => {
                    let (read, nanos) = ready!(Pin::new(thread).poll(cx)).map_err(io::Error::other)?;
                    self.step = Step::Begin;
                    sent.read(nanos);
                    return Poll::Ready(read.map(|buffer| self.hand_out(buffer)));
                }
            }
        }
    }

    /// Reads the next piece at once, or has a thread begin with it.
    fn read(&mut self, mut buffer: Buffer, sent: &Sent) -> Option<io::Result<Buffer>> {
        let (at, left, began) = (self.at, self.left, Tick::now());
        if let Some(read) = read_now(&self.file, buffer.room(left), at) {
            sent.read(Tick::now().since(began));
            return Some(read.and_then(|read| filled(buffer, read)));
        }
        let (file, threads) = (self.file.clone(), self.means.threads.clone());
        self.step = Step::Reading(tokio::task::spawn_blocking(move || {
            let asked = began;
            let began = Tick::now();
            threads.waited(began.since(asked));
            let _thread = threads.enter();
            let read = read_ahead(&file, at, at + left.min(AHEAD)).and_then(|()| file.read_at(buffer.room(left), at));
            (read.and_then(|read| filled(buffer, read)), Tick::now().since(began))
        }));
        None
    }

    fn hand_out(&mut self, buffer: Buffer) -> Bytes {
        let len = buffer.as_ref().len() as u64;
        self.at += len;
        self.left -= len;
        Bytes::from_owner(buffer)
    }
}

/// The file's end before the part's is an error.
fn filled(mut buffer: Buffer, len: usize) -> io::Result<Buffer> {
    if len == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    buffer.fill(len);
    Ok(buffer)
}
