//! The memory for the indexes of segments. When it is full, the index that was not used for the longest time is given up; it is read again
//! when a question needs it.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use telemetry::{Bound, BoundName, Log};

/// A segment with an index that it can give up.
pub(super) trait CachedIndex: Debug + Send + Sync {
    /// The number of its last use.
    fn last_use(&self) -> u64;

    /// Gives up its index. A question that has it keeps it for as long as it reads.
    fn close(&self);
}

/// The memory for the indexes of segments.
#[derive(Debug)]
pub(super) struct IndexCache {
    bound: Arc<Bound>,
    /// For segments that cannot be read.
    log: Log,
    /// The segments whose indexes are in memory, with the memory of each in bytes.
    open: Mutex<Vec<(Weak<dyn CachedIndex>, u64)>>,
    uses: AtomicU64,
}

impl IndexCache {
    /// Memory of so many bytes.
    pub(super) fn new(bytes: u64, log: Log) -> Arc<Self> {
        let bound = Bound::new(BoundName::EventIndexes, "", bytes);
        Arc::new(Self { bound, log, open: Mutex::default(), uses: AtomicU64::new(0) })
    }

    /// The memory, to be registered.
    pub(super) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The log.
    pub(super) fn log(&self) -> &Log {
        &self.log
    }

    /// The number of a use, which is above those of all earlier uses.
    pub(super) fn next_use(&self) -> u64 {
        self.uses.fetch_add(1, Relaxed)
    }

    /// The index of a segment was read. Gives up others until all fit. The caller holds no lock of a segment.
    pub(super) fn opened(&self, kept: Weak<dyn CachedIndex>, bytes: u64) {
        let mut open = self.lock();
        open.retain(|(other, _)| other.strong_count() > 0 && !other.ptr_eq(&kept));
        open.push((kept, bytes));
        let mut used: u64 = open.iter().map(|(_, bytes)| bytes).sum();
        let mut closed = Vec::new();
        // The last one is needed now, whatever its size.
        while used > self.bound.capacity() && open.len() > 1 {
            let last_use = |kept: &Weak<dyn CachedIndex>| kept.upgrade().map_or(0, |kept| kept.last_use());
            let others = open[..open.len() - 1].iter().enumerate();
            let Some((oldest, _)) = others.min_by_key(|(_, (kept, _))| last_use(kept)) else { break };
            let (kept, bytes) = open.remove(oldest);
            used -= bytes;
            closed.extend(kept.upgrade());
        }
        self.bound.observe(used);
        drop(open);
        closed.iter().for_each(|kept| kept.close());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Weak<dyn CachedIndex>, u64)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
