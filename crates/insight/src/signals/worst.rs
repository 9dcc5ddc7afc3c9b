//! The event that shows a fault best: the one that lost most to it.

use telemetry::EventId;

/// The event that lost most of all that were counted together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Worst {
    /// What it lost, in nanoseconds.
    pub(crate) nanos: u64,
    /// Its id. `None`: no event was counted.
    pub(crate) event: Option<EventId>,
}

impl Worst {
    /// Counts an event. Returns whether it is the worst so far and lost more than a millisecond: then the event is stored.
    pub(crate) fn see(&mut self, nanos: u64, event: EventId) -> bool {
        self.keep(nanos, event) && nanos > 1_000_000
    }

    /// Counts an event. Returns whether it is the worst so far, however little it lost: for faults that cost little each time.
    pub(crate) fn keep(&mut self, nanos: u64, event: EventId) -> bool {
        if self.event.is_some() && nanos <= self.nanos {
            return false;
        }
        *self = Self { nanos, event: Some(event) };
        true
    }

    /// Adds those of another window.
    pub(crate) fn add(&mut self, other: &Worst) {
        if self.event.is_none() || (other.event.is_some() && other.nanos > self.nanos) {
            *self = *other;
        }
    }
}
