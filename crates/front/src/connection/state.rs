//! The state of one connection, and the one place where the events of its exchanges end.
//!
//! hyper drops a reply's body when its last frame is *buffered*, before anything is written, so the end of the body
//! does not mean that it was sent. The body only updates its [`Delivery`]. The event waits here until the first
//! completed flush after that, or until the connection is gone.

mod due;
mod show;

use crate::body::delivery::{Delivery, Progress};
use crate::body::sendfile::{FilePart, TURN};
use crate::connection::interims::Interims;
use crate::connection::pending_reply::PendingReply;
use crate::connection::reply_stream::ReplyStream;
use crate::connection::tunnel::{OpenTunnel, Tunnel};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use telemetry::{Event, Op, OpenRequest, Outcome, Reason, Recorder, Tick, arrived, leave};

/// The state of a connection. Its socket, its exchanges and the watch over its deadlines share it, on one thread.
pub(crate) struct ConnectionState {
    recorder: Arc<Recorder>,
    pending: RefCell<VecDeque<PendingReply>>,
    /// The parts of files for which hyper was given stand-ins, in that order.
    parts: RefCell<VecDeque<Weak<FilePart>>>,
    /// Requests whose handler is working.
    working: Cell<u32>,
    /// Unwanted bodies that are being discarded.
    pub(crate) draining: Cell<u32>,
    /// The bytes read so far end at the end of a message, and another may follow.
    pub(crate) at_message_end: Cell<bool>,
    /// When the first byte of an incomplete head arrived.
    head_began: Cell<Option<Tick>>,
    /// When its last byte so far arrived.
    pub(crate) head_last_byte: Cell<Tick>,
    /// When the kernel accepted the first bytes of a reply, if nothing has happened since.
    wrote_at: Cell<Option<Tick>>,
    /// Bytes written in this turn of the connection's task.
    written: Cell<usize>,
    /// Since when no request is in progress.
    idle_since: Cell<Tick>,
    /// Whether any request was read.
    had_request: Cell<bool>,
    /// Since when the client has taken none of the bytes that wait for it.
    stalled_since: Cell<Option<Tick>>,
    /// How long the TLS handshake took. The first request records and clears it.
    pub(crate) handshake: Cell<Option<u64>>,
    /// Set when the server stops: since when, and how long an idle connection may stay.
    closing: Cell<Option<(Tick, Duration)>>,
    /// The client may still be sending bytes that will not be read.
    pub(crate) unread: Cell<bool>,
    /// The interim responses of the request in progress.
    pub(crate) interims: Rc<Interims>,
    /// What the connection belongs to once the reply before it is sent.
    tunnel: RefCell<Option<OpenTunnel>>,
    /// A body whose end is the end of the connection broke off: the connection must end in another way.
    pub(crate) breaks: Cell<bool>,
    /// HTTP/2: several exchanges run at a time.
    multiplexed: bool,
    /// HTTP/2: the client sends too many frames that ask for nothing.
    pub(crate) flooded: Cell<bool>,
    /// Why the next request that is abandoned was refused by the server.
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
            at_message_end: Cell::new(true),
            head_began: Cell::new(None),
            head_last_byte: Cell::new(Tick(0)),
            wrote_at: Cell::new(None),
            written: Cell::new(0),
            idle_since: Cell::new(Tick::now()),
            had_request: Cell::new(false),
            stalled_since: Cell::new(None),
            handshake: Cell::new(None),
            closing: Cell::new(None),
            unread: Cell::new(false),
            interims: Rc::default(),
            tunnel: RefCell::default(),
            breaks: Cell::new(false),
            multiplexed: false,
            flooded: Cell::new(false),
            refused: Cell::new(None),
        }
    }

    /// For HTTP/2, where several exchanges are in progress and end in any order.
    pub(crate) fn multiplexed(mut self) -> Self {
        self.multiplexed = true;
        // The bytes on such a connection are frames, and h2 limits heads.
        self.head_began.set(None);
        self
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The server stops. The connection ends after the requests in progress, or when it was idle for `idle_grace`.
    pub(crate) fn begin_closing(&self, idle_grace: Duration) {
        self.closing.set(Some((Tick::now(), idle_grace)));
    }

    /// Whether the connection ends with the reply to the current request.
    pub(crate) fn closing(&self) -> bool {
        self.closing.get().is_some()
    }

    /// No handler works and no reply is being sent.
    fn nothing_pending(&self) -> bool {
        self.working.get() == 0 && self.pending.borrow().is_empty()
    }

    /// Bytes came from the client.
    pub(crate) fn arrived(&self) {
        if self.multiplexed {
            return;
        }
        if self.head_began.get().is_some() {
            self.head_last_byte.set(arrived());
        } else if self.nothing_pending() && self.draining.get() == 0 {
            let now = arrived();
            self.head_began.set(Some(now));
            self.head_last_byte.set(now);
        }
    }

    /// A head is complete. Returns when its first byte arrived, and its last. A pipelined request arrived together with
    /// an earlier one, so it begins now.
    pub(crate) fn begin(&self) -> (Tick, Tick) {
        self.working.set(self.working.get() + 1);
        self.had_request.set(true);
        match self.head_began.take() {
            Some(since) => (since, self.head_last_byte.get()),
            None => {
                let now = Tick::now();
                (now, now)
            }
        }
    }

    /// When the first byte of a head arrived that will never be complete.
    pub(crate) fn abandoned_head(&self) -> Option<Tick> {
        self.head_began.take()
    }

    /// The handler has answered, at `ready`. The event waits until the reply is sent. `open`: the request has outlasted
    /// its turn.
    pub(crate) fn reply_pending(&self, event: Box<Event>, ready: Tick, open: Option<OpenRequest>) -> Rc<Delivery> {
        self.working.set(self.working.get() - 1);
        let delivery = Rc::new(Delivery::default());
        self.pending.borrow_mut().push_back(PendingReply::new(event, ready, delivery.clone(), open));
        delivery
    }

    /// The connection belongs to this tunnel once the reply is sent.
    pub(crate) fn keep_tunnel(&self, tunnel: Box<dyn Tunnel>, delivery: Rc<Delivery>) {
        *self.tunnel.borrow_mut() = Some(OpenTunnel { tunnel, delivery });
    }

    /// The tunnel that the connection belongs to from here.
    pub(crate) fn take_tunnel(&self) -> Option<OpenTunnel> {
        self.tunnel.borrow_mut().take()
    }

    /// The reply of this `delivery` is sent on this stream.
    pub(crate) fn attach_stream(&self, delivery: &Rc<Delivery>, stream: ReplyStream) {
        // The reply is one of the most recent.
        let mut pending = self.pending.borrow_mut();
        if let Some(one) = pending.iter_mut().rev().find(|one| Rc::ptr_eq(&one.delivery, delivery)) {
            one.stream = Some(stream);
            one.show(self.recorder.open_requests());
        }
    }

    /// The rest of the reply of this `delivery` will never be sent: the client has cancelled it, or the server cannot
    /// send it.
    pub(crate) fn abort_reply(&self, delivery: &Rc<Delivery>, why: Option<Reason>) {
        let at = self.pending.borrow().iter().position(|one| Rc::ptr_eq(&one.delivery, delivery));
        let one = at.and_then(|at| self.pending.borrow_mut().remove(at));
        if let Some(mut one) = one {
            if why.is_some() {
                (one.event.outcome, one.event.reason) = (Some(Outcome::TurnedAway), why);
            }
            self.end(one, Tick::now(), why.is_some());
        }
    }

    /// The next request that is abandoned was refused by the server; its client did not disconnect.
    pub(crate) fn refuse(&self, why: Reason) {
        self.refused.set(Some(why));
    }

    /// HTTP/2: h2 has written all that it could.
    pub(crate) fn all_written(&self) {
        if self.stalled() {
            return;
        }
        let bare =
            self.pending.borrow().iter().filter(|one| one.delivery.is_head()).map(|one| one.delivery.let_go()).count();
        if bare > 0 {
            self.flushed();
        }
    }

    /// Whether the kernel takes no more bytes.
    pub(crate) fn stalled(&self) -> bool {
        self.stalled_since.get().is_some()
    }

    /// The request was abandoned before there was a reply.
    pub(crate) fn abandon(&self, mut event: Box<Event>) {
        self.working.set(self.working.get() - 1);
        event.outcome = Some(Outcome::ClientGone);
        if let Some(why) = self.refused.take() {
            (event.outcome, event.reason) = (Some(Outcome::TurnedAway), Some(why));
        }
        event.duration = Tick::now().since(event.began);
        self.release_event(event);
    }

    /// hyper is given a stand-in for this part.
    pub(crate) fn show_file(&self, part: &Rc<FilePart>) {
        self.parts.borrow_mut().push_back(Rc::downgrade(part));
    }

    /// The part behind the first stand-in that hyper still writes.
    pub(crate) fn shown_file(&self) -> Option<Rc<FilePart>> {
        let mut parts = self.parts.borrow_mut();
        loop {
            match parts.front()?.upgrade() {
                Some(part) if part.left() > 0 => return Some(part),
                _ => parts.pop_front(),
            };
        }
    }

    /// A turn of the connection's task begins.
    pub(crate) fn begin_turn(&self) {
        self.written.set(0);
    }

    /// Waits for the next turn once enough was written in this one. Otherwise a client that reads as fast as it can
    /// would monopolize the core.
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
        for one in self.pending.borrow_mut().iter_mut().filter(|one| one.first_byte.is_none()) {
            let now = self.wrote_at.get().unwrap_or_else(Tick::now);
            one.first_byte = Some(now);
            self.wrote_at.set(Some(now));
        }
    }

    /// The kernel takes no more bytes for now.
    pub(crate) fn write_blocked(&self) {
        self.wrote_at.set(None);
        if self.stalled_since.get().is_none() {
            self.stalled_since.set(Some(Tick::now()));
        }
    }

    /// Everything written so far was passed to the kernel. Complete replies are now sent.
    pub(crate) fn flushed(&self) {
        self.stalled_since.set(None);
        loop {
            // The borrow must end before the event is released.
            let one = {
                let mut pending = self.pending.borrow_mut();
                // In order on HTTP/1, in any order on HTTP/2.
                match pending.iter().position(|one| one.delivery.gone()) {
                    Some(0) => pending.pop_front(),
                    Some(at) => pending.remove(at),
                    None => None,
                }
            };
            let Some(one) = one else { return };
            // A small reply is flushed right after its first bytes were taken, so both happened at the same time.
            let now = self.wrote_at.take().unwrap_or_else(Tick::now);
            self.end(one, now, true);
        }
    }

    /// The connection has ended. Replies that are not sent never will be.
    pub(crate) fn close(&self) {
        let now = Tick::now();
        for one in self.pending.take() {
            self.release(one, now, false);
        }
    }

    fn end(&self, one: PendingReply, now: Tick, complete: bool) {
        self.release(one, now, complete);
        self.idle_since.set(now);
    }

    fn release(&self, one: PendingReply, now: Tick, complete: bool) {
        let PendingReply { mut event, ready, delivery, first_byte, .. } = one;
        // On HTTP/2 a client may reset a stream, which discards what waits on it.
        let complete = complete && (!self.multiplexed || delivery.bytes.get() == delivery.expected());
        event.duration = now.since(event.began);
        event.bytes_out = delivery.bytes.get();
        let sourced = delivery.record(&mut event);
        event.add(Op::ReplyWrite, first_byte.unwrap_or(now).since(ready));
        if let Some(first_byte) = first_byte {
            event.first_byte = first_byte.since(event.began);
            if sourced.as_ref().is_some_and(|sourced| sourced.endless) {
                // It lasts as long as the client likes, and that would be in every answer about durations.
                event.duration = event.first_byte;
            } else if now > first_byte {
                // A small reply is one write.
                event.add(Op::BodySend, now.since(first_byte));
            }
        }
        let broken = match delivery.progress.get() {
            Progress::Broken => Some(Reason::Io),
            Progress::BrokeOff => Some(Reason::BrokeOff),
            Progress::Going | Progress::Ended => None,
        };
        if broken.is_some() {
            // The end of the connection would be the end of the body.
            self.breaks.set(self.breaks.get() || event.protocol == "HTTP/1.0");
            (event.outcome, event.reason) = (Some(Outcome::Failed), broken);
        } else if !complete && event.outcome != Some(Outcome::TurnedAway) {
            event.outcome = Some(Outcome::ClientGone);
        }
        if let Some(sourced) = sourced {
            sourced.conclude(&mut event);
        }
        self.release_event(event);
    }

    fn release_event(&self, event: Box<Event>) {
        if event.more.as_ref().is_some_and(|more| more.arrival.is_some()) {
            leave();
        }
        self.recorder.release(event);
    }

    /// Whether nothing is in progress and the next byte begins a request. If the byte could belong to an upload, a
    /// client could smuggle a request in the upload.
    pub(crate) fn idle(&self) -> bool {
        let uploads = self.draining.get() > 0 || self.unread.get() || !self.at_message_end.get();
        self.nothing_pending() && self.head_began.get().is_none() && !uploads && !self.stalled()
    }
}

impl Drop for ConnectionState {
    fn drop(&mut self) {
        self.close();
    }
}
