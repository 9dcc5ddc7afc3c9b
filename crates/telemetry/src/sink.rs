//! Where events go after they are counted. Each sink has its own queue and thread, and cannot harm another.

use crate::Event;

/// Takes batches of finished events. May hang, fail or panic: the others, and every request, go on.
pub trait Sink: Send {
    /// Its name in metrics.
    fn name(&self) -> &'static str;
    /// Takes a batch. An error is counted and logged; the batch is not offered again.
    fn write(&mut self, events: &[Box<Event>]) -> std::io::Result<()>;
}

/// Events as JSON lines in a bounded, rotated file.
#[derive(Debug)]
pub struct JsonLines {}
