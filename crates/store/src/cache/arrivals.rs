//! Files and facts of upstreams that wait for the cache's thread, which writes all of them in one transaction. A lookup
//! meanwhile finds them here.
//!
//! A killed process loses them. They are requested from the upstream again, like all that the cache has lost.

use super::cached_file::{CacheInput, CachedFile};
use super::origin::Origin;
use super::presence_cache::{NameFact, split};
use crate::blobs::TemporaryBlob;
use crate::journal::record::RepositoryId;
use bytes::Bytes;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Bound, BoundName, Millis, lock};

/// The bytes that may wait.
const MAX_BYTES: u64 = 8 << 20;
/// What an arrival counts at least. So at most 1,024 wait.
const LEAST_BYTES: u64 = 8 << 10;
/// How long arrivals wait for others. They are written at once when they take half of the bound.
const DELAY: Duration = Duration::from_millis(100);

/// What an upstream was found to have, or not to have, at a path.
pub(crate) struct Arrival {
    pub(crate) of: Origin,
    pub(crate) path: Arc<str>,
    pub(crate) what: Arrived,
}

/// A file, or the fact that there is none.
pub(crate) enum Arrived {
    /// A file. `max_bytes` is the limit of its repository's cached files.
    File { known: Arc<CachedFile>, input: CacheInput, max_bytes: Option<u64> },
    /// The path was proven missing at `now`, with the TTL ending at `until`.
    Missing { now: Millis, until: Millis },
}

/// A file whose row is in the open transaction. It gets its place after the commit: after a crash there may be a row without its
/// file, but never a file without a row.
#[derive(Debug)]
pub(super) struct Unplaced {
    pub(super) repository: RepositoryId,
    pub(super) path: Arc<str>,
    pub(super) input: CacheInput,
}

/// What waits for a path.
pub(crate) enum Queued {
    /// A file in memory.
    Bytes(Arc<CachedFile>, Bytes),
    /// A file with this temporary path, until it gets its final one.
    Staged(Arc<CachedFile>, PathBuf),
    /// The path counts as missing until this moment.
    MissingUntil(Millis),
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Arrivals {
    bound: Arc<Bound>,
    queue: Mutex<Queue>,
    /// How many wait. Read without the lock, as mostly none do.
    count: AtomicUsize,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// How many of them the thread writes now. Those behind them need another turn of it.
    writing: usize,
    /// The last batch could not be written. Until one is, callers wait for the thread, so that their events tell the reason.
    failing: bool,
}

#[derive(Debug)]
struct Waiting {
    of: Origin,
    path: Arc<str>,
    what: WaitingWhat,
    weight: u64,
}

#[derive(Debug)]
enum WaitingWhat {
    Bytes(Arc<CachedFile>, Bytes, Option<u64>),
    /// The temporary file is taken when the thread begins to write the batch.
    Staged(Arc<CachedFile>, PathBuf, Option<Box<TemporaryBlob>>, Option<u64>),
    Missing {
        now: Millis,
        until: Millis,
    },
}

/// The arrivals that the thread writes now. Dropping it removes them from the queue.
pub(super) struct Batch<'a> {
    arrivals: &'a Arrivals,
    many: usize,
    is_written: bool,
}

impl Default for Arrivals {
    fn default() -> Self {
        let bound = Bound::new(BoundName::CacheQueue, "", MAX_BYTES);
        Self { bound, queue: Mutex::default(), count: AtomicUsize::new(0) }
    }
}

impl Arrivals {
    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Queues an arrival, and returns after how long the thread has to write the queue, unless that was said before. Returns the
    /// arrival if it cannot wait: the caller then waits for the thread.
    pub(crate) fn offer(&self, arrival: Arrival) -> Result<Option<Duration>, Arrival> {
        let mut queue = lock(&self.queue);
        let weight = match &arrival.what {
            Arrived::File { input: CacheInput::Bytes(bytes), .. } => LEAST_BYTES.max(bytes.len() as u64),
            Arrived::File { input: CacheInput::File(_), .. } | Arrived::Missing { .. } => LEAST_BYTES,
        };
        // A refusal would be counted, but nothing is lost.
        if queue.failing || self.bound.used() + weight > MAX_BYTES || self.bound.take(weight).is_err() {
            return Err(arrival);
        }
        let Arrival { of, path, what } = arrival;
        let what = match what {
            Arrived::File { known, input: CacheInput::Bytes(bytes), max_bytes } => {
                WaitingWhat::Bytes(known, bytes, max_bytes)
            }
            Arrived::File { known, input: CacheInput::File(file), max_bytes } => {
                WaitingWhat::Staged(known, file.path().to_owned(), Some(file), max_bytes)
            }
            Arrived::Missing { now, until } => WaitingWhat::Missing { now, until },
        };
        let is_first = queue.waiting.len() == queue.writing;
        queue.waiting.push_back(Waiting { of, path, what, weight });
        self.count.store(queue.waiting.len(), Ordering::Release);
        let used = self.bound.used();
        Ok(if used >= MAX_BYTES / 2 && used - weight < MAX_BYTES / 2 {
            Some(Duration::ZERO)
        } else {
            is_first.then_some(DELAY)
        })
    }

    /// The latest that waits for a path.
    pub(crate) fn find(&self, of: Origin, path: &str) -> Option<Queued> {
        if self.is_empty() {
            return None;
        }
        let queue = lock(&self.queue);
        let waiting = queue.waiting.iter().rev().find(|waiting| waiting.of == of && *waiting.path == *path)?;
        Some(match &waiting.what {
            WaitingWhat::Bytes(known, bytes, _) => Queued::Bytes(known.clone(), bytes.clone()),
            WaitingWhat::Staged(known, path, ..) => Queued::Staged(known.clone(), path.clone()),
            WaitingWhat::Missing { until, .. } => Queued::MissingUntil(*until),
        })
    }

    /// The facts about the names in a folder that wait, in the order in which they arrived.
    pub(crate) fn facts_in(&self, folder: &str) -> Vec<NameFact> {
        if self.is_empty() {
            return Vec::new();
        }
        let queue = lock(&self.queue);
        let facts = queue.waiting.iter().filter_map(|waiting| {
            let (within, name) = split(&waiting.path);
            let until = match &waiting.what {
                WaitingWhat::Missing { until, .. } => Some(*until),
                WaitingWhat::Bytes(..) | WaitingWhat::Staged(..) => None,
            };
            (within == folder).then(|| (waiting.of, name.to_owned(), until))
        });
        facts.collect()
    }

    /// All that waits now. It stays visible until the batch is dropped. Only the cache's thread calls this, one batch at a time.
    pub(super) fn begin(&self) -> Option<(Batch<'_>, Vec<Arrival>)> {
        if self.is_empty() {
            return None;
        }
        let mut queue = lock(&self.queue);
        queue.writing = queue.waiting.len();
        let batch = Batch { arrivals: self, many: queue.waiting.len(), is_written: false };
        let arrivals = queue.waiting.iter_mut().filter_map(|waiting| {
            let what = match &mut waiting.what {
                WaitingWhat::Bytes(known, bytes, max_bytes) => {
                    let input = CacheInput::Bytes(bytes.clone());
                    Arrived::File { known: known.clone(), input, max_bytes: *max_bytes }
                }
                WaitingWhat::Staged(known, _, file, max_bytes) => {
                    let input = CacheInput::File(file.take()?);
                    Arrived::File { known: known.clone(), input, max_bytes: *max_bytes }
                }
                WaitingWhat::Missing { now, until } => Arrived::Missing { now: *now, until: *until },
            };
            Some(Arrival { of: waiting.of, path: waiting.path.clone(), what })
        });
        let arrivals = arrivals.collect();
        Some((batch, arrivals))
    }

    /// The thread has written an arrival for which its caller waited: the next ones need not wait.
    pub(super) fn recovered(&self) {
        lock(&self.queue).failing = false;
    }
}

impl Batch<'_> {
    /// It is in the database.
    pub(super) fn written(mut self) {
        self.is_written = true;
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let mut queue = lock(&self.arrivals.queue);
        let written: Vec<_> = queue.waiting.drain(..self.many).collect();
        queue.writing = 0;
        queue.failing = !self.is_written;
        self.arrivals.count.store(queue.waiting.len(), Ordering::Release);
        drop(queue);
        self.arrivals.bound.give(written.iter().map(|waiting| waiting.weight).sum());
    }
}
