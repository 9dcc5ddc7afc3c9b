//! The face of the store: asynchronous functions that hop to its threads and note in the event what that took.

use crate::blobs::Blobs;
use crate::cache::{Cache, Facts};
use crate::check::{Report, check};
use crate::disk::{Disk, RealDisk};
use crate::layout::Layout;
use crate::pool::{Pool, lock};
use crate::rebuild::Progress;
use crate::segments;
use crate::shipper::{Bench, Shipper};
use crate::space::Space;
use crate::staged::Staged;
use crate::writer::{Desk, Writer};
use crate::{Batch, Catalog, CommitError, Digest, Entry, Error, Fact, JournalRow, RepositoryId, RepositoryRecord};
use crate::{Revisions, Seq, Sqlite, TokenRecord, UnitRows};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Bound, BoundName, Clock, Event, Log, Op, Recorder};

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
    /// Reads that wait or work at once; one more is [`Error::Busy`].
    pub reads_max: u64,
    /// Commits that wait or work at once; one more is [`Error::Busy`].
    pub commits_max: u64,
    /// Threads that touch blobs.
    pub blob_threads: usize,
    /// Blob operations that wait or work at once; one more is [`Error::Busy`].
    pub blob_operations_max: u64,
    /// Operations on the cache that wait or work at once; one more is [`Error::Busy`].
    pub cache_operations_max: u64,
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
            readers: 2,
            reads_max: 1024,
            commits_max: 1024,
            blob_threads: 2,
            blob_operations_max: 256,
            cache_operations_max: 1024,
            floor_bytes: 256 << 20,
            ship_every: Duration::from_millis(500),
            disk: Arc::new(RealDisk),
        }
    }
}

/// The store. One per data folder and machine.
#[derive(Debug)]
pub struct Store {
    layout: Layout,
    disk: Arc<dyn Disk>,
    revisions: Arc<Revisions>,
    last: Arc<AtomicU64>,
    shipped: Arc<AtomicU64>,
    writer: Writer,
    shipper: Shipper,
    readers: Pool<Sqlite>,
    blobs: Arc<Blobs>,
    blob_threads: Arc<Pool<Arc<Blobs>>>,
    cache: Pool<Cache>,
    /// Held as long as anything may be written.
    lock: Mutex<Option<File>>,
}

impl Store {
    /// Takes the folder, sets right what the last process left, and starts the threads. Waits for the disk.
    pub fn open(options: StoreOptions) -> Result<Arc<Self>, Error> {
        let layout = Layout::new(&options.data);
        let lock = layout.lock()?;
        let disk = options.disk;
        let space = Arc::new(Space::new(disk.clone(), options.data, options.floor_bytes, options.log.clone()));
        layout.claim(&*disk, &space)?;
        let blobs = Arc::new(Blobs::open(disk.clone(), layout.clone(), space.clone())?);
        let (truth, seq) = open_truth(&*disk, &layout, &space)?;
        let last = Arc::new(AtomicU64::new(seq.0));
        let revisions = Arc::new(Revisions::new(seq));
        let bound = |name, capacity| {
            let bound = Bound::new(name, "", capacity);
            options.recorder.register(bound.clone());
            bound
        };
        options.recorder.register(space.bound());
        let connections =
            (0..options.readers.max(1)).map(|_| Sqlite::reader(&layout.truth())).collect::<Result<_, _>>()?;
        let readers = bound(BoundName::TruthReaders, options.reads_max);
        let readers = Pool::start("truth-reader", readers, connections).map_err(Error::thread)?;
        let blob_threads = bound(BoundName::BlobThreads, options.blob_operations_max);
        let contexts = vec![blobs.clone(); options.blob_threads.max(1)];
        let blob_threads = Pool::start("blobs", blob_threads, contexts).map_err(Error::thread)?;
        let renewed = Arc::new(AtomicU64::new(0));
        let cache = Cache::open(&layout.cache(), renewed.clone(), options.log.clone())?;
        let cache_threads = bound(BoundName::CacheThreads, options.cache_operations_max);
        let cache = Pool::start("cache", cache_threads, vec![cache]).map_err(Error::thread)?;
        options.recorder.gauge("cache.renewed", "Times the cache could not be read and was made anew", move || {
            renewed.load(Ordering::Relaxed)
        });
        let shipped = Arc::new(AtomicU64::new(seq.0));
        let bench = Bench {
            truth: Sqlite::reader(&layout.truth())?,
            space: space.clone(),
            layout: layout.clone(),
            clock: options.clock,
            log: options.log.clone(),
            recorder: options.recorder.clone(),
            last: last.clone(),
            shipped: shipped.clone(),
        };
        let shipper = Shipper::start(bench, options.ship_every)?;
        let desk = Desk { truth, disk: disk.clone(), space, revisions: revisions.clone(), last: last.clone() };
        let writer = Writer::start(bound(BoundName::TruthWriter, options.commits_max), desk)?;
        let journal_seq = last.clone();
        options.recorder.gauge("journal.seq", "Number of the last change", move || journal_seq.load(Ordering::Acquire));
        let shipped_seq = shipped.clone();
        options.recorder.gauge("journal.shipped_seq", "Number of the last change that is in a segment", move || {
            shipped_seq.load(Ordering::Acquire)
        });
        Ok(Arc::new(Self {
            layout,
            disk,
            revisions,
            last,
            shipped,
            writer,
            shipper,
            readers,
            blobs,
            blob_threads: Arc::new(blob_threads),
            cache,
            lock: Mutex::new(Some(lock)),
        }))
    }

    /// Makes all of a batch or nothing. When this returns, its changes last and every stamp that they touch is void.
    /// A batch is not taken back by dropping the future.
    pub async fn commit(&self, batch: Batch, event: &mut Event) -> Result<Seq, CommitError> {
        self.writer.commit(batch, event).await
    }

    /// One unit.
    pub async fn unit(&self, repository: RepositoryId, unit: &str, event: &mut Event) -> Result<UnitRows, Error> {
        let unit = unit.to_owned();
        self.read(event, move |truth| truth.unit(repository, &unit)).await
    }

    /// One entry.
    pub async fn entry(&self, id: RepositoryId, key: &str, event: &mut Event) -> Result<Option<Entry>, Error> {
        let key = key.to_owned();
        self.read(event, move |truth| truth.entry(id, &key)).await
    }

    /// Names of units with a live entry, after `after`, in byte order, `limit` at most.
    pub async fn units(
        &self,
        repository: RepositoryId,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<String>, Error> {
        let after = after.to_owned();
        self.read(event, move |truth| truth.units(repository, &after, limit)).await
    }

    /// Index lines of a repository after `after`, in the order of their numbers, `limit` at most.
    pub async fn lines(
        &self,
        repository: RepositoryId,
        after: Seq,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(Seq, String)>, Error> {
        self.read(event, move |truth| truth.lines(repository, after, limit)).await
    }

    /// Repositories that live, in byte order of their names.
    pub async fn repositories(&self, event: &mut Event) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        self.read(event, Catalog::repositories).await
    }

    /// Tokens that are not revoked, in byte order of their names.
    pub async fn tokens(&self, event: &mut Event) -> Result<Vec<TokenRecord>, Error> {
        self.read(event, Catalog::tokens).await
    }

    /// A setting; `None` where it has its default.
    pub async fn setting(&self, key: &str, event: &mut Event) -> Result<Option<serde_json::Value>, Error> {
        let key = key.to_owned();
        self.read(event, move |truth| truth.setting(&key)).await
    }

    /// The journal after `after`, `limit` rows at most.
    pub async fn journal(&self, after: Seq, limit: usize, event: &mut Event) -> Result<Vec<JournalRow>, Error> {
        self.read(event, move |truth| truth.journal(after, limit)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        event: &mut Event,
        read: impl FnOnce(&mut Sqlite) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.readers.run((Op::TruthWait, Op::TruthRead), event, read).await?
    }

    /// Begins to take bytes.
    pub async fn stage(&self, event: &mut Event) -> Result<Staged, Error> {
        let stage = |blobs: &mut Arc<Blobs>| blobs.stage();
        let writing = self.blob_threads.run((Op::BlobWait, Op::BlobWrite), event, stage).await??;
        Ok(Staged::new(self.blob_threads.clone(), self.blobs.clone(), writing))
    }

    /// The bytes of `digest`, and how many.
    pub async fn open_blob(&self, digest: Digest, event: &mut Event) -> Result<(File, u64), Error> {
        let open = move |blobs: &mut Arc<Blobs>| blobs.open_blob(&digest);
        self.blob_threads.run((Op::BlobWait, Op::BlobOpen), event, open).await?
    }

    /// Notes what `member` was proven to have. May be forgotten: by a crash, or when the cache is deleted.
    pub async fn note_fact(
        &self,
        member: RepositoryId,
        name: &str,
        fact: Fact,
        event: &mut Event,
    ) -> Result<(), Error> {
        let name = name.to_owned();
        let note = move |cache: &mut Cache| cache.note(member, &name, fact);
        self.cache.run((Op::CacheWait, Op::CacheWrite), event, note).await?
    }

    /// What `member` was last proven to have; the caller holds it against the time.
    pub async fn fact(&self, member: RepositoryId, name: &str, event: &mut Event) -> Result<Option<Fact>, Error> {
        let name = name.to_owned();
        let read = move |cache: &mut Cache| cache.fact(member, &name);
        self.cache.run((Op::CacheWait, Op::CacheRead), event, read).await?
    }

    /// Drops all facts about `member`.
    pub async fn forget_facts(&self, member: RepositoryId, event: &mut Event) -> Result<(), Error> {
        let forget = move |cache: &mut Cache| cache.forget(member);
        self.cache.run((Op::CacheWait, Op::CacheWrite), event, forget).await?
    }

    /// The counters that pages are held against.
    pub fn revisions(&self) -> &Arc<Revisions> {
        &self.revisions
    }

    /// The number of the last change that is committed.
    pub fn last(&self) -> Seq {
        Seq(self.last.load(Ordering::Acquire))
    }

    /// The number of the last change that is in a segment: how far a rebuild reaches.
    pub fn shipped(&self) -> Seq {
        Seq(self.shipped.load(Ordering::Acquire))
    }

    /// Ships all that is committed by now without waiting for its time, and says how far that is.
    pub async fn ship_now(&self, event: &mut Event) -> Result<Seq, Error> {
        self.shipper.now(event).await
    }

    /// Holds rows, blobs and segments against each other; with `verify` reads every byte of every blob. Waits for
    /// the disk. Meant for a store that nobody else writes to.
    pub fn check(&self, verify: bool, progress: &mut dyn FnMut(Progress)) -> Result<Report, Error> {
        check(&*self.disk, &self.layout, verify, progress)
    }

    #[cfg(test)]
    pub(crate) fn commits_under_way(&self) -> u64 {
        self.writer.under_way()
    }

    /// Where everything is.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Ends what is under way, and the threads. From then on everything is [`Error::Closed`]. Waits for the disk.
    pub fn close(&self) {
        let truth = self.writer.close();
        self.shipper.close();
        self.readers.close();
        self.blob_threads.close();
        self.cache.close();
        if let Some(truth) = truth {
            // The write-ahead log stays then, and the next start reads it.
            let _ = truth.close();
        }
        lock(&self.lock).take();
    }
}

/// The truth, with segments that hold the same journal up to its last row.
fn open_truth(disk: &dyn Disk, layout: &Layout, space: &Space) -> Result<(Sqlite, Seq), Error> {
    space.make_folder(&layout.segments())?;
    // The last process may have been killed between a segment's rename and the sync of the folder.
    space.sync_folder(&layout.segments())?;
    let segments = segments::list(disk, layout)?;
    let reached = segments.iter().map(|segment| segment.last).max().unwrap_or_default();
    if reached > Seq(0) && !layout.truth().exists() {
        return Err(Error::SegmentsAhead { segments: reached, truth: Seq(0) });
    }
    let mut truth = Sqlite::writer(&layout.truth())?;
    // SQLite syncs what is in its files; that the folder names them is for us to make last.
    RealDisk.sync_folder(layout.data()).map_err(Error::io("sync", layout.data()))?;
    let last = truth.last()?;
    if reached > last {
        return Err(Error::SegmentsAhead { segments: reached, truth: last });
    }
    let mut missing = segments::holes(&segments);
    missing.push((reached, last));
    for (mut after, until) in missing {
        while let Some((last, _)) = segments::ship(&truth, space, layout, after, until)? {
            after = last;
        }
    }
    Ok((truth, last))
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}
