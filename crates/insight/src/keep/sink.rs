//! The sink that gives events to keeping.

use super::Keep;
use std::io;
use std::sync::Arc;
use telemetry::{Event, Sink};

/// Gets the events that a census needs, each with its weight.
pub(crate) struct KeepSink(pub(crate) Arc<Keep>);

impl Sink for KeepSink {
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
