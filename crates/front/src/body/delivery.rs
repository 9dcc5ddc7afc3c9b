//! How far a reply's body has come: the one cell that it touches, and that the state reads.

use std::cell::Cell;
use std::task::{Context, Poll, Waker};
use telemetry::Tally;

/// How far a reply's body has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Progress {
    /// There may be more.
    #[default]
    Going,
    /// Everything was handed to hyper.
    Ended,
    /// We could not read on.
    Broken,
    /// It broke off where it comes from.
    BrokeOff,
}

/// The only thing a reply's body touches.
#[derive(Default)]
pub(crate) struct Delivery {
    pub(crate) progress: Cell<Progress>,
    /// Bytes of body that the wire has taken.
    pub(crate) bytes: Cell<u64>,
    /// Reads of a file for it.
    reads: Cell<Tally>,
    /// FileReader on their way, or on HTTP/2 a head without a body.
    held: Cell<u32>,
    /// What is on its way is such a head, which nobody drops when it has gone.
    bare: Cell<bool>,
    /// How long the body is.
    len: Cell<u64>,
    /// The body waits for it to go.
    waiting: Cell<Option<Waker>>,
}

impl Delivery {
    /// A file was read for so long.
    pub(crate) fn read(&self, nanos: u64) {
        let Tally { count, nanos: before } = self.reads.get();
        self.reads.set(Tally { count: count + 1, nanos: before + nanos });
    }

    /// A piece is on its way.
    pub(crate) fn hold(&self) {
        self.held.set(self.held.get() + 1);
    }

    /// The piece has gone.
    pub(crate) fn let_go(&self) {
        self.held.set(self.held.get() - 1);
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
    }

    /// On HTTP/2: the reply is a head that waits in the machine's queue.
    pub(crate) fn hold_head(&self) {
        self.bare.set(true);
        self.hold();
    }

    /// Reads of files so far.
    pub(crate) fn reads(&self) -> Tally {
        self.reads.get()
    }

    /// Whether something is on its way.
    pub(crate) fn is_held(&self) -> bool {
        self.held.get() > 0
    }

    /// Whether that is a head without a body, on HTTP/2.
    pub(crate) fn is_head(&self) -> bool {
        self.bare.get() && self.is_held()
    }

    /// How long the body is.
    pub(crate) fn expected(&self) -> u64 {
        self.len.get()
    }

    /// How long the body will be.
    pub(crate) fn expect(&self, len: u64) {
        self.len.set(len);
    }

    /// Everything was handed over, and nothing of it is on its way.
    pub(crate) fn gone(&self) -> bool {
        self.progress.get() == Progress::Ended && !self.is_held()
    }

    /// Waits until no piece is on its way.
    pub(crate) fn poll_gone(&self, cx: &Context<'_>) -> Poll<()> {
        if self.is_held() {
            self.waiting.set(Some(cx.waker().clone()));
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}
