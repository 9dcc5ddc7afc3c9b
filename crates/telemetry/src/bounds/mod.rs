//! Everything that can fill up, in one list, with the six figures that show how full it is.

pub(crate) mod cache_counts;
pub(crate) mod cache_name;
pub(crate) mod keyed_bound;
pub(crate) mod unit;

use crate::lock;
use crate::{CacheCounts, Histogram, Tick, Unit};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

macro_rules! bounds {
    ($($name:ident $text:literal $unit:ident [$($setting:literal)?] $doc:literal;)*) => {
        crate::closed_list! {
            /// A thing that can fill up. The text is its name in metrics and pages: `noun.noun`.
            #[derive(Hash)]
            pub enum BoundName { $(#[doc = $doc] $name = $text,)* }
        }

        impl BoundName {
            /// The unit that it counts in.
            pub fn unit(self) -> Unit {
                match self { $(BoundName::$name => Unit::$unit,)* }
            }

            /// The setting that governs its capacity.
            pub fn setting(self) -> Option<&'static str> {
                match self { $(BoundName::$name => bounds!(@setting $($setting)?),)* }
            }

            /// A description for people.
            pub fn doc(self) -> &'static str {
                match self { $(BoundName::$name => $doc,)* }
            }
        }
    };
    (@setting) => { None };
    (@setting $setting:literal) => { Some($setting) };
}

// The bounds without a setting, and why nobody needs one:
// - `connections.reserved` is for health checks and metrics alone.
// - `accept.queue` belongs to the kernel, which has settings of its own (`net.core.somaxconn`).
// - `requests.open` is a list for people. A request that is not in it is answered all the same.
// - `metrics.waiting`: one scrape is written at a time, and few programs scrape.
// - `hooks.hints`: a rejected hint counts as "anything may have changed", which costs one look at the upstream.
// - `views.made`: one index is rendered at a time, and the queue holds only requests that wait for it.
// - `contents.read`: one gem is read at a time, and the queue holds only requests of people that wait for it.
// - `requests`: each cost class has its own setting, and `Bound::set_setting` names it. Hooks and probes are short and have none.
// - `truth.writer` and `cache.threads` have one thread each (see `PoolName`). Their queues hold every request that the cost classes admit.
// - `cache.queue`: nothing is rejected. A request beyond it waits for the thread, which writes all of it in one transaction.
// - `snapshots.prune`: the hourly job does what was rejected.
// - `object.calls` has a place for each request that the cost classes admit, and one rejected is answered with 503.
// - `object.bytes`: nothing is rejected. A few large blobs fill any line to object storage.
// - `upstream.first_sights` holds the observations of a quarter of a second. A rejected one is written at once, and its download waits for that.
// - `flights.abandoned`: a rejected download is cancelled, and the next request for the file starts it again.
// - `flights.pieces`: a rejected download is written in smaller pieces.
// - `rollups.keys`: events beyond it are counted in sum.
// - `alerts.waiting`: there are at most 500 findings, and what a receiver knows is compared with them again after each look.
// - `profiles`: two profiles at once would only measure each other.
// - `tail.queue` holds what a listener reads within a moment. A slower one is told what it lost.
// - `upstream.koji_answer`: answers are parsed as they arrive, and a larger one would be refused as such.
// - `otlp.events` holds what a receiver takes within seconds. One that is away for longer loses events, which is counted.
// - `app.connections`: each backend has at most as many as the application has slots, and idle ones are closed after seconds.
// - `app.streams`: each of them is a connection of a client, which `server.max_connections` limits.
// - `last_uses`, `requests.paths` and `log.lines` are summaries and queues whose loss is counted and costs no request anything.
bounds! {
    Connections "connections" Connections ["server.max_connections"] "Open client connections, and on HTTP/2 the streams in progress beyond one for each connection";
    ClientConnections "client.connections" Connections ["server.max_connections_per_client"] "Open connections of the client address that has the most";
    ReservedConnections "connections.reserved" Connections [] "Connections above the limit, accepted only for health checks and metrics; each rejection closed one of them for a newer one";
    AcceptQueue "accept.queue" Connections [] "Connections that wait in the kernel to be accepted, looked at every ten seconds; the kernel counts rejections for all sockets together";
    Pages "pages" Bytes ["server.pages_bytes"] "Complete responses cached in memory";
    Indexes "indexes" Bytes ["server.indexes_bytes"] "Large indexes in memory, each shared by all its readers";
    UpstreamIndexes "upstream.indexes" Bytes ["upstream.indexes_bytes"] "Indexes of gem upstreams in memory; lines that do not fit are not loaded";
    KojiMaps "upstream.koji_maps" Bytes ["upstream.koji_maps_bytes"] "Maps of Koji repositories in memory; a map that does not fit is not loaded";
    Hints "hooks.hints" Hints [] "Webhook hints that wait until the upstream's index confirms them; a rejected hint counts as \"anything may have changed\"";
    Dependencies "dependencies" Bytes ["server.dependencies_bytes"] "Rows of the dependency API in memory";
    Views "views" Bytes ["server.views_bytes"] "Cached gem indexes that a policy filters, or of an earlier moment";
    ViewsMade "views.made" Indexes [] "Requests for a whole index of an earlier moment; one such index is rendered at a time";
    ContentReads "contents.read" Requests [] "Requests that read the content of a gem for a page, waiting or running; one gem is read at a time";
    Packages "packages" Bytes ["server.views_bytes"] "Versions of hosted packages, for web pages and searches; a quarter of the setting";
    Heads "heads" Bytes ["server.pushed_gems_bytes"] "State of recently pushed gems, so that the next push of the gem reads no rows";
    PageFiles "pages.files" Files ["server.page_files"] "Large cached responses that are also in kernel memory, to be sent without a copy";
    PageCompression "pages.compression" Pages ["server.max_compressions"] "Cached responses being compressed or waiting for it";
    Requests "requests" Requests [] "Requests in progress in a cost class";
    OpenRequests "requests.open" Requests [] "Requests in progress that outlasted their turn; a rejected one is not in the list of open requests";
    ClientRequests "client.requests" Requests ["server.client_share_percent"] "Requests in progress of the client or token that has the most in a cost class";
    TruthReaders "truth.readers" Reads ["store.readers"] "Reads of the truth database, waiting or running";
    TruthWriter "truth.writer" Commits [] "Commits of the truth database, waiting or running";
    CacheThreads "cache.threads" Operations [] "Operations on the cache database, waiting or running";
    CacheQueue "cache.queue" Bytes [] "Files and facts of upstreams that wait to be written into the cache together, each counted as at least 8 KiB; a request beyond it waits until its own is written";
    Cached "cached" Bytes ["store.cached_bytes"] "Cached files of upstreams, in whole disk blocks with their rows; the least recently used are evicted first";
    Facts "facts" Bytes ["store.facts_bytes"] "Cached facts on disk: which files upstream folders have and lack; the least recently changed are evicted first";
    FirstSeen "upstream.first_seen" Bytes ["upstream.first_seen_bytes"] "First-seen records of one upstream repository, the one that has the most; records beyond the capacity are not written";
    FirstSights "upstream.first_sights" Keys [] "Versions and files that were first seen at upstreams and wait for their common commit; the download of a rejected one waits for it";
    KnownFolders "facts.folders" Bytes ["store.known_folders_bytes"] "Cached facts in memory, for folders that were requested from groups";
    KojiAnswers "upstream.koji_answer" Bytes [] "Answers of Koji hubs that are being read, in bytes as they are unpacked; an answer that does not fit is not read";
    UpstreamPrefixes "upstream.prefixes" Bytes ["upstream.prefixes_bytes"] "Path prefixes in memory, of upstreams that publish a list of them";
    BlobThreads "blob.threads" Operations ["store.blob_threads"] "Operations on blobs, waiting or running";
    LocalBlobs "blobs.local" Bytes ["store.local_bytes"] "Blobs on the disk of a server that keeps its blobs in object storage; the least recently used ones are removed first, once object storage has them";
    ObjectCalls "object.calls" Operations [] "Operations on object storage, waiting or running";
    ObjectBytes "object.bytes" Bytes [] "Memory for the bytes of blobs on their way to and from object storage; an operation beyond it waits";
    WorkThreads "work.threads" Jobs ["server.workers"] "Jobs that render, hash or read packages, waiting or running";
    Folders "folders" Bytes ["server.folders_bytes"] "File names of folders in which a requested file was missing";
    Merging "merging" Bytes ["server.merging_bytes"] "Members' documents that are being merged for groups, and lists of folders that are being made or sent";
    AppSlots "app.slots" Requests ["app.slots"] "Requests that an application, or one of its lanes, works on; others wait";
    AppConnections "app.connections" Connections [] "Open connections to a backend of an application, idle ones too; WebSockets and event streams count in `app.streams`";
    AppBackground "app.background" Requests ["app.slots"] "Requests that fetch stale responses and pages of an application again while they are sent, a quarter of its slots; a rejected one is made later";
    AppStreams "app.streams" Connections [] "Open WebSockets and event streams of an application; they hold no slot";
    AppSpool "app.spool" Bytes ["app.spool_bytes"] "Uploads and responses of an application that wait in anonymous files for their reader";
    AppCache "app.cache" Bytes ["app.cache_bytes"] "Stored responses of an application in memory";
    AppPages "app.pages" Bytes ["app.cache_bytes"] "Pages that an application wrote, in memory; each is confirmed by its store before it is sent";
    AppPageReads "app.page_reads" Operations [] "Reads of a server that keeps the pages of an application, in progress; requests of rejected reads are passed on";
    AppPageConnections "app.page_connections" Connections [] "Open connections to a server that keeps the pages of an application, one for each core";
    OpenFiles "files.open" Files ["server.open_files"] "Files that are kept open for the next request";
    KnownFiles "upstream.known_files" Files [] "Rows of cached files in memory, for their checksums";
    FileThreads "file.threads" Reads ["server.file_threads"] "Reads of files for responses; only reads that need a thread wait";
    FileBuffers "file.buffers" Buffers ["server.file_buffers"] "Buffers of 64 KiB for files in responses";
    Flights "flights" Fetches ["upstream.max_fetches"] "Downloads from upstreams, each shared by all requests for the file";
    SnapshotPrunes "snapshots.prune" Jobs [] "Removals of old snapshot builds after a deploy; the hourly job does what was rejected";
    AbandonedFetches "flights.abandoned" Bytes [] "Bytes still to download of files that no request waits for; a rejected download is cancelled";
    FlightPieces "flights.pieces" Bytes [] "Bytes of downloads between the upstream and the disk, two pieces of 512 KiB for each; a rejected download is written in smaller ones";
    RepositoryFlights "repository.flights" Fetches ["upstream.max_fetches"] "Downloads of the repository that has the most";
    UpstreamWaiters "upstream.waiters" Requests ["server.max_waiting"] "Requests that wait for an upstream; they do not count in their cost class";
    RepositoryWaiters "repository.waiters" Requests ["server.max_waiting"] "Requests that wait for an upstream, of the repository that has the most";
    ClientWaiters "client.waiters" Requests ["server.max_waiting"] "Requests that wait for an upstream, of the client that has the most";
    UpstreamCalls "upstream.calls" Calls ["upstream.max_calls"] "Calls to an upstream host, waiting or running";
    UpstreamKept "upstream.kept" Connections ["upstream.max_calls"] "Idle connections to an upstream host, kept for the next call";
    EventBuffers "events.buffered" Events ["telemetry.events_buffered"] "Events that are not yet passed to the sinks";
    EventSink "events.sink" Events ["telemetry.events_buffered"] "Events in the queue of a sink";
    OtlpEvents "otlp.events" Events [] "Stored events that wait for the OpenTelemetry receiver";
    RecentEvents "events.recent" Bytes ["telemetry.events_recent_bytes"] "Events in memory that can be found by their id; failed and slow ones are kept longer";
    OpenEvents "events.open" Bytes ["telemetry.keep_memory_bytes"] "Kept events in memory, until they are in a segment; rejected are events that did not fit and were not on disk";
    EventIndexes "events.indexes" Bytes ["telemetry.keep_memory_bytes"] "Indexes of files of kept events in memory; the least recently used are read again when they are needed";
    KeptEvents "events.kept" Bytes ["telemetry.keep_bytes"] "Kept events on disk; the oldest are thinned and then removed";
    Rollups "rollups" Bytes ["telemetry.keep_bytes"] "Counts of events by minute and hour on disk; the oldest are removed first";
    RollupKeys "rollups.keys" Keys [] "Kinds of events in a minute that are counted apart; the events of further ones count as `(other)`, as many as were rejected";
    Profiles "profiles" Requests [] "Profiles of the server that are being taken; one at a time";
    TailListeners "tail.listeners" Requests ["server.max_tails"] "Listeners to live events";
    TailQueue "tail.queue" Bytes [] "Live events that wait for a listener, of the one for which most wait; it is told how many were rejected";
    LastUses "last_uses" Uses [] "Downloads whose last-used day is not yet written";
    Scrapes "metrics.waiting" Requests [] "Requests for `/metrics` that wait for the thread that writes it";
    AskedPaths "requests.paths" Bytes [] "Paths requested within the last day, with their counts";
    LogLines "log.lines" Lines [] "Log lines in the queue of the log's thread";
    Asks "asks" Questions ["server.max_asks"] "Questions about events that are being answered, or whose partial answers are kept for their callers";
    AskMemory "asks.memory" Bytes ["telemetry.ask_memory_bytes"] "Tables of questions about events, and the columns of the file that is being read; each rejection dropped the smallest groups of a question";
    AlertsWaiting "alerts.waiting" Alerts [] "Findings that opened or closed and that a receiver of alerts does not know yet; with a rejection it is told later";
    Disk "disk.free" Bytes ["store.free_space_floor_bytes"] "Bytes used on the data folder's file system; the capacity is the amount above which writing stops";
}

/// The figures of one thing that can fill up: capacity, used, waiting, rejected, highest, and the wait times.
#[derive(Debug)]
pub struct Bound {
    name: BoundName,
    /// Distinguishes bounds of the same name: the name of a sink, for example.
    which: String,
    capacity: AtomicU64,
    used: AtomicU64,
    waiters: AtomicU64,
    rejected: AtomicU64,
    highest: AtomicU64,
    waits: Mutex<Histogram>,
    /// The setting that governs the capacity.
    setting: OnceLock<&'static str>,
    /// The lookups, if this is the bound of a cache.
    cache: CacheCounts,
}

/// The bound is full. Nothing was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is full", .0.as_str())]
pub struct Full(pub BoundName);

impl Bound {
    /// A bound with a capacity in the unit of its name. Register it with [`crate::Recorder::register`].
    pub fn new(name: BoundName, which: &str, capacity: u64) -> Arc<Self> {
        Arc::new(Self {
            name,
            which: which.to_owned(),
            capacity: AtomicU64::new(capacity),
            used: AtomicU64::new(0),
            waiters: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
            highest: AtomicU64::new(0),
            waits: Mutex::new(Histogram::default()),
            setting: OnceLock::new(),
            cache: CacheCounts::default(),
        })
    }

    /// Its name in the list of bounds.
    pub fn name(&self) -> BoundName {
        self.name
    }

    /// Distinguishes bounds of the same name.
    pub fn which(&self) -> &str {
        &self.which
    }

    /// The setting that governs the capacity.
    pub fn setting(&self) -> Option<&'static str> {
        self.setting.get().copied().or_else(|| self.name.setting())
    }

    /// Sets which setting governs the capacity, for bounds of one name with different settings. Only the first call has an effect.
    pub fn set_setting(&self, setting: &'static str) {
        let _ = self.setting.set(setting);
    }

    /// The lookups of the cache that this bounds.
    pub fn cache(&self) -> &CacheCounts {
        &self.cache
    }

    /// The largest amount that may be taken at once.
    pub fn capacity(&self) -> u64 {
        self.capacity.load(Relaxed)
    }

    /// Changes the capacity on the running server.
    pub fn set_capacity(&self, capacity: u64) {
        self.capacity.store(capacity, Relaxed);
    }

    /// The amount that is taken now.
    pub fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// The largest amount that was ever taken at once.
    pub fn highest(&self) -> u64 {
        self.highest.load(Relaxed)
    }

    /// The number of rejections.
    pub fn rejected(&self) -> u64 {
        self.rejected.load(Relaxed)
    }

    /// The number of callers that wait now.
    pub fn waiters(&self) -> u64 {
        self.waiters.load(Relaxed)
    }

    /// The wait times of callers, in nanoseconds.
    pub fn waits(&self) -> Histogram {
        lock(&self.waits).clone()
    }

    /// How many callers waited. It copies no histogram.
    pub fn wait_count(&self) -> u64 {
        lock(&self.waits).count()
    }

    /// Takes one unit, or counts a rejection.
    pub fn enter(self: &Arc<Self>) -> Result<Slot, Full> {
        self.hold(1)
    }

    /// Takes `amount`, or counts a rejection. Dropping the guard gives it back.
    pub fn hold(self: &Arc<Self>, amount: u64) -> Result<Slot, Full> {
        self.take(amount).map(|()| Slot { bound: self.clone(), amount })
    }

    /// Takes `amount`, or counts a rejection. [`Bound::give`] gives it back.
    pub fn take(&self, amount: u64) -> Result<(), Full> {
        let capacity = self.capacity();
        let more = |used: u64| used.checked_add(amount).filter(|used| *used <= capacity);
        match self.used.fetch_update(Relaxed, Relaxed, more) {
            Ok(before) => {
                self.highest.fetch_max(before + amount, Relaxed);
                Ok(())
            }
            Err(_) => {
                self.reject();
                Err(Full(self.name))
            }
        }
    }

    /// Gives back what [`Bound::take`] took.
    pub fn give(&self, amount: u64) {
        self.used.fetch_sub(amount, Relaxed);
    }

    /// Sets how much is used, for things that measure themselves: the weight of a cache, the free space of a disk.
    pub fn observe(&self, used: u64) {
        self.used.store(used, Relaxed);
        self.highest.fetch_max(used, Relaxed);
    }

    /// Counts a rejection that did not come from [`Bound::take`].
    pub fn reject(&self) {
        self.reject_many(1);
    }

    /// Counts several such rejections.
    pub fn reject_many(&self, count: u64) {
        self.rejected.fetch_add(count, Relaxed);
    }

    /// A caller begins to wait. Dropping the guard ends that and records how long it took.
    pub fn wait(self: &Arc<Self>) -> Waiting {
        self.waiters.fetch_add(1, Relaxed);
        Waiting { bound: self.clone(), began: Tick::now() }
    }

    /// Records a wait that was measured elsewhere.
    pub fn waited(&self, nanos: u64) {
        lock(&self.waits).record(nanos);
    }
}

/// An amount taken of a bound. Dropping it gives the amount back.
#[derive(Debug)]
pub struct Slot {
    bound: Arc<Bound>,
    amount: u64,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.bound.give(self.amount);
    }
}

/// A waiting caller. Dropping it ends the wait, perhaps on another thread.
#[derive(Debug)]
pub struct Waiting {
    bound: Arc<Bound>,
    began: Tick,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.bound.waiters.fetch_sub(1, Relaxed);
        self.bound.waited(Tick::now().since(self.began));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_bound_turns_away_counts_it_and_recovers() {
        let bound = Bound::new(BoundName::Requests, "", 1);
        let slot = bound.enter().unwrap();
        assert_eq!(bound.enter().unwrap_err(), Full(BoundName::Requests));
        assert_eq!((bound.used(), bound.rejected(), bound.highest()), (1, 1, 1));
        drop(slot);
        assert!(bound.enter().is_ok());
    }

    #[test]
    fn a_large_request_never_causes_another_one_to_be_rejected() {
        let bound = Bound::new(BoundName::Pages, "", 10);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..10_000).for_each(|_| assert!(bound.take(100).is_err())));
            scope.spawn(|| (0..10_000).for_each(|_| bound.take(10).map(|()| bound.give(10)).unwrap()));
        });
        assert_eq!((bound.used(), bound.highest(), bound.rejected()), (0, 10, 10_000));
    }

    #[test]
    fn a_wait_is_counted_while_it_lasts_and_recorded_when_it_ends() {
        let bound = Bound::new(BoundName::TruthReaders, "", 1);
        let waiting = bound.wait();
        assert_eq!((bound.waiters(), bound.waits().count()), (1, 0));
        drop(waiting);
        assert_eq!((bound.waiters(), bound.waits().count()), (0, 1));
    }
}
