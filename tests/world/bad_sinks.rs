//! Sinks that hang, fail and panic.

use std::io;
use std::sync::mpsc::Receiver;
use telemetry::{Event, Sink};

/// Hangs until the test drops the other end.
pub(crate) struct Hangs(pub(crate) Receiver<()>);

impl Sink for Hangs {
    fn name(&self) -> &'static str {
        "hangs"
    }

    fn write(&mut self, _: &[Event]) -> io::Result<()> {
        let _ = self.0.recv();
        Ok(())
    }
}

pub(crate) struct Refuses;

impl Sink for Refuses {
    fn name(&self) -> &'static str {
        "refuses"
    }

    fn write(&mut self, _: &[Event]) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

pub(crate) struct Panics;

impl Sink for Panics {
    fn name(&self) -> &'static str {
        "panics"
    }

    fn write(&mut self, _: &[Event]) -> io::Result<()> {
        panic!("a sink panics, as it is meant to in this test");
    }
}
