//! How a store is opened: its folder, its threads, and how much may wait for them.

use crate::disk::{Disk, RealDisk};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Clock, Log, Recorder};

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The data folder; made where it does not exist.
    pub data: PathBuf,
    /// The server's clock.
    pub clock: Clock,
    /// Where bounds and figures are registered and jobs are released.
    pub recorder: Arc<Recorder>,
    /// Where the process says what went wrong.
    pub log: Log,
    /// Threads that read the truth.
    pub readers: usize,
    /// Reads of a lane that wait or work at once; one more is [`crate::Error::Busy`].
    pub reads_max: u64,
    /// Commits that wait or work at once; one more is [`crate::Error::Busy`].
    pub commits_max: u64,
    /// Threads that touch blobs.
    pub blob_threads: usize,
    /// Blob operations of a lane that wait or work at once; one more is [`crate::Error::Busy`].
    pub blob_operations_max: u64,
    /// Operations on the cache that wait or work at once; one more is [`crate::Error::Busy`].
    pub cache_operations_max: u64,
    /// Bytes of upstreams' files that are kept, of all repositories together; those used least go first.
    pub cached_max_bytes: u64,
    /// Bytes that one repository may take for what was first seen of its upstream, in the truth and in segments; what comes
    /// after is not written down.
    pub first_seen_max_bytes: u64,
    /// What stays free on the disk, in bytes: below it no content is written.
    pub floor_bytes: u64,
    /// How often new journal rows are copied into segments.
    pub ship_every: Duration,
    /// What does things to files.
    pub disk: Arc<dyn Disk>,
}

impl StoreOptions {
    /// The defaults for the folder `data`.
    pub fn new(data: impl Into<PathBuf>, clock: Clock, recorder: Arc<Recorder>) -> Self {
        Self {
            data: data.into(),
            clock,
            recorder,
            log: Log::silent(),
            readers: 4,
            reads_max: 1024,
            commits_max: 1024,
            blob_threads: 4,
            blob_operations_max: 256,
            cache_operations_max: 1024,
            cached_max_bytes: 64 << 30,
            first_seen_max_bytes: 64 << 20,
            floor_bytes: 256 << 20,
            ship_every: Duration::from_millis(500),
            disk: Arc::new(RealDisk),
        }
    }
}
