//! Where events go after they are counted. Each sink has its own queue and thread, and cannot harm another.

use crate::Event;
use crate::json;
use crate::lines::Target;
use std::io;
use std::sync::Arc;

/// Takes batches of finished events. May hang, fail or panic: the others, and every request, go on.
pub trait Sink: Send {
    /// Its name in metrics, unlike that of any other sink of the recorder.
    fn name(&self) -> &'static str;
    /// Takes a batch. An error is counted and logged; the batch is not offered again.
    fn write(&mut self, events: &[Event]) -> io::Result<()>;
    /// Takes a batch that it may keep, as all sinks share it.
    fn share(&mut self, batch: &Arc<Vec<Event>>) -> io::Result<()> {
        self.write(batch)
    }
}

/// Events as JSON lines: in a bounded, rotated file, or wherever a [`Target`] leads.
#[derive(Debug)]
pub struct JsonLines(Target);

impl JsonLines {
    /// All events, to `target`.
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
