//! A listener: its filter, its bounded queue of messages, and how far it has read.

use super::Tail;
use super::line::Line;
use super::message::{self, Counts};
use super::throttle::Throttle;
use crate::ask::Filter;
use crate::row::Row;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use telemetry::{Slot, lock};

/// The messages that wait for a listener.
#[derive(Debug)]
pub(super) struct Queue {
    filter: Filter,
    /// It gets no sample.
    all: bool,
    caller: u64,
    waits: Mutex<Waits>,
    /// The length of all pieces.
    bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Waits {
    /// The messages that wait, in pieces: a body that is sent holds a whole piece, and one vector of all would take twice its length.
    pieces: VecDeque<Vec<u8>>,
    throttle: Throttle,
    counts: Counts,
    /// The lost events of which the listener was told.
    told_lost: u64,
    waker: Option<Waker>,
    closed: bool,
}

impl Queue {
    pub(super) fn new(filter: Filter, all: bool, caller: u64) -> Self {
        let pieces = VecDeque::from([message::start()]);
        let bytes = AtomicU64::new(pieces[0].len() as u64);
        Self { filter, all, caller, waits: Mutex::new(Waits { pieces, ..Waits::default() }), bytes }
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
        let mut waits = lock(&self.waits);
        let Waits { pieces, throttle, counts, .. } = &mut *waits;
        counts.matched += 1;
        let waiting = self.bytes();
        let weight = if self.all { 1 } else { throttle.weigh(row.event.at) };
        if weight == 0 {
            if throttle.begins_to_sample() && waiting + message::COUNTS_MAX <= Tail::QUEUE_BYTES {
                let piece = with_room(pieces, message::COUNTS_MAX as usize);
                let before = piece.len();
                message::counts(piece, "sampled", counts);
                self.bytes.store(waiting + (piece.len() - before) as u64, Relaxed);
            }
            return 0;
        }
        let more = line.text().len() + message::EVENT_MORE;
        if waiting + more as u64 > Tail::QUEUE_BYTES {
            counts.lost += 1;
            return 1;
        }
        let piece = with_room(pieces, more);
        let before = piece.len();
        message::event(piece, line.text(), weight);
        counts.sent += 1;
        self.bytes.store(waiting + (piece.len() - before) as u64, Relaxed);
        0
    }

    /// Has the listener read, if anything waits for it.
    pub(super) fn wake(&self) {
        let mut waits = lock(&self.waits);
        if !waits.pieces.is_empty() || waits.closed {
            let waker = waits.waker.take();
            drop(waits);
            waker.into_iter().for_each(Waker::wake);
        }
    }

    /// Nothing more will come.
    pub(super) fn close(&self) {
        lock(&self.waits).closed = true;
        self.wake();
    }
}

/// The last piece, or a new one if so many bytes more are too many for it.
fn with_room(pieces: &mut VecDeque<Vec<u8>>, more: usize) -> &mut Vec<u8> {
    if pieces.back().is_none_or(|last| last.len() + more > Tail::PIECE_BYTES) {
        // A piece grows if only a few events wait, and the first of many has made room for the others.
        let room = if pieces.is_empty() { more } else { more.max(Tail::PIECE_BYTES) };
        pieces.push_back(Vec::with_capacity(room));
    }
    let last = pieces.len() - 1;
    &mut pieces[last]
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

    /// The next messages that wait, when there are any: at most [`Tail::PIECE_BYTES`] and a few hundred bytes, or one longer message. `None`:
    /// the server stops, and the last messages said so.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let mut waits = lock(&self.queue.waits);
        let mut messages = waits.pieces.pop_front().unwrap_or_default();
        self.queue.bytes.fetch_sub(messages.len() as u64, Relaxed);
        // Behind all that waits.
        if waits.pieces.is_empty() {
            if waits.counts.lost > waits.told_lost {
                waits.told_lost = waits.counts.lost;
                message::counts(&mut messages, "lost", &waits.counts);
            }
            if waits.closed {
                self.ended = true;
                message::counts(&mut messages, "end", &waits.counts);
            }
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
