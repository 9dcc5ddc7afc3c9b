//! Opens a store. Each step relies on the previous ones.

use super::Store;
use super::collect::CollectorFigures;
use crate::blobs::Blobs;
use crate::blobs::deletion::Deletion;
use crate::blobs::files::names;
use crate::blobs::missing::MissingBlobs;
use crate::cache::{Cache, CacheBounds, FileCache, boot_id};
use crate::disk::cluster::ClusterId;
use crate::disk::layout::Layout;
use crate::disk::node;
use crate::disk::space::Space;
use crate::error::{Error, Result};
use crate::journal::clock::JournalClock;
use crate::journal::recent_rows::RecentRows;
use crate::journal::record::Seq;
use crate::journal::segments;
use crate::journal::shipper::{Shipment, Shipper};
use crate::objects::place::belongs;
use crate::objects::state::ObjectsState;
use crate::pool::{Pool, PoolOptions, Threads};
use crate::store::holdings::Holdings;
use crate::store::open_objects::{Around, ObjectParts};
use crate::store::open_truth::{Opened, open_truth};
use crate::store::options::StoreOptions;
use crate::truth::catalog::{Catalog, EntryReads as _, JournalReads as _};
use crate::truth::postgres::{Answers, Folder, Freshness, Leases, Ordered};
use crate::truth::sqlite::{Sqlite, WITHOUT_SHARED_FILE};
use crate::writer::Writer;
use crate::writer::committer::{CLOCK_CORRECTION, Committer};
use crate::writer::first_seen_budget::FirstSeenBudget;
use crate::writer::revision::Revisions;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName, Metric, Op, PoolName, Recorder};

impl Store {
    /// Locks the folder, repairs the files of a killed process, and starts the threads. Blocks on the disk.
    pub fn open(options: StoreOptions) -> Result<Arc<Self>> {
        let StoreOptions { clock, recorder, log, disk, .. } = options;
        let layout = Layout::new(&options.data);
        let lock = layout.lock()?;
        let space = Space::new(disk.clone(), options.data, options.floor_bytes, log.clone());
        let space = Arc::new(if options.reserve { space.with_reserve() } else { space });
        let vfs = space.make_room().then_some(WITHOUT_SHARED_FILE);
        if vfs.is_some() {
            let text =
                "the disk is full: no other process, such as `daylight backup`, can read the databases until a restart";
            log.warn(text, &[("hint", &"free space on the disk, and restart the server")]);
        }
        layout.claim(&*disk, &space)?;
        // Says in the log whether content can be written.
        let _ = space.check();
        let node = node::read_or_make(&*disk, &layout, &space)?;
        belongs(&*disk, &layout, options.objects.as_ref())?;
        let place = options.objects.as_ref().map(|objects| objects.url.clone());
        let object_parts = options.objects.map(ObjectParts::new);
        let local = object_parts.as_ref().map(|parts| parts.local.clone());
        let blobs = Arc::new(Blobs::open(disk.clone(), layout.clone(), space.clone(), local)?);
        let cluster = ClusterId::read(&*disk, &layout, space.clone())?;
        let has_database = options.database.is_some();
        if cluster.get().is_some() && !has_database {
            return Err(Error::InCluster(layout.data().to_owned()));
        }
        let Opened { truth, segments } = open_truth(&*disk, vfs, &layout, &space, &log, has_database)?;
        let (mut everywhere, mut was_lost) = (false, false);
        let (mut truth, link) = match options.database {
            None => (boxed(truth), None),
            Some(database) => {
                everywhere = database.everywhere;
                let (mut copy, folder) = (truth.into_copy()?, Folder { id: node, cluster });
                was_lost = copy.last()? == Seq(0);
                let mut ordered = Ordered::new(copy, database, folder, clock.clone(), log.clone(), &recorder)?;
                ordered.check_place(place.as_deref())?;
                ordered.catch_up()?;
                let has_blobs = object_parts.is_some() || !names(&*disk, &layout.blobs_by_digest())?.is_empty();
                if !has_blobs && ordered.blob_count()? > 0 {
                    let hint = "bring back the folder `blobs` of the data folder, or set `store.objects` where object storage has them";
                    log.warn(
                        "the database has no bytes of packages, and this data folder has none",
                        &[("hint", &hint)],
                    );
                }
                let link = ordered.link();
                link.take_name()?;
                if place.is_none() && link.member().living() > 1 {
                    let text = "several nodes work on this database, and each has only the bytes of the packages that it got itself";
                    log.warn(text, &[("hint", &"set `store.objects` to the same place on all nodes")]);
                }
                (Box::new(ordered) as Box<dyn Catalog>, Some(link))
            }
        };
        let seq = truth.last()?;
        was_lost &= seq > Seq(0);
        // Without it a message of an earlier program is less precise.
        let _ = layout.note_program();
        // A database has a clock of its own, with which that of this machine is compared instead.
        let jump_ms = match link {
            None => i64::try_from(options.clock_jump.as_millis()).unwrap_or(i64::MAX),
            Some(_) => i64::MAX,
        };
        let correction = truth.setting(CLOCK_CORRECTION)?.and_then(|value| value.as_i64()).unwrap_or_default();
        let journal_clock =
            Arc::new(JournalClock::new(clock.clone(), truth.last_moment()?, jump_ms, correction, log.clone()));
        let gaps = segments::gaps(&segments);
        let last_at_start = segments::last_row(&segments);
        let whole_until = gaps.first().map_or(last_at_start, |gap| gap.after);
        let [last, shipped, renewed] = [seq.0, whole_until.0, 0].map(|figure| Arc::new(AtomicU64::new(figure)));
        let revisions = Arc::new(Revisions::new(seq));
        let recent = RecentRows::new(disk.clone(), space.clone(), layout.clone(), log.clone(), seq)?;
        let recent = Arc::new(recent);
        let bound = |name, capacity| {
            let bound = Bound::new(name, "", capacity);
            recorder.register(bound.clone());
            bound
        };
        recorder.register(space.bound());
        let first_seen = Arc::new(FirstSeenBudget::new(options.first_seen_max_bytes));
        recorder.register(first_seen.bound().clone());
        let holdings = Arc::new(Holdings::default());
        let file_cache = FileCache::new(disk.clone(), layout.cached(), boot_id());
        let files = bound(BoundName::Cached, options.cached_max_bytes);
        let presence = bound(BoundName::Facts, options.facts_max_bytes);
        let cache_bounds = CacheBounds { files, presence, folders_bytes: options.known_folders_max_bytes };
        let cache = Cache::open(
            &layout.cache(),
            vfs,
            file_cache,
            cache_bounds.clone(),
            holdings.clone(),
            renewed.clone(),
            log.clone(),
        )?;
        let (presence, last_verified) = (cache.presence().clone(), cache.last_verified().clone());
        let (arrivals, changed_upstreams) = (cache.arrivals().clone(), cache.changed_upstreams().clone());
        recorder.register(presence.bound().clone());
        recorder.register(arrivals.bound().clone());
        figure(&recorder, Metric::gauge("journal_seq", "Number of the last change"), &last);
        let doc = "Number of the last change that is in a segment";
        figure(&recorder, Metric::gauge("journal_shipped_seq", doc), &shipped);
        let doc = "How often the cache database could not be read and was replaced by an empty one";
        figure(&recorder, Metric::counter("cache_renewed_total", doc), &renewed);
        let database = link.as_ref().map(|link| link.state().clone());
        let last_backup = Arc::new(AtomicU64::new(layout.last_backup_seconds()));
        let doc = "When the last backup of the data folder ended, in seconds since 1970; 0 if none is known";
        figure(&recorder, Metric::gauge("backup_timestamp_seconds", doc), &last_backup);

        let connections = (0..options.readers.max(1))
            .map(|_| Sqlite::reader_by(vfs, &layout.truth())?.with_memory(options.reader_cache_bytes).map(boxed))
            .collect::<Result<_, _>>()?;
        let for_readers = PoolOptions {
            threads: Threads::Working("truth-reader"),
            pool: PoolName::TruthReaders,
            bound: BoundName::TruthReaders,
            capacity: options.reads_max,
            wait: Op::TruthWait,
        };
        let readers = Pool::start(for_readers, &recorder, connections)?;
        let for_blobs = PoolOptions {
            threads: Threads::Waiting("blobs"),
            pool: PoolName::BlobThreads,
            bound: BoundName::BlobThreads,
            capacity: options.blob_operations_max,
            wait: Op::BlobWait,
        };
        let blob_threads = Pool::start(for_blobs, &recorder, vec![blobs.clone(); options.blob_threads.max(1)])?;
        let blob_threads = Arc::new(blob_threads);
        let for_cache = PoolOptions {
            threads: Threads::Waiting("cache"),
            pool: PoolName::CacheThreads,
            bound: BoundName::CacheThreads,
            capacity: options.cache_operations_max,
            wait: Op::CacheWait,
        };
        let cache = Pool::start(for_cache, &recorder, vec![cache])?;
        let shipment = Shipment {
            truth: boxed(Sqlite::reader_by(vfs, &layout.truth())?),
            disk: disk.clone(),
            space: space.clone(),
            layout: layout.clone(),
            log: log.clone(),
            recorder: recorder.clone(),
            recent: recent.clone(),
            clock: journal_clock.clone(),
            last: last.clone(),
            shipped: shipped.clone(),
            last_backup,
            last_at_start,
            gaps,
            young: segments.iter().map(segments::weight).sum(),
            failing: false,
            objects: object_parts.as_ref().map(|parts| parts.bell.clone()),
        };
        let shipper = Shipper::start(shipment, options.ship_every)?;
        let mut committer = Committer::new(
            truth,
            space.clone(),
            first_seen.clone(),
            revisions.clone(),
            recent,
            last.clone(),
            journal_clock.clone(),
        )?;
        committer.count_in(holdings.clone())?;
        let (membership, followed) = (committer.membership(), committer.followed());
        let leases = link.as_ref().map_or_else(Leases::alone, |link| link.member().leases.clone());
        let deletion = Deletion::new(blobs.clone(), options.blob_life);
        let writer = {
            let (bound, threads) =
                (bound(BoundName::TruthWriter, options.commits_max), recorder.pool(PoolName::TruthWriter, 1));
            Arc::new(Writer::start(bound, threads, committer, deletion)?)
        };
        let objects = match object_parts {
            Some(parts) => Some(parts.start(Around {
                truth: boxed(Sqlite::reader_by(vfs, &layout.truth())?),
                writer: has_database.then(|| writer.clone()),
                was_lost,
                blobs: blobs.clone(),
                threads: blob_threads.clone(),
                disk: disk.clone(),
                layout: layout.clone(),
                space: space.clone(),
                recorder: recorder.clone(),
                log: log.clone(),
                leases: leases.clone(),
            })?),
            None => None,
        };
        let of_database = database.clone();
        let of_objects = objects.as_ref().map(|objects| objects.blobs.calls.state.clone());
        let is_away = move || {
            of_database.as_deref().is_some_and(|database| database.is_away() || database.clock_doubt().is_some())
                || of_objects.as_deref().is_some_and(ObjectsState::is_away)
        };
        space_figures(&recorder, &space, &journal_clock, is_away);
        let member = link.as_ref().map(|link| link.member().clone());
        if let (Some(link), Some(member)) = (&link, &member) {
            let answers = Answers { revisions: revisions.clone(), membership: membership.clone() };
            member.freshness.change_answers(answers);
            member.saw(seq, false);
            link.ring(writer.bell());
            link.begin_serving();
        }
        let collector = Arc::new(CollectorFigures::default());
        collector_figures(&recorder, &collector);
        Ok(Arc::new(Self {
            layout,
            disk,
            revisions,
            last,
            journal_clock,
            node,
            shipped,
            writer,
            shipper,
            readers,
            readability: Arc::default(),
            vfs,
            blobs,
            blob_threads,
            objects,
            missing: MissingBlobs::new(log.clone()),
            cache,
            arrivals,
            changed_upstreams,
            presence,
            cache_bounds,
            last_verified,
            verifying: Arc::default(),
            log,
            blob_life: options.blob_life,
            collector,
            space,
            first_seen,
            membership,
            followed,
            holdings,
            database,
            leases,
            freshness: member.as_ref().map_or_else(Freshness::always, |member| member.freshness.clone()),
            everywhere: member.as_ref().filter(|_| everywhere).map(|member| member.everywhere.clone()),
            member,
            lock: Mutex::new(Some(lock)),
        }))
    }
}

fn collector_figures(recorder: &Recorder, of: &Arc<CollectorFigures>) {
    let figure = |metric, read: fn(&CollectorFigures) -> f64| {
        let of = of.clone();
        recorder.figure(metric, move || read(&of));
    };
    let doc = "Blobs that the collector deleted because nothing needed them";
    figure(Metric::counter("collector_deleted_blobs_total", doc), |all| relaxed(&all.collected));
    let doc = "Bytes of the blobs that the collector deleted";
    figure(Metric::counter("collector_freed_bytes_total", doc), |all| relaxed(&all.freed_bytes));
    let doc = "Blobs that nothing needed in the last round of the collector, and that it deletes later";
    figure(Metric::gauge("collector_marked_blobs", doc), |all| relaxed(&all.marked));
    let doc = "How long the last round of the collector took";
    figure(Metric::gauge("collector_round_seconds", doc), |all| relaxed(&all.last_round_ms) / 1e3);
}

fn relaxed(figure: &AtomicU64) -> f64 {
    figure.load(Ordering::Relaxed) as f64
}

fn figure(recorder: &Recorder, metric: Metric, of: &Arc<AtomicU64>) {
    let of = of.clone();
    recorder.figure(metric, move || of.load(Ordering::Acquire) as f64);
}

fn space_figures(
    recorder: &Recorder,
    space: &Arc<Space>,
    clock: &Arc<JournalClock>,
    is_away: impl Fn() -> bool + Send + Sync + 'static,
) {
    let figure = |metric, read: fn(&Space) -> u64| {
        let space = space.clone();
        recorder.figure(metric, move || read(&space) as f64);
    };
    let doc = "Free bytes of the file system of the data folder, measured every second and before each write";
    figure(Metric::gauge("disk_free_bytes", doc), Space::free_bytes);
    let doc = "Free bytes below which no packages, cached files or events are written";
    figure(Metric::gauge("disk_floor_bytes", doc), Space::floor_bytes);
    let doc = "1 while nothing is written: the disk is full or below the floor, a sync failed, the clock is doubted, or the database or object storage is away";
    let (space, clock) = (space.clone(), clock.clone());
    let read_only = move || f64::from(u8::from(space.read_only().is_some() || clock.doubt().is_some() || is_away()));
    recorder.figure(Metric::gauge("read_only", doc), read_only);
}

fn boxed(reader: Sqlite) -> Box<dyn Catalog> {
    Box::new(reader)
}
