//! What is under way on one connection, and the one place where the events of its exchanges end.
//!
//! hyper drops a reply's body when its last frame is *buffered*, before anything is written, so the body's end tells
//! nothing. The body only marks its [`Sent`] cell; the event waits here until the first completed flush after
//! that, or until the connection is gone.

use crate::Limits;
use crate::file_part::FilePart;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use telemetry::{Event, Op, Outcome, Reason, Recorder, Tally, Tick};

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
}

/// The only thing a reply's body touches.
#[derive(Default)]
pub(crate) struct Sent {
    pub(crate) progress: Cell<Progress>,
    /// Bytes of body that the wire has taken.
    pub(crate) bytes: Cell<u64>,
    /// Reads of a file for it.
    reads: Cell<Tally>,
    /// hyper holds a piece.
    held: Cell<bool>,
    /// The body waits for it to go.
    waiting: Cell<Option<Waker>>,
}

impl Sent {
    /// A file was read for so long.
    pub(crate) fn read(&self, nanos: u64) {
        let Tally { count, nanos: before } = self.reads.get();
        self.reads.set(Tally { count: count + 1, nanos: before + nanos });
    }

    /// A piece is on its way.
    pub(crate) fn hold(&self) {
        self.held.set(true);
    }

    /// The piece has gone.
    pub(crate) fn let_go(&self) {
        self.held.set(false);
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
    }

    /// Waits until no piece is on its way.
    pub(crate) fn poll_gone(&self, cx: &Context<'_>) -> Poll<()> {
        if self.held.get() {
            self.waiting.set(Some(cx.waker().clone()));
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

/// A reply on its way out.
struct Leaving {
    event: Box<Event>,
    sent: Rc<Sent>,
    first_byte: Option<Tick>,
}

/// One connection's state, shared by its wire, its exchanges and the watch over its deadlines. One thread only.
pub(crate) struct Ledger {
    recorder: Arc<Recorder>,
    leaving: RefCell<VecDeque<Leaving>>,
    /// Parts of files that hyper shows stand-ins for, in the order in which it was given them.
    parts: RefCell<VecDeque<Weak<FilePart>>>,
    /// Requests whose handler works.
    working: Cell<u32>,
    /// A body that nobody wanted is being thrown away.
    pub(crate) draining: Cell<bool>,
    /// First byte of a head that is not complete.
    head_since: Cell<Option<Tick>>,
    /// Since when nothing is under way.
    quiet_since: Cell<Tick>,
    /// Whether any request was read.
    greeted: Cell<bool>,
    /// Since when the client has taken nothing of what waits for it.
    stalled_since: Cell<Option<Tick>>,
    /// How long the TLS handshake took, until the first request has noted it.
    pub(crate) handshake: Cell<Option<u64>>,
    /// The server stops: since when, and how long an idle connection may stay.
    parting: Cell<Option<(Tick, Duration)>>,
    /// The client may still be sending what we will not read.
    pub(crate) unread: Cell<bool>,
}

impl Ledger {
    pub(crate) fn new(recorder: Arc<Recorder>) -> Rc<Self> {
        Rc::new(Self {
            recorder,
            leaving: RefCell::default(),
            parts: RefCell::default(),
            working: Cell::new(0),
            draining: Cell::new(false),
            head_since: Cell::new(None),
            quiet_since: Cell::new(Tick::now()),
            greeted: Cell::new(false),
            stalled_since: Cell::new(None),
            handshake: Cell::new(None),
            parting: Cell::new(None),
            unread: Cell::new(false),
        })
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The server stops. What is under way is finished, and the connection ends with it, or when it was idle for `farewell`.
    pub(crate) fn part(&self, farewell: Duration) {
        self.parting.set(Some((Tick::now(), farewell)));
    }

    /// Whether the connection ends with the reply to the request under way.
    pub(crate) fn parting(&self) -> bool {
        self.parting.get().is_some()
    }

    /// Nobody works and nothing leaves.
    fn quiet(&self) -> bool {
        self.working.get() == 0 && self.leaving.borrow().is_empty()
    }

    /// Bytes came from the client.
    pub(crate) fn arrived(&self) {
        if self.head_since.get().is_none() && self.quiet() && !self.draining.get() {
            self.head_since.set(Some(Tick::now()));
        }
    }

    /// A head is complete. Returns when its first byte was there; a pipelined request's came with an earlier one's.
    pub(crate) fn begin(&self) -> Tick {
        self.working.set(self.working.get() + 1);
        self.greeted.set(true);
        self.head_since.take().unwrap_or_else(Tick::now)
    }

    /// The head that is under way and will never be complete.
    pub(crate) fn abandoned_head(&self) -> Option<Tick> {
        self.head_since.take()
    }

    /// The handler has answered: the event waits for the reply to leave.
    pub(crate) fn leave(&self, event: Box<Event>) -> Rc<Sent> {
        self.working.set(self.working.get() - 1);
        let sent = Rc::new(Sent::default());
        self.leaving.borrow_mut().push_back(Leaving { event, sent: sent.clone(), first_byte: None });
        sent
    }

    /// The request was given up before there was a reply.
    pub(crate) fn give_up(&self, mut event: Box<Event>) {
        self.working.set(self.working.get() - 1);
        event.outcome = Some(Outcome::ClientGone);
        event.duration = Tick::now().since(event.began);
        self.recorder.release(event);
    }

    /// hyper is given a stand-in for this part.
    pub(crate) fn show(&self, part: &Rc<FilePart>) {
        self.parts.borrow_mut().push_back(Rc::downgrade(part));
    }

    /// The part that the first stand-in hyper still shows is for.
    pub(crate) fn shown(&self) -> Option<Rc<FilePart>> {
        let mut parts = self.parts.borrow_mut();
        loop {
            match parts.front()?.upgrade() {
                Some(part) if part.left() > 0 => return Some(part),
                _ => parts.pop_front(),
            };
        }
    }

    /// The kernel took bytes.
    pub(crate) fn wrote(&self) {
        self.stalled_since.set(None);
        let mut leaving = self.leaving.borrow_mut();
        if leaving.iter().any(|one| one.first_byte.is_none()) {
            let now = Tick::now();
            for one in leaving.iter_mut().filter(|one| one.first_byte.is_none()) {
                one.first_byte = Some(now);
            }
        }
    }

    /// The kernel takes nothing more for now.
    pub(crate) fn stalled(&self) {
        if self.stalled_since.get().is_none() {
            self.stalled_since.set(Some(Tick::now()));
        }
    }

    /// Everything that was written is with the kernel: what had ended has left.
    pub(crate) fn flushed(&self) {
        self.stalled_since.set(None);
        loop {
            // Not held while the event is released.
            let one = match self.leaving.borrow_mut() {
                mut leaving if leaving.front().is_some_and(|one| one.sent.progress.get() == Progress::Ended) => {
                    leaving.pop_front()
                }
                _ => None,
            };
            let Some(one) = one else { return };
            let now = Tick::now();
            self.release(one, now, true);
            self.quiet_since.set(now);
        }
    }

    /// The connection has ended, and for its client whatever has not left never will.
    pub(crate) fn close(&self) {
        let now = Tick::now();
        for one in self.leaving.take() {
            self.release(one, now, false);
        }
    }

    fn release(&self, one: Leaving, now: Tick, complete: bool) {
        let Leaving { mut event, sent, first_byte } = one;
        event.duration = now.since(event.began);
        event.bytes_out = sent.bytes.get();
        event.add_all(Op::BlobRead, sent.reads.get());
        if let Some(first_byte) = first_byte {
            event.first_byte = first_byte.since(event.began);
            event.add(Op::BodySend, now.since(first_byte));
        }
        if sent.progress.get() == Progress::Broken {
            event.outcome = Some(Outcome::Failed);
            event.reason = Some(Reason::Io);
        } else if !complete {
            event.outcome = Some(Outcome::ClientGone);
        }
        self.recorder.release(event);
    }

    /// Nanoseconds until the connection must close if nothing happens until then; `None` while that is somebody
    /// else's to watch (the handler's, or the upload's own limit).
    pub(crate) fn patience(&self, limits: &Limits) -> Option<u64> {
        let (since, limit) = if let Some(since) = self.stalled_since.get() {
            (since, limits.write_stall)
        } else if !self.quiet() {
            return None;
        } else if let Some(since) = self.head_since.get() {
            (since, limits.head_time)
        } else if let Some((since, farewell)) = self.parting.get() {
            (since.max(self.quiet_since.get()), farewell)
        } else if self.greeted.get() {
            (self.quiet_since.get(), limits.keep_alive)
        } else {
            (self.quiet_since.get(), limits.head_time)
        };
        Some(nanos(limit).saturating_sub(Tick::now().since(since)))
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.close();
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
