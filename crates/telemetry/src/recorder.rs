//! Exact counting at release, and handing on to the sinks.

use crate::{Bound, Clock, Event, Sink};
use std::sync::Arc;

/// Things that are only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Counter {
    /// Requests begun, connections turned away, jobs begun: what the outcomes sum to.
    Attempts,
    /// Connections accepted.
    Connections,
}

/// How a [`Recorder`] is made.
#[derive(Debug, Clone)]
pub struct RecorderOptions {
    /// The server's clock.
    pub clock: Clock,
    /// Shards, one for each thread that releases events.
    pub shards: usize,
    /// Events kept at most while they wait for the sinks, over all shards.
    pub buffered_events: usize,
}

/// What was counted, summed over the shards.
#[derive(Debug, Clone, Default)]
pub struct Totals {}

/// Counts every event exactly and hands it to the sinks. Shared by everything in the process.
#[derive(Debug)]
pub struct Recorder {
    clock: Clock,
}

impl Recorder {
    /// Starts the collector and a thread for each sink.
    pub fn start(options: RecorderOptions, _sinks: Vec<Box<dyn Sink>>) -> Arc<Self> {
        Arc::new(Self { clock: options.clock })
    }

    /// The server's clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// An attempt begins: it will be released with an outcome, whatever happens.
    pub fn attempt(&self) {}

    /// Counts a finished event and buffers it for the sinks. Never blocks, never fails.
    pub fn release(&self, _event: Box<Event>) {}

    /// Makes a bound visible in metrics and pages.
    pub fn register(&self, _bound: Arc<Bound>) {}

    /// A figure read when somebody asks: must be O(1).
    pub fn gauge(&self, _name: &'static str, _doc: &'static str, _read: impl Fn() -> u64 + Send + Sync + 'static) {}

    /// Counts once.
    pub fn count(&self, _counter: Counter) {}

    /// Everything in Prometheus' text format.
    pub fn prometheus(&self) -> String {
        String::new()
    }

    /// Hands on what is buffered and ends the threads, waiting at most `patience`.
    pub fn stop(&self, _patience: std::time::Duration) {}
}
