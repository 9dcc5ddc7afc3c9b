//! The bytes of a response between its backend and its client. They wait in memory, up to a limit, and the rest in anonymous files.

mod copy;
mod reader;
mod writer;

pub(crate) use copy::Copying;
pub(crate) use reader::QueueReader;

use super::room::Held;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use telemetry::{Event, MemberSaid, Outcome, Reason, Tally, Tick};

/// The most bytes that wait in memory, unless it is one piece of a connection's buffer.
const MEMORY: usize = 32 << 10;
/// The bytes of one file. When they have been sent, the file is closed, which frees its disk space.
const FILE: u64 = 1 << 20;

/// A response broke off.
#[derive(Debug, Clone)]
pub(crate) struct Broken {
    /// Why, for the event.
    pub(crate) reason: Reason,
    /// For operators.
    pub(crate) detail: String,
}

impl Broken {
    /// Records it in the event of the request, whose last member is the backend.
    pub(crate) fn record(&self, event: &mut Event) {
        if let Some(backend) = event.members.last_mut() {
            (backend.said, backend.reason) = (MemberSaid::Failed, Some(self.reason));
        }
        (event.outcome, event.reason) = (Some(Outcome::Failed), Some(self.reason));
        event.detail.clone_from(&self.detail);
    }
}

/// The writing end. Its clones are the same queue.
#[derive(Clone)]
pub(crate) struct Queue(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    memory: VecDeque<Bytes>,
    memory_bytes: usize,
    files: VecDeque<Segment>,
    /// The last part that was handed out is of this file.
    sending: Option<Segment>,
    end: Option<Result<Option<HeaderMap>, Broken>>,
    has_reader: bool,
    /// The reader begins when the whole body has come, so there must be room for all of it.
    held_back: bool,
    copy: Option<copy::Copy>,
    reader: Option<Waker>,
    writer: Option<Waker>,
    copier: Option<Waker>,
    /// When the head of the response had come, and how long the backend took for the body, in nanoseconds, once it has ended.
    began: Tick,
    body_nanos: Option<u64>,
    writes: Tally,
}

/// A file of the queue: the bytes from `read` to `written` wait.
struct Segment {
    file: Arc<File>,
    read: u64,
    written: u64,
    held: Held,
}

impl Queue {
    /// A queue for the body of a response whose head came at `began`.
    pub(crate) fn since(began: Tick) -> Self {
        Self(Rc::new(RefCell::new(State { began, ..State::default() })))
    }
}

impl State {
    fn in_files(&self) -> bool {
        self.files.iter().any(|segment| segment.read < segment.written)
    }

    /// Copies the bytes in memory into one piece of their length: slices of the buffers of a connection keep all of these buffers.
    fn compact(&mut self) {
        let mut all = BytesMut::with_capacity(self.memory_bytes);
        self.memory.drain(..).for_each(|bytes| all.extend_from_slice(&bytes));
        if !all.is_empty() {
            self.memory.push_back(all.freeze());
        }
    }

    fn wake(&mut self, which: fn(&mut Self) -> &mut Option<Waker>) {
        if let Some(waker) = which(self).take() {
            waker.wake();
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
