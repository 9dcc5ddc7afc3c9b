//! A listener: its filter, its bounded queue of messages, and how far it has read.

use super::Tail;
use super::line::Line;
use super::message::{self, Counts};
use super::pace::Pace;
use crate::ask::Filter;
use crate::row::Row;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use telemetry::Slot;

/// The messages that wait for a listener.
#[derive(Debug)]
pub(super) struct Queue {
    filter: Filter,
    /// It gets no sample.
    all: bool,
    caller: u64,
    waits: Mutex<Waits>,
    /// The length of `Waits::messages`.
    bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Waits {
    messages: Vec<u8>,
    pace: Pace,
    counts: Counts,
    /// The lost events of which the listener was told.
    told_lost: u64,
    waker: Option<Waker>,
    closed: bool,
}

impl Queue {
    pub(super) fn new(filter: Filter, all: bool, caller: u64) -> Self {
        let messages = message::start();
        let bytes = AtomicU64::new(messages.len() as u64);
        Self { filter, all, caller, waits: Mutex::new(Waits { messages, ..Waits::default() }), bytes }
    }

    /// The number of the caller that listens.
    pub(super) fn caller(&self) -> u64 {
        self.caller
    }

    /// The bytes that wait.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Queues the event if the filter chooses it, unless it is left out of a sample. Returns how many events were lost, 0 or 1.
    pub(super) fn offer(&self, row: &Row<'_>, line: &mut Line<'_, '_>) -> u64 {
        if !self.filter.holds(row) {
            return 0;
        }
        let mut waits = self.lock();
        let Waits { messages, pace, counts, .. } = &mut *waits;
        counts.matched += 1;
        let weight = if self.all { 1 } else { pace.weigh(row.event.at) };
        if weight == 0 {
            if pace.begins_to_sample() && messages.len() as u64 + message::COUNTS_MAX <= Tail::QUEUE_BYTES {
                message::counts(messages, "sampled", counts);
            }
        } else if messages.len() + line.len() + message::EVENT_MORE > Tail::QUEUE_BYTES as usize {
            counts.lost += 1;
            return 1;
        } else {
            message::event(messages, line.text(), weight);
            counts.sent += 1;
        }
        self.bytes.store(messages.len() as u64, Relaxed);
        0
    }

    /// Has the listener read, if anything waits for it.
    pub(super) fn wake(&self) {
        let mut waits = self.lock();
        if !waits.messages.is_empty() || waits.closed {
            let waker = waits.waker.take();
            drop(waits);
            waker.into_iter().for_each(Waker::wake);
        }
    }

    /// Nothing more will come.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.wake();
    }

    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A listener. Dropping it ends it.
#[derive(Debug)]
pub struct Listener {
    tail: Arc<Tail>,
    queue: Arc<Queue>,
    ended: bool,
    _place: Slot,
}

impl Listener {
    pub(super) fn new(tail: Arc<Tail>, queue: Arc<Queue>, place: Slot) -> Self {
        Self { tail, queue, ended: false, _place: place }
    }

    /// The messages that wait, when there are any: at most [`Tail::QUEUE_BYTES`] and a few hundred bytes. `None`: the server stops, and the
    /// last messages said so.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let mut waits = self.queue.lock();
        let mut messages = std::mem::take(&mut waits.messages);
        self.queue.bytes.store(0, Relaxed);
        if waits.counts.lost > waits.told_lost {
            waits.told_lost = waits.counts.lost;
            message::counts(&mut messages, "lost", &waits.counts);
        }
        if waits.closed {
            self.ended = true;
            message::counts(&mut messages, "end", &waits.counts);
        }
        if messages.is_empty() {
            waits.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        drop(waits);
        self.tail.measure();
        Poll::Ready(Some(messages))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.tail.leave(&self.queue);
    }
}
