//! The load of a core: the requests in progress on its thread, and the lateness of its event loop. Each request records both as it
//! arrives.

use crate::Tick;
use std::cell::Cell;

/// The state of the server when a request arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Requests in progress on the core of the request.
    pub in_flight: u32,
    /// How late the event loop of the core was at its last measurement, in nanoseconds.
    pub late: u64,
    /// Places of the cost class that were taken.
    pub class_used: u32,
}

/// What a thread records.
struct CoreLoad {
    /// Requests that arrived and have not left.
    in_flight: Cell<u32>,
    /// The lateness of the last beat of the event loop, in nanoseconds.
    late: Cell<u64>,
    /// When the next beat is due.
    due: Cell<Tick>,
}

thread_local! {
    static HERE: CoreLoad = const {
        CoreLoad { in_flight: Cell::new(0), late: Cell::new(0), due: Cell::new(Tick(u64::MAX)) }
    };
}

/// A request arrived on this core at `now`. It is in progress until [`leave`] is called.
pub fn arrive(now: Tick) -> Arrival {
    HERE.with(|here| here.arrive(now))
}

/// A request that arrived has ended.
pub fn leave() {
    HERE.with(CoreLoad::leave);
}

/// Requests in progress on this thread.
pub(crate) fn in_flight() -> u32 {
    HERE.with(|here| here.in_flight.get())
}

/// The event loop of this thread was this late.
pub(crate) fn beat(late: u64) {
    HERE.with(|here| here.late.set(late));
}

/// The event loop of this thread beats again at `due`.
pub(crate) fn expect(due: Tick) {
    HERE.with(|here| here.due.set(due));
}

impl CoreLoad {
    fn arrive(&self, now: Tick) -> Arrival {
        let in_flight = self.in_flight.get();
        self.in_flight.set(in_flight.saturating_add(1));
        // After a long turn the requests that waited for its end may run before the beat.
        Arrival { in_flight, late: self.late.get().max(now.since(self.due.get())), class_used: 0 }
    }

    fn leave(&self) {
        self.in_flight.set(self.in_flight.get().saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_counts_the_requests_before_it_that_are_in_progress() {
        let before = arrive(Tick(1)).in_flight;
        assert_eq!(arrive(Tick(1)).in_flight, before + 1);
        leave();
        assert_eq!(arrive(Tick(1)).in_flight, before + 1);
        leave();
        leave();
        assert_eq!(arrive(Tick(1)).in_flight, before);
    }

    #[test]
    fn the_lateness_is_that_of_the_last_beat_or_of_one_that_is_overdue() {
        beat(700);
        expect(Tick(10_000));
        assert_eq!(arrive(Tick(9_000)).late, 700);
        assert_eq!(arrive(Tick(10_500)).late, 700);
        assert_eq!(arrive(Tick(12_000)).late, 2_000);
    }
}
