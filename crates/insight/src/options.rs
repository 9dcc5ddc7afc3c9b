//! The limits of the stored events, and the parts of the server that storing them needs.

use crate::row::RepositoryFacts;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Clock, Log};

/// Tells the kind and the format of a repository by its name.
pub type FactsOf = Arc<dyn Fn(&str) -> RepositoryFacts + Send + Sync>;

/// Whether the disk has enough free space for events.
pub type AboveFloor = Arc<dyn Fn() -> bool + Send + Sync>;

/// The limits of the stored events.
#[derive(Debug, Clone)]
pub struct InsightOptions {
    /// Disk for events, in bytes. 0: none is stored.
    pub keep_bytes: u64,
    /// How long an event is stored.
    pub keep_time: Duration,
    /// Memory for rows that are not in a segment yet and for the indexes of segments, in bytes.
    pub memory_bytes: u64,
    /// Memory for questions, in bytes.
    pub ask_memory_bytes: u64,
    /// The time of day.
    pub clock: Clock,
    /// For failures.
    pub log: Log,
}

/// The parts of the server that storing needs, once the data folder belongs to this process.
#[derive(Clone)]
pub struct Surroundings {
    /// The folder of the events. It is made if it does not exist.
    pub folder: PathBuf,
    /// Tells the kind and the format of a repository.
    pub facts: FactsOf,
    /// Whether the disk has enough free space for events.
    pub above_floor: AboveFloor,
}
