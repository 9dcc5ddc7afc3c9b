//! How long requests waited before they reached the server, as a trusted proxy told, and how long they took in it.

use super::worst::Worst;
use telemetry::{Glance, Histogram, Kind};

/// The requests of which a trusted proxy told when it got them.
#[derive(Debug, Clone, Default)]
pub(crate) struct OutsideSeen {
    /// How long they waited outside, in nanoseconds.
    pub(crate) outside: Histogram,
    /// How long it took in the server until the first byte of the answer, in nanoseconds.
    pub(crate) inside: Histogram,
    /// The one that waited longest.
    pub(crate) worst: Worst,
}

impl OutsideSeen {
    /// Counts an event. Returns whether it waited longest.
    pub(crate) fn see(&mut self, event: &Glance<'_>) -> bool {
        let queued = event.more.map_or(0, |more| more.queued_outside);
        if queued == 0 || event.figures.kind != Kind::Request {
            return false;
        }
        self.outside.record(queued);
        // A loop that is late reads the head late, which looks as if it waited outside.
        let late = event.more.and_then(|more| more.arrival).map_or(0, |arrival| arrival.late);
        self.inside.record(event.figures.first_byte + late);
        self.worst.see(queued, event.figures.id)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        if other.outside.count() > 0 {
            self.outside.merge(&other.outside);
            self.inside.merge(&other.inside);
            self.worst.add(&other.worst);
        }
    }
}
