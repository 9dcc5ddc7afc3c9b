//! The moments of events that a hub was asked for.

use format::koji::model::EventId;
use std::collections::BTreeMap;
use std::sync::Mutex;
use telemetry::{Millis, lock};

/// Most questions for the moment of an event in a minute. Clients name events, so they must not decide how often a hub
/// is called.
const ASKED_MAX: u32 = 30;
const MINUTE_MS: i64 = 60_000;

/// Most moments of events in memory. The hub is asked again for others.
const MOMENTS: usize = 256;

/// The moments of the events that clients named.
#[derive(Debug, Default)]
pub(crate) struct Moments {
    known: Mutex<BTreeMap<EventId, Millis>>,
    /// When the present minute began, and the questions in it.
    asked: Mutex<(Millis, u32)>,
}

impl Moments {
    /// The moment of an event, if it is known.
    pub(crate) fn get(&self, of: EventId) -> Option<Millis> {
        lock(&self.known).get(&of).copied()
    }

    /// Keeps the moment of an event, in place of that of the oldest one.
    pub(crate) fn keep(&self, of: EventId, at: Millis) -> Millis {
        let mut moments = lock(&self.known);
        if moments.len() >= MOMENTS {
            moments.pop_first();
        }
        moments.insert(of, at);
        at
    }

    /// Counts a question for a moment. Fails with the time of the next one if there were too many in this minute.
    pub(crate) fn ask(&self, now: Millis) -> Result<(), Millis> {
        let mut asked = lock(&self.asked);
        let (began, count) = *asked;
        if began > now || now.0 - began.0 >= MINUTE_MS {
            *asked = (now, 1);
            return Ok(());
        }
        if count >= ASKED_MAX {
            return Err(Millis(began.0 + MINUTE_MS));
        }
        asked.1 += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_that_name_event_after_event_make_thirty_calls_a_minute_at_most() {
        let moments = Moments::default();
        let asked = |at| (0..1_000).filter(|_| moments.ask(Millis(at)).is_ok()).count();
        assert_eq!((asked(0), asked(59_999), asked(60_000), asked(1)), (30, 0, 30, 30));
        assert_eq!(moments.ask(Millis(2)), Err(Millis(60_001)));
    }
}
