//! The options of a store: its folder, its threads, and the limits of their queues.

use crate::blobs::life::BlobLife;
use crate::disk::{Disk, RealDisk};
use crate::objects::Objects;
use crate::truth::postgres::DatabaseOptions;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Clock, Log, Recorder};

/// The options with which a store is opened.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The data folder. It is made if it does not exist.
    pub data: PathBuf,
    /// The server's clock.
    pub clock: Clock,
    /// Registers the bounds and figures, and takes the events of jobs.
    pub recorder: Arc<Recorder>,
    /// The log of the process.
    pub log: Log,
    /// The number of threads that read the truth.
    pub readers: usize,
    /// The memory of each of them for pages of the database, in bytes.
    pub reader_cache_bytes: u64,
    /// The reads of a lane that may wait or run at once. One more is refused with [`crate::Error::Busy`].
    pub reads_max: u64,
    /// The commits that may wait or run at once. One more is refused with [`crate::Error::Busy`].
    pub commits_max: u64,
    /// The number of threads for blobs.
    pub blob_threads: usize,
    /// The blob operations of a lane that may wait or run at once. One more is refused with [`crate::Error::Busy`].
    pub blob_operations_max: u64,
    /// The operations on the cache that may wait or run at once. One more is refused with [`crate::Error::Busy`].
    pub cache_operations_max: u64,
    /// The most bytes of cached files of upstreams, in all repositories. The least recently used are evicted first.
    pub cached_max_bytes: u64,
    /// The most bytes of facts about folders of upstreams on disk. The least recently changed are evicted first.
    pub facts_max_bytes: u64,
    /// The most bytes of such facts in memory.
    pub known_folders_max_bytes: u64,
    /// The most bytes of first-seen rows of one repository, in the truth and in segments. Further ones are not written.
    pub first_seen_max_bytes: u64,
    /// Bytes of the disk that must stay free. With less free space no content is written.
    pub floor_bytes: u64,
    /// The largest difference of the clock to the journal, or to the time since the machine's boot, that needs no decision.
    pub clock_jump: Duration,
    /// Whether some bytes are set aside for changes on a full disk.
    pub reserve: bool,
    /// How long unreferenced blobs are kept.
    pub blob_life: BlobLife,
    /// How often new journal rows are copied into segments.
    pub ship_every: Duration,
    /// Object storage that keeps the bytes of blobs; `None`: the disk does.
    pub objects: Option<Objects>,
    /// The disk.
    pub disk: Arc<dyn Disk>,
    /// The database that orders the changes; `None`: the store has one process, and the data folder has everything.
    pub database: Option<DatabaseOptions>,
}

impl StoreOptions {
    /// The defaults, for the folder `data`.
    pub fn new(data: impl Into<PathBuf>, clock: Clock, recorder: Arc<Recorder>) -> Self {
        Self {
            data: data.into(),
            clock,
            recorder,
            log: Log::silent(),
            readers: 4,
            reader_cache_bytes: 2 << 20,
            reads_max: 1024,
            commits_max: 1024,
            blob_threads: 4,
            blob_operations_max: 256,
            cache_operations_max: 1024,
            cached_max_bytes: 64 << 30,
            facts_max_bytes: 2 << 30,
            known_folders_max_bytes: 16 << 20,
            first_seen_max_bytes: 64 << 20,
            floor_bytes: 256 << 20,
            clock_jump: Duration::from_secs(5 * 60),
            reserve: true,
            blob_life: BlobLife::default(),
            ship_every: Duration::from_millis(500),
            objects: None,
            disk: Arc::new(RealDisk),
            database: None,
        }
    }
}
