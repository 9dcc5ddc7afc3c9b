//! Sinks: they take events after these were counted. Each has its own queue and thread, and cannot harm another.

use crate::Event;
use crate::event::json;
use crate::log::lines::Target;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Takes batches of finished events. It may hang, fail or panic without effect on other sinks or on requests.
pub trait Sink: Send {
    /// Its name in metrics. It is unique among the sinks of a recorder.
    fn name(&self) -> &'static str;
    /// Whether it gets all events. If not, it gets the events that a [`crate::Census`] needs, each with its weight.
    fn wants_all(&self) -> bool {
        true
    }
    /// A switch, for a sink that is needed at times only: while it is on, the sink gets all events, and otherwise none.
    fn switch(&self) -> Option<Arc<AtomicBool>> {
        None
    }
    /// Takes a batch. An error is counted and logged, and the batch is not offered again.
    fn write(&mut self, events: &[Event]) -> io::Result<()>;
    /// Takes a batch that all sinks share, so it may keep it.
    fn share(&mut self, batch: &Arc<Vec<Event>>) -> io::Result<()> {
        self.write(batch)
    }
}

/// Writes events as JSON lines to a [`Target`]: a rotated file of bounded size, for example.
#[derive(Debug)]
pub struct JsonLines(Target);

impl JsonLines {
    /// A sink that writes all events to `target`.
    pub fn new(target: Target) -> Self {
        Self(target)
    }
}

impl Sink for JsonLines {
    fn name(&self) -> &'static str {
        "json_lines"
    }

    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        self.0.write_each(events.iter(), json::write)
    }
}
