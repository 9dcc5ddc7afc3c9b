//! From a folder to a store: in the order in which each thing may rely on the one before.

use super::Store;
use crate::blobs::Blobs;
use crate::cache::{Cache, Shelf, boot};
use crate::desk::Desk;
use crate::disk::{Disk, RealDisk};
use crate::first_seen::Budget;
use crate::layout::Layout;
use crate::pool::{Pool, Threads};
use crate::segments::{self, Segment};
use crate::shipper::{Bench, Shipper};
use crate::space::Space;
use crate::writer::Writer;
use crate::{Catalog, Error, Revisions, Seq, Sqlite, StoreOptions};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName, Recorder};

/// Bytes of the disk for facts about upstreams: some 8 million folders of theirs.
const FACTS_MAX_BYTES: u64 = 2 << 30;

impl Store {
    /// Takes the folder, sets right what the last process left, and starts the threads. Waits for the disk.
    pub fn open(options: StoreOptions) -> Result<Arc<Self>, Error> {
        let StoreOptions { clock, recorder, log, disk, .. } = options;
        let layout = Layout::new(&options.data);
        let lock = layout.lock()?;
        let space = Arc::new(Space::new(disk.clone(), options.data, options.floor_bytes, log.clone()));
        layout.claim(&*disk, &space)?;
        let blobs = Arc::new(Blobs::open(disk.clone(), layout.clone(), space.clone())?);
        let (truth, seq, segments) = open_truth(&*disk, &layout, &space)?;
        let missing = segments::holes(&segments);
        let whole_until = missing.first().map_or_else(|| segments::reached(&segments), |(after, _)| *after);
        let [last, shipped, renewed] = [seq.0, whole_until.0, 0].map(|figure| Arc::new(AtomicU64::new(figure)));
        let revisions = Arc::new(Revisions::new(seq));
        let bound = |name, capacity| {
            let bound = Bound::new(name, "", capacity);
            recorder.register(bound.clone());
            bound
        };
        recorder.register(space.bound());
        let first_seen = Arc::new(Budget::new(options.first_seen_max_bytes));
        recorder.register(first_seen.bound().clone());
        let shelf = Shelf::new(disk.clone(), layout.cached(), boot());
        let room = bound(BoundName::Cached, options.cached_max_bytes);
        let rooms = (room, bound(BoundName::Facts, FACTS_MAX_BYTES));
        let cache = Cache::open(&layout.cache(), shelf, rooms, renewed.clone(), log.clone())?;
        let (folders, looked) = (cache.folders().clone(), cache.looked().clone());
        recorder.register(folders.bound().clone());
        figure(&recorder, "journal.seq", "Number of the last change", &last);
        figure(&recorder, "journal.shipped_seq", "Number of the last change that is in a segment", &shipped);
        figure(&recorder, "cache.renewed", "Times the cache could not be read and was made anew", &renewed);

        let reader = |_| Sqlite::reader(&layout.truth());
        let connections = (0..options.readers.max(1)).map(reader).collect::<Result<_, _>>()?;
        let readers = Pool::start(
            Threads::Working("truth-reader"),
            (BoundName::TruthReaders, options.reads_max),
            &recorder,
            connections,
        )?;
        let contexts = vec![blobs.clone(); options.blob_threads.max(1)];
        let blob_threads = Pool::start(
            Threads::Waiting("blobs"),
            (BoundName::BlobThreads, options.blob_operations_max),
            &recorder,
            contexts,
        )?;
        let cache = Pool::start(
            Threads::Waiting("cache"),
            (BoundName::CacheThreads, options.cache_operations_max),
            &recorder,
            vec![cache],
        )?;
        let bench = Bench {
            truth: reader(0)?,
            space: space.clone(),
            layout: layout.clone(),
            clock,
            log: log.clone(),
            recorder: recorder.clone(),
            last: last.clone(),
            shipped: shipped.clone(),
            reached: segments::reached(&segments),
            missing,
            failing: false,
        };
        let shipper = Shipper::start(bench, options.ship_every)?;
        let desk = Desk::new(truth, disk.clone(), space.clone(), first_seen.clone(), revisions.clone(), last.clone())?;
        let holders = desk.holders();
        let writer = Writer::start(bound(BoundName::TruthWriter, options.commits_max), desk)?;
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
            folders,
            looked,
            looking: Arc::default(),
            log,
            space,
            first_seen,
            holders,
            lock: Mutex::new(Some(lock)),
        }))
    }
}

fn figure(recorder: &Recorder, name: &'static str, doc: &'static str, of: &Arc<AtomicU64>) {
    let of = of.clone();
    recorder.gauge(name, doc, move || of.load(Ordering::Acquire));
}

/// The truth, which reaches as far as the segments or further; where it ends; and the segments.
fn open_truth(disk: &dyn Disk, layout: &Layout, space: &Space) -> Result<(Sqlite, Seq, Vec<Segment>), Error> {
    space.make_folder(&layout.segments())?;
    // The last process may have been killed between a segment's rename and the sync of the folder.
    space.sync_folder(&layout.segments())?;
    let segments = segments::list(disk, layout)?;
    let reached = segments::reached(&segments);
    if reached > Seq(0) && !layout.truth().exists() {
        return Err(Error::SegmentsAhead { segments: reached, truth: Seq(0) });
    }
    let mut truth = Sqlite::writer(&layout.truth())?;
    // SQLite syncs what is in its files; that the folder names them is for us to make last.
    let folder = RealDisk.open_folder(layout.data());
    folder.and_then(|folder| folder.sync()).map_err(Error::io("sync", layout.data()))?;
    let last = truth.last()?;
    if reached > last {
        return Err(Error::SegmentsAhead { segments: reached, truth: last });
    }
    Ok((truth, last, segments))
}
