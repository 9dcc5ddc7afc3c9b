//! The sink that stores events.

use super::EventStore;
use std::io;
use std::sync::Arc;
use telemetry::{Event, Sink};

/// Stores the sampled events, each with its weight.
pub(crate) struct StoreSink(pub(crate) Arc<EventStore>);

impl Sink for StoreSink {
    fn name(&self) -> &'static str {
        "keep"
    }

    fn wants_all(&self) -> bool {
        false
    }

    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        self.0.take(events);
        Ok(())
    }
}
