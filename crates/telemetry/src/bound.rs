//! Everything that can fill up, in one list, with the six figures that show whether it does.

use crate::{Histogram, Tick};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

macro_rules! bounds {
    ($($name:ident $text:literal $unit:literal $doc:literal;)*) => {
        /// A thing that can fill up. The text is its name in metrics and pages.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum BoundName { $(#[doc = $doc] $name,)* }

        impl BoundName {
            /// All of them, in the order of declaration.
            pub const ALL: &'static [BoundName] = &[$(BoundName::$name,)*];

            /// The name used in metrics: `noun.noun`.
            pub fn as_str(self) -> &'static str {
                match self { $(BoundName::$name => $text,)* }
            }

            /// What is counted: `requests`, `bytes`.
            pub fn unit(self) -> &'static str {
                match self { $(BoundName::$name => $unit,)* }
            }

            /// What it is, for people.
            pub fn doc(self) -> &'static str {
                match self { $(BoundName::$name => $doc,)* }
            }
        }
    };
}

bounds! {
    Connections "connections" "connections" "Open client connections, and what is under way on those of HTTP/2 beyond one request each";
    ClientConnections "client.connections" "connections" "The same of the one client that has most";
    ReservedConnections "connections.reserved" "connections" "Connections beyond those that may be open, let in for a probe or metrics; what is turned away made room for a later one";
    Pages "pages" "bytes" "Complete answers in memory";
    Indexes "indexes" "bytes" "Large indexes in memory, each shared by all who read it";
    UpstreamIndexes "upstream.indexes" "bytes" "What is known of the indexes of upstreams of gems, in memory; lines that do not fit are not taken";
    Hints "hooks.hints" "hints" "Hints of hooks that upstreams did not come to agree with yet; what is turned away is taken as a hint that anything changed";
    Dependencies "dependencies" "bytes" "What the dependency API says of gems, in memory";
    Views "views" "bytes" "Indexes of gems as a policy shows them, or as of a moment, that are kept for whoever asks for the same";
    ViewsMade "views.made" "indexes" "Whole indexes as of earlier moments that are wanted; one is made at a time";
    Heads "heads" "bytes" "What a push needs to know of its gem, for gems that were pushed of late";
    PageFiles "pages.files" "files" "Large pages that the kernel holds as well, to send them without a copy";
    PageCompression "pages.compression" "pages" "Pages waiting to be compressed, or being compressed";
    Requests "requests" "requests" "Requests of a cost class under way, until they are answered";
    ClientRequests "client.requests" "requests" "The same of the one client, or the one token, that has most";
    TruthReaders "truth.readers" "reads" "Reads of the truth database, waiting or under way";
    TruthWriter "truth.writer" "commits" "Commits waiting for the one writer or under way";
    CacheThreads "cache.threads" "operations" "Operations on the cache database, waiting or under way";
    Cached "cached" "bytes" "Files of upstreams that are kept, in whole blocks and with their rows; those used least go first";
    Facts "facts" "bytes" "What upstreams were proven to have and not to have, by folder, on the disk; what was changed longest ago goes first";
    FirstSeen "upstream.first_seen" "bytes" "What was first seen of an upstream, and when, in the truth and in segments, of the one repository that has most; what comes after is not written down";
    KnownFolders "facts.folders" "bytes" "The same of folders that groups were asked for files of, in memory";
    UpstreamPrefixes "upstream.prefixes" "bytes" "Beginnings of all paths of upstreams whose lists of them are used, in memory";
    BlobThreads "blob.threads" "operations" "Operations on blobs, waiting or under way";
    WorkThreads "work.threads" "jobs" "Rendering, hashing and reading of packages, waiting or under way";
    Folders "folders" "bytes" "Names of the files in folders that were asked for what they do not hold";
    Merging "merging" "bytes" "Documents of members that groups make one of at this moment, as long as they are written";
    OpenFiles "files.open" "files" "Files that are kept open, so that who asks for one again is sent it at once";
    FileThreads "file.threads" "reads" "Reads of files on their way to clients; waits are for a thread";
    FileBuffers "file.buffers" "buffers" "Buffers with parts of files on their way to clients, 64 KiB each";
    Flights "flights" "fetches" "Files being fetched from upstreams, each once however many wait for it";
    SnapshotPrunes "snapshots.prune" "jobs" "Snapshots whose old builds are taken away after a new one; what is turned away is done by the hourly job";
    AbandonedFetches "flights.abandoned" "bytes" "What is left to fetch of files that nobody waits for any more; what is turned away is not fetched";
    RepositoryFlights "repository.flights" "fetches" "The same of the one repository that has most";
    UpstreamWaiters "upstream.waiters" "requests" "Requests that have waited for an upstream and are not answered yet; they take no place of a cost class";
    RepositoryWaiters "repository.waiters" "requests" "The same of the one repository that has most";
    ClientWaiters "client.waiters" "requests" "The same of the one client that has most";
    UpstreamCalls "upstream.calls" "calls" "Calls to an upstream's host, waiting or under way";
    UpstreamKept "upstream.kept" "connections" "Connections to an upstream's host that are kept for the next call";
    EventBuffers "events.buffered" "events" "Events waiting to be handed to the sinks";
    EventSink "events.sink" "events" "Events waiting for a sink";
    RecentEvents "events.recent" "bytes" "Events that are kept in memory for who has the id of one; those that failed or were slow stay longer";
    LastUses "last_uses" "uses" "Downloads whose day is not written yet";
    AskedPaths "requests.paths" "bytes" "Paths that clients asked repositories for within the last day, and how often";
    LogLines "log.lines" "lines" "Lines of the logs waiting to be written";
    Disk "disk.free" "bytes" "Space of the data folder's file system, used up to the floor";
}

/// The figures of one thing that can fill up: capacity, used, waiting, rejected, highest, and the times that were waited.
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

    /// The most that may be taken.
    pub fn capacity(&self) -> u64 {
        self.capacity.load(Relaxed)
    }

    /// Changes the capacity on the running server.
    pub fn set_capacity(&self, capacity: u64) {
        self.capacity.store(capacity, Relaxed);
    }

    /// How much is taken now.
    pub fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// The most that was ever taken.
    pub fn highest(&self) -> u64 {
        self.highest.load(Relaxed)
    }

    /// How often something was rejected.
    pub fn rejected(&self) -> u64 {
        self.rejected.load(Relaxed)
    }

    /// How many callers wait now.
    pub fn waiters(&self) -> u64 {
        self.waiters.load(Relaxed)
    }

    /// How long callers waited, in nanoseconds.
    pub fn waits(&self) -> Histogram {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).record(nanos);
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
