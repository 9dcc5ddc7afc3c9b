//! The moments of events that a hub was asked for.

use format::koji::model::EventId;
use std::collections::BTreeMap;
use std::sync::Mutex;
use telemetry::{Millis, lock};

/// Most moments of events in memory. The hub is asked again for others.
const MOMENTS: usize = 256;

/// The moments of the events that clients named.
#[derive(Debug, Default)]
pub(crate) struct Moments(Mutex<BTreeMap<EventId, Millis>>);

impl Moments {
    /// The moment of an event, if it is known.
    pub(crate) fn get(&self, of: EventId) -> Option<Millis> {
        lock(&self.0).get(&of).copied()
    }

    /// Keeps the moment of an event, in place of that of the oldest one.
    pub(crate) fn keep(&self, of: EventId, at: Millis) -> Millis {
        let mut moments = lock(&self.0);
        if moments.len() >= MOMENTS {
            moments.pop_first();
        }
        moments.insert(of, at);
        at
    }
}
