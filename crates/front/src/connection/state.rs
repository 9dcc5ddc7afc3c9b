//! What is under way on one connection, and the one place where the events of its exchanges end.
//!
//! hyper drops a reply's body when its last frame is *buffered*, before anything is written, so the body's end tells
//! nothing. The body only marks its [`Delivery`] cell; the event waits here until the first completed flush after
//! that, or until the connection is gone.

use crate::body::delivery::{Delivery, Progress};
use crate::body::sendfile::{FilePart, TURN};
use crate::connection::pending_reply::PendingReply;
use crate::connection::reply_stream::ReplyStream;
use crate::limits::Limits;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use telemetry::{Event, Op, Outcome, Reason, Recorder, Tick, arrived};

/// One connection's state, shared by its wire, its exchanges and the watch over its deadlines. One thread only.
pub(crate) struct ConnectionState {
    recorder: Arc<Recorder>,
    pending: RefCell<VecDeque<PendingReply>>,
    /// Parts of files that hyper shows stand-ins for, in the order in which it was given them.
    parts: RefCell<VecDeque<Weak<FilePart>>>,
    /// Requests whose handler works.
    working: Cell<u32>,
    /// A body that nobody wanted is being thrown away.
    pub(crate) draining: Cell<u32>,
    /// What was read ends with the end of a message, and another may come.
    pub(crate) whole: Cell<bool>,
    /// First byte of a head that is not complete.
    head_since: Cell<Option<Tick>>,
    /// The last that came of it.
    pub(crate) head_until: Cell<Tick>,
    /// When the kernel took the first bytes of a reply, if that was the last thing that happened.
    wrote_at: Cell<Option<Tick>>,
    /// Bytes that were written in this turn of the connection's task.
    written: Cell<usize>,
    /// Since when nothing is under way.
    quiet_since: Cell<Tick>,
    /// Whether any request was read.
    had_request: Cell<bool>,
    /// Since when the client has taken nothing of what waits for it.
    stalled_since: Cell<Option<Tick>>,
    /// How long the TLS handshake took, until the first request has noted it.
    pub(crate) handshake: Cell<Option<u64>>,
    /// The server stops: since when, and how long an idle connection may stay.
    closing: Cell<Option<(Tick, Duration)>>,
    /// The client may still be sending what we will not read.
    pub(crate) unread: Cell<bool>,
    /// Many exchanges at a time: HTTP/2.
    many: bool,
    /// HTTP/2: the client sends frames that ask for nothing, and too many.
    pub(crate) flooded: Cell<bool>,
    /// Why the request that is given up next is.
    refused: Cell<Option<Reason>>,
}

impl ConnectionState {
    pub(crate) fn new(recorder: Arc<Recorder>) -> Self {
        Self {
            recorder,
            pending: RefCell::default(),
            parts: RefCell::default(),
            working: Cell::new(0),
            draining: Cell::new(0),
            whole: Cell::new(true),
            head_since: Cell::new(None),
            head_until: Cell::new(Tick(0)),
            wrote_at: Cell::new(None),
            written: Cell::new(0),
            quiet_since: Cell::new(Tick::now()),
            had_request: Cell::new(false),
            stalled_since: Cell::new(None),
            handshake: Cell::new(None),
            closing: Cell::new(None),
            unread: Cell::new(false),
            many: false,
            flooded: Cell::new(false),
            refused: Cell::new(None),
        }
    }

    /// For HTTP/2, where many exchanges are under way at a time and end in any order.
    pub(crate) fn of_many(mut self) -> Self {
        self.many = true;
        // What comes on such a connection is frames, and the machine bounds what a head may be.
        self.head_since.set(None);
        self
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The server stops. What is under way is finished, and the connection ends with it, or when it was idle for `idle_grace`.
    pub(crate) fn begin_closing(&self, idle_grace: Duration) {
        self.closing.set(Some((Tick::now(), idle_grace)));
    }

    /// Whether the connection ends with the reply to the request under way.
    pub(crate) fn closing(&self) -> bool {
        self.closing.get().is_some()
    }

    /// Nobody works and nothing leaves.
    fn quiet(&self) -> bool {
        self.working.get() == 0 && self.pending.borrow().is_empty()
    }

    /// Bytes came from the client.
    pub(crate) fn arrived(&self) {
        if self.many {
            return;
        }
        if self.head_since.get().is_some() {
            self.head_until.set(arrived());
        } else if self.quiet() && self.draining.get() == 0 {
            let now = arrived();
            self.head_since.set(Some(now));
            self.head_until.set(now);
        }
    }

    /// A head is complete. Returns when its first byte was there, and its last; a pipelined request's came with an
    /// earlier one's, and it begins now.
    pub(crate) fn begin(&self) -> (Tick, Tick) {
        self.working.set(self.working.get() + 1);
        self.had_request.set(true);
        match self.head_since.take() {
            Some(since) => (since, self.head_until.get()),
            None => {
                let now = Tick::now();
                (now, now)
            }
        }
    }

    /// The head that is under way and will never be complete.
    pub(crate) fn abandoned_head(&self) -> Option<Tick> {
        self.head_since.take()
    }

    /// The handler has answered: the event waits for the reply to leave.
    pub(crate) fn leave(&self, event: Box<Event>) -> Rc<Delivery> {
        self.working.set(self.working.get() - 1);
        let delivery = Rc::new(Delivery::default());
        self.pending.borrow_mut().push_back(PendingReply::new(event, delivery.clone()));
        delivery
    }

    /// The reply that `delivery` belongs to leaves on this stream.
    pub(crate) fn carry(&self, delivery: &Rc<Delivery>, stream: ReplyStream) {
        // It is one of the last to have come.
        let mut pending = self.pending.borrow_mut();
        if let Some(one) = pending.iter_mut().rev().find(|one| Rc::ptr_eq(&one.delivery, delivery)) {
            one.stream = Some(stream);
        }
    }

    /// The rest of the reply that `delivery` belongs to will never leave: the client does not want it, or we cannot.
    pub(crate) fn cut(&self, delivery: &Rc<Delivery>, why: Option<Reason>) {
        let at = self.pending.borrow().iter().position(|one| Rc::ptr_eq(&one.delivery, delivery));
        let one = at.and_then(|at| self.pending.borrow_mut().remove(at));
        if let Some(mut one) = one {
            if why.is_some() {
                (one.event.outcome, one.event.reason) = (Some(Outcome::TurnedAway), why);
            }
            self.end(one, Tick::now(), why.is_some());
        }
    }

    /// The request that is given up next is turned away, and not left by its client.
    pub(crate) fn refuse(&self, why: Reason) {
        self.refused.set(Some(why));
    }

    /// HTTP/2: the machine has written all that it could.
    pub(crate) fn settled(&self) {
        if self.stalled() {
            return;
        }
        let bare =
            self.pending.borrow().iter().filter(|one| one.delivery.is_head()).map(|one| one.delivery.let_go()).count();
        if bare > 0 {
            self.flushed();
        }
    }

    /// The kernel takes nothing more.
    pub(crate) fn stalled(&self) -> bool {
        self.stalled_since.get().is_some()
    }

    /// The request was given up before there was a reply.
    pub(crate) fn give_up(&self, mut event: Box<Event>) {
        self.working.set(self.working.get() - 1);
        event.outcome = Some(Outcome::ClientGone);
        if let Some(why) = self.refused.take() {
            (event.outcome, event.reason) = (Some(Outcome::TurnedAway), Some(why));
        }
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

    /// The connection's task has a turn.
    pub(crate) fn turn(&self) {
        self.written.set(0);
    }

    /// Waits for the next turn, once enough was written in this one: a client that takes all at once would keep the core.
    pub(crate) fn poll_turn(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.written.get() < TURN {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// The kernel took bytes.
    pub(crate) fn wrote(&self, len: usize) {
        self.written.set(self.written.get() + len);
        self.stalled_since.set(None);
        self.wrote_at.set(None);
        let mut pending = self.pending.borrow_mut();
        if pending.iter().any(|one| one.first_byte.is_none()) {
            let now = Tick::now();
            for one in pending.iter_mut().filter(|one| one.first_byte.is_none()) {
                one.first_byte = Some(now);
            }
            self.wrote_at.set(Some(now));
        }
    }

    /// The kernel takes nothing more for now.
    pub(crate) fn stalls(&self) {
        self.wrote_at.set(None);
        if self.stalled_since.get().is_none() {
            self.stalled_since.set(Some(Tick::now()));
        }
    }

    /// Everything that was written is with the kernel: what had ended has left.
    pub(crate) fn flushed(&self) {
        self.stalled_since.set(None);
        loop {
            // Not held while the event is released.
            let one = {
                let mut pending = self.pending.borrow_mut();
                // One at a time on HTTP/1, in whatever order on HTTP/2.
                let at = pending.iter().position(|one| one.delivery.gone());
                at.and_then(|at| pending.remove(at))
            };
            let Some(one) = one else { return };
            // A small reply leaves with its first bytes: it is flushed where they were taken, with nothing in between.
            let now = self.wrote_at.take().unwrap_or_else(Tick::now);
            self.end(one, now, true);
        }
    }

    /// The connection has ended, and for its client whatever has not left never will.
    pub(crate) fn close(&self) {
        let now = Tick::now();
        for one in self.pending.take() {
            self.release(one, now, false);
        }
    }

    fn end(&self, one: PendingReply, now: Tick, complete: bool) {
        self.release(one, now, complete);
        self.quiet_since.set(now);
    }

    fn release(&self, one: PendingReply, now: Tick, complete: bool) {
        let PendingReply { mut event, delivery, first_byte, .. } = one;
        // On HTTP/2 a client resets a stream, and what waits on it is gone too.
        let complete = complete && (!self.many || delivery.bytes.get() == delivery.expected());
        event.duration = now.since(event.began);
        event.bytes_out = delivery.bytes.get();
        event.add_all(Op::BlobRead, delivery.reads());
        if let Some(first_byte) = first_byte {
            event.first_byte = first_byte.since(event.began);
            event.add(Op::BodySend, now.since(first_byte));
        }
        let broken = match delivery.progress.get() {
            Progress::Broken => Some(Reason::Io),
            Progress::BrokeOff => Some(Reason::BrokeOff),
            Progress::Going | Progress::Ended => None,
        };
        if broken.is_some() {
            (event.outcome, event.reason) = (Some(Outcome::Failed), broken);
        } else if !complete && event.outcome != Some(Outcome::TurnedAway) {
            event.outcome = Some(Outcome::ClientGone);
        }
        self.recorder.release(event);
    }

    /// Whether the client has nothing to wait for, and we wait for it to begin with a request: what comes next is not the rest of an
    /// upload, or it could smuggle one in there.
    pub(crate) fn idle(&self) -> bool {
        let uploads = self.draining.get() > 0 || self.unread.get() || !self.whole.get();
        self.quiet() && self.head_since.get().is_none() && !uploads && !self.stalled()
    }

    /// When something must end if nothing happens until then; `None` while that is somebody else's to watch (the handler's,
    /// or the upload's own limit).
    pub(crate) fn due(&self, limits: &Limits) -> Option<Tick> {
        let (since, limit) = if let Some(since) = self.stalled_since.get() {
            (since, limits.write_stall)
        } else if !self.quiet() {
            (self.longest_stall()?, limits.write_stall)
        } else if let Some(since) = self.head_since.get() {
            (since, limits.head_time)
        } else if let Some((since, idle_grace)) = self.closing.get() {
            (since.max(self.quiet_since.get()), idle_grace)
        } else if self.had_request.get() {
            (self.quiet_since.get(), limits.keep_alive)
        } else {
            (self.quiet_since.get(), limits.head_time)
        };
        Some(since.plus(limit))
    }

    /// HTTP/2: since when the client lets the reply that waits longest wait.
    fn longest_stall(&self) -> Option<Tick> {
        if !self.many {
            return None;
        }
        let (now, mut pending) = (Tick::now(), self.pending.borrow_mut());
        pending.iter_mut().filter_map(|one| one.stalled_since(now)).min()
    }

    /// The time of something has come. Returns whether the connection goes on: HTTP/2 resets the streams whose clients let
    /// them wait, and says that it ends before it does.
    pub(crate) fn survives_deadline(&self, limits: &Limits) -> bool {
        if !self.many || self.stalled() {
            return false;
        }
        if self.quiet() {
            let says = self.had_request.get() && !self.closing();
            if says {
                self.begin_closing(limits.linger);
            }
            return says;
        }
        let now = Tick::now();
        let stalled =
            |one: &mut PendingReply| one.stalled_since(now).is_some_and(|since| since.plus(limits.write_stall) <= now);
        loop {
            let mut pending = self.pending.borrow_mut();
            let at = pending.iter_mut().position(stalled);
            let Some(one) = at.and_then(|at| pending.remove(at)) else { return true };
            drop(pending);
            if let Some(stream) = &one.stream {
                stream.reset();
            }
            self.end(one, now, false);
        }
    }
}

impl Drop for ConnectionState {
    fn drop(&mut self) {
        self.close();
    }
}
