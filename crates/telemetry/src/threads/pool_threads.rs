//! The threads of every pool, and how many of them work. With the waits of its bound they show whether a pool has too few threads.

use crate::Tick;
use crate::lock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

macro_rules! pools {
    ($($name:ident $text:literal [$($setting:literal)?] $doc:literal;)*) => {
        crate::closed_list! {
            /// A pool of threads. One with a bound has the name of the bound.
            #[derive(Hash)]
            pub enum PoolName { $(#[doc = $doc] $name = $text,)* }
        }

        impl PoolName {
            /// The setting with the number of its threads.
            pub fn setting(self) -> Option<&'static str> {
                match self { $(PoolName::$name => pools!(@setting $($setting)?),)* }
            }

            /// A description for people.
            pub fn doc(self) -> &'static str {
                match self { $(PoolName::$name => $doc,)* }
            }
        }
    };
    (@setting) => { None };
    (@setting $setting:literal) => { Some($setting) };
}

// Two pools have one thread and no setting. SQLite has one writer at a time, so a second thread for commits would only wait. The facts about
// folders in memory equal the rows of the cache database because one thread changes both.
pools! {
    Cores "cores" ["server.cores"] "Threads that serve requests";
    TruthReaders "truth.readers" ["store.readers"] "Threads that read the truth database";
    TruthWriter "truth.writer" [] "The thread that writes the truth database";
    CacheThreads "cache.threads" [] "The thread of the cache database";
    BlobThreads "blob.threads" ["store.blob_threads"] "Threads that read and write blobs";
    WorkThreads "work.threads" ["server.workers"] "Threads that render, hash and read packages";
    FileThreads "file.threads" ["server.file_threads"] "Threads that read files for responses when the kernel does not have them in memory";
    Back "back" ["server.back_threads"] "Threads for work that no client waits for: downloads from upstreams, jobs, signals";
}

/// The figures of one pool.
pub struct PoolThreads {
    name: PoolName,
    threads: u64,
    busy: AtomicU64,
    peak: AtomicU64,
    nanos: AtomicU64,
    squares: AtomicU64,
    /// Threads that count their own work.
    others: Mutex<Vec<ReadWork>>,
}

type ReadWork = Box<dyn Fn() -> Work + Send + Sync>;

/// The work of threads that count it themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Threads that work now.
    pub busy: u64,
    /// How long they have worked since the start, in nanoseconds.
    pub nanos: u64,
    /// The sum of the squares of the times of each piece of work, in square microseconds; it wraps around. 0 of threads that count their own work.
    pub squares: u64,
}

/// The longest time whose square is counted, in microseconds.
const SQUARED_MAX: u64 = 1_000_000_000;

impl PoolThreads {
    /// A pool of this number of threads, all idle. [`crate::Recorder::pool`] makes one that metrics show.
    pub(crate) fn new(name: PoolName, threads: u64) -> Arc<Self> {
        let [busy, peak, nanos, squares] = [0; 4].map(AtomicU64::new);
        Arc::new(Self { name, threads, busy, peak, nanos, squares, others: Mutex::default() })
    }

    /// Its name.
    pub fn name(&self) -> PoolName {
        self.name
    }

    /// How many threads it has.
    pub fn threads(&self) -> u64 {
        self.threads
    }

    /// A thread begins to work. Dropping the guard ends that.
    pub fn work(&self) -> Working<'_> {
        let busy = self.busy.fetch_add(1, Relaxed) + 1;
        self.peak.fetch_max(busy, Relaxed);
        Working { pool: self, began: Tick::now() }
    }

    /// Adds threads that count their own work. `read` is called when metrics are requested, and must take constant time.
    pub fn add(&self, read: impl Fn() -> Work + Send + Sync + 'static) {
        lock(&self.others).push(Box::new(read));
    }

    /// The work of all threads now.
    pub fn read(&self) -> Work {
        let others = lock(&self.others);
        let [busy, nanos, squares] = [&self.busy, &self.nanos, &self.squares].map(|figure| figure.load(Relaxed));
        let mut all = Work { busy, nanos, squares };
        for work in others.iter().map(|read| read()) {
            (all.busy, all.nanos) = (all.busy + work.busy, all.nanos.saturating_add(work.nanos));
        }
        self.peak.fetch_max(all.busy, Relaxed);
        all
    }

    /// The largest number of threads that worked at once; of threads that count their own work, when metrics were requested.
    pub fn peak(&self) -> u64 {
        self.peak.load(Relaxed)
    }
}

impl std::fmt::Debug for PoolThreads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PoolThreads").field("name", &self.name).field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// A thread that works.
#[derive(Debug)]
pub struct Working<'a> {
    pool: &'a PoolThreads,
    began: Tick,
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.pool.busy.fetch_sub(1, Relaxed);
        let nanos = Tick::now().since(self.began);
        let micros = (nanos / 1000).min(SQUARED_MAX);
        self.pool.nanos.fetch_add(nanos, Relaxed);
        self.pool.squares.fetch_add(micros * micros, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_threads_are_counted_while_they_work_and_their_highest_number_stays() {
        let pool = PoolThreads::new(PoolName::BlobThreads, 2);
        let (one, other) = (pool.work(), pool.work());
        assert_eq!((pool.read().busy, pool.peak()), (2, 2));
        drop(one);
        assert_eq!((pool.read().busy, pool.peak()), (1, 2));
        drop(other);
        pool.add(|| Work { busy: 1, nanos: 7, ..Work::default() });
        assert_eq!((pool.read().busy, pool.peak()), (1, 2));
        assert!(pool.read().nanos >= 7);
    }
}
