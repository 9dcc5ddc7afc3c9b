//! How far the delivery of a reply's body has come. The body writes it, and the state of the connection reads it.

use crate::body::stream::SharedSource;
use std::cell::Cell;
use std::task::{Context, Poll, Waker};
use telemetry::{Event, Op, Tally, Tick};

/// The progress of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Progress {
    /// More may follow.
    #[default]
    Going,
    /// hyper has the whole body.
    Ended,
    /// Reading it failed.
    Broken,
    /// The source of the body broke off.
    BrokeOff,
}

/// What a body in memory has not: reads of a file, or another source, which waits, lasts, or has a last word.
#[derive(Default)]
pub(crate) struct Sourced {
    /// Since when the body waits for its source, and the waits before.
    since: Option<Tick>,
    waits: Tally,
    /// Reads of files for this body.
    reads: Tally,
    /// Its pieces are sent as they come, and a stop ends it.
    live: bool,
    /// It lasts as long as the two ends like.
    pub(crate) endless: bool,
    /// Bytes that a tunnel read from the client.
    tunnelled: u64,
    source: Option<SharedSource>,
}

impl Sourced {
    fn end_wait(&mut self) {
        if let Some(since) = self.since.take() {
            let Tally { count, nanos, .. } = self.waits;
            self.waits = Tally { count: count + 1, vain: 0, nanos: nanos + Tick::now().since(since) };
        }
    }

    /// Has the source record how it went.
    pub(crate) fn conclude(&self, event: &mut Event) {
        if let Some(mut source) = self.source.as_ref().and_then(|source| source.try_borrow_mut().ok()) {
            source.record(event);
        }
    }
}

/// The delivery of one body. Each reply has one, so it is small: 64 bytes with its counts of references.
#[derive(Default)]
pub(crate) struct Delivery {
    pub(crate) progress: Cell<Progress>,
    /// Bytes of the body that the socket has written.
    pub(crate) bytes: Cell<u64>,
    /// Chunks that are not written yet; on HTTP/2 also a head without a body.
    held: Cell<u32>,
    /// A head without a body is not written yet. h2 drops nothing once it is written, so the flag is needed.
    bare: Cell<bool>,
    /// The body waits for its source.
    source_wait: Cell<Option<Op>>,
    /// `None` for most bodies.
    sourced: Cell<Option<Box<Sourced>>>,
    /// The length of the body.
    len: Cell<u64>,
    /// Wakes the body when its chunk has been written.
    waiting: Cell<Option<Waker>>,
}

impl Delivery {
    /// Counts a read of a file and its time.
    pub(crate) fn read(&self, nanos: u64) {
        self.source(|sourced| {
            let Tally { count, nanos: before, .. } = sourced.reads;
            sourced.reads = Tally { count: count + 1, vain: 0, nanos: before + nanos };
        });
    }

    /// The source of the body was polled with this result. `op`: the wait for it.
    pub(crate) fn polled<T>(&self, op: Op, poll: Poll<T>) -> Poll<T> {
        self.source_wait.set(poll.is_pending().then_some(op));
        if op == Op::BodyWait {
            self.note_wait(poll.is_pending());
        }
        poll
    }

    /// A wait for the source begins or goes on (`waits`), or ends.
    fn note_wait(&self, waits: bool) {
        let mut sourced = self.sourced.take();
        if waits {
            sourced.get_or_insert_default().since.get_or_insert_with(Tick::now);
        } else if let Some(sourced) = &mut sourced {
            sourced.end_wait();
        }
        self.sourced.set(sourced);
    }

    fn source(&self, change: impl FnOnce(&mut Sourced)) {
        let mut sourced = self.sourced.take();
        change(sourced.get_or_insert_default());
        self.sourced.set(sourced);
    }

    /// The source has the last word about the event.
    pub(crate) fn set_source(&self, source: SharedSource) {
        self.source(|sourced| sourced.source = Some(source));
    }

    /// A tunnel has read bytes from the client.
    pub(crate) fn tunnelled(&self, len: usize) {
        self.source(|sourced| sourced.tunnelled += len as u64);
    }

    /// Adds what ran while the body was sent. Returns what a body in memory has not.
    pub(crate) fn record(&self, event: &mut Event) -> Option<Box<Sourced>> {
        let mut sourced = self.sourced.take()?;
        sourced.end_wait();
        event.add_all(Op::BodyRead, sourced.reads);
        event.add_all(Op::BodyWait, sourced.waits);
        event.bytes_in += sourced.tunnelled;
        Some(sourced)
    }

    /// The wait for the source of the body, if the body waits for it.
    pub(crate) fn source_wait(&self) -> Option<Op> {
        self.source_wait.get()
    }

    /// A chunk was passed to hyper or h2.
    pub(crate) fn hold(&self) {
        self.held.set(self.held.get() + 1);
    }

    /// A chunk has been written, or dropped.
    pub(crate) fn let_go(&self) {
        self.held.set(self.held.get() - 1);
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
    }

    /// HTTP/2: the reply is only a head, or ends with trailers, which wait in the queue of h2.
    pub(crate) fn hold_head(&self) {
        self.bare.set(true);
        self.hold();
    }

    /// Whether anything is not written yet.
    pub(crate) fn is_held(&self) -> bool {
        self.held.get() > 0
    }

    /// HTTP/2: whether that is a head without a body.
    pub(crate) fn is_head(&self) -> bool {
        self.bare.get() && self.is_held()
    }

    /// The length of the body.
    pub(crate) fn expected(&self) -> u64 {
        self.len.get()
    }

    /// Sets the length of the body.
    pub(crate) fn expect(&self, len: u64) {
        self.len.set(len);
    }

    /// Whether everything was passed on and written.
    pub(crate) fn gone(&self) -> bool {
        self.progress.get() == Progress::Ended && !self.is_held()
    }

    /// The pieces of the body are sent as they come.
    pub(crate) fn set_live(&self) {
        self.source(|sourced| (sourced.live, sourced.endless) = (true, true));
    }

    /// It lasts as long as the two ends like.
    pub(crate) fn set_endless(&self) {
        self.source(|sourced| sourced.endless = true);
    }

    /// Whether its pieces are sent as they come.
    pub(crate) fn is_live(&self) -> bool {
        let sourced = self.sourced.take();
        let is_live = sourced.as_ref().is_some_and(|sourced| sourced.live);
        self.sourced.set(sourced);
        is_live
    }

    /// Waits until every chunk has been written.
    pub(crate) fn poll_gone(&self, cx: &Context<'_>) -> Poll<()> {
        if self.is_held() {
            self.waiting.set(Some(cx.waker().clone()));
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::size_of;

    /// The allocator has such blocks at hand, and looks for any other size.
    #[test]
    fn a_delivery_takes_64_bytes_with_its_counts() {
        assert_eq!(size_of::<Delivery>() + 2 * size_of::<usize>(), 64);
    }
}
