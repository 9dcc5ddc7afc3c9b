//! When a connection ends if nothing happens, and what ends then.

use super::ConnectionState;
use crate::connection::pending_reply::PendingReply;
use crate::limits::Limits;
use telemetry::Tick;

impl ConnectionState {
    /// When the connection or a part of it ends if nothing happens until then. `None` while something else sets the
    /// deadline: the handler, or the limits of an upload.
    pub(crate) fn due(&self, limits: &Limits) -> Option<Tick> {
        self.due_of_client(limits).into_iter().chain(self.live_until(limits)).min()
    }

    /// When the connection ends unless the client does something.
    fn due_of_client(&self, limits: &Limits) -> Option<Tick> {
        let (since, limit) = if let Some(since) = self.stalled_since.get() {
            (since, limits.write_stall)
        } else if !self.nothing_pending() {
            (self.longest_stall()?, limits.write_stall)
        } else if let Some(since) = self.head_began.get() {
            (since, limits.head_time)
        } else if let Some((since, idle_grace)) = self.closing.get() {
            (since.max(self.idle_since.get()), idle_grace)
        } else if self.had_request.get() {
            (self.idle_since.get(), limits.keep_alive)
        } else {
            (self.idle_since.get(), limits.head_time)
        };
        Some(since.plus(limit))
    }

    /// When live replies end because the server stops, whether or not the client has read them: their source has ended
    /// at once, and a client that does not read must not hold up the stop.
    fn live_until(&self, limits: &Limits) -> Option<Tick> {
        let (since, _) = self.closing.get()?;
        let pending = self.pending.borrow();
        // On HTTP/1 the replies before a live one are sent first.
        let replies = if self.multiplexed { pending.len() } else { 1 };
        pending.iter().take(replies).any(|one| one.delivery.is_live()).then(|| since.plus(limits.linger))
    }

    /// HTTP/2: since when the reply that is stalled longest is stalled. Now, if none is: h2 wakes nobody for a piece without a window.
    fn longest_stall(&self) -> Option<Tick> {
        let pending = Some(self.pending.borrow_mut()).filter(|pending| self.multiplexed && !pending.is_empty());
        let (mut pending, now) = (pending?, Tick::now());
        Some(pending.iter_mut().filter_map(|one| one.stalled_since(now)).min().unwrap_or(now))
    }

    /// A deadline has passed. Returns whether the connection continues. HTTP/2 resets the stalled streams, and
    /// announces the end of the connection before it ends.
    pub(crate) fn survives_deadline(&self, limits: &Limits) -> bool {
        let now = Tick::now();
        let is_stuck = self.stalled_since.get().is_some_and(|since| since.plus(limits.write_stall) <= now);
        if !self.multiplexed || is_stuck {
            return false;
        }
        if self.nothing_pending() {
            let says = self.had_request.get() && !self.closing();
            if says {
                self.begin_closing(limits.linger);
            }
            return says;
        }
        let live_ends = self.live_until(limits).is_some_and(|until| until <= now);
        let ends = |one: &mut PendingReply| {
            let is_stalled = one.stalled_since(now).is_some_and(|since| since.plus(limits.write_stall) <= now);
            is_stalled || live_ends && one.delivery.is_live()
        };
        loop {
            let mut pending = self.pending.borrow_mut();
            let at = pending.iter_mut().position(ends);
            let Some(one) = at.and_then(|at| pending.remove(at)) else { break };
            drop(pending);
            if let Some(stream) = &one.stream {
                stream.reset();
            }
            self.end(one, now, false);
        }
        // A client that takes no bytes and has nothing else to get needs no announcement.
        !(self.stalled() && self.nothing_pending())
    }
}
