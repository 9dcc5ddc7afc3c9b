//! The memory for the indexes of segments. When it is full, the index that was not used for the longest time is evicted; it is read again
//! when a question needs it.

use crate::segment::Segment;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName, Log, lock};

/// The memory for the indexes of segments.
#[derive(Debug)]
pub(super) struct OpenSegments {
    bound: Arc<Bound>,
    /// For segments that cannot be read.
    pub(super) log: Log,
    ids: AtomicU64,
    open: Mutex<Entries>,
}

/// The segments whose indexes are in memory, by id.
#[derive(Debug, Default)]
struct Entries {
    segments: HashMap<u64, OpenSegment>,
    uses: u64,
    bytes: u64,
}

#[derive(Debug)]
struct OpenSegment {
    segment: Arc<Segment>,
    bytes: u64,
    /// The number of its last use.
    used: u64,
}

impl OpenSegments {
    /// Memory of so many bytes.
    pub(super) fn new(bytes: u64, log: Log) -> Arc<Self> {
        let bound = Bound::new(BoundName::EventIndexes, "", bytes);
        Arc::new(Self { bound, log, ids: AtomicU64::new(0), open: Mutex::default() })
    }

    /// The memory, to be registered.
    pub(super) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// An id for another segment.
    pub(super) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Relaxed)
    }

    /// The segment with this id, if its index is in memory.
    pub(super) fn get(&self, id: u64) -> Option<Arc<Segment>> {
        let mut open = lock(&self.open);
        open.uses += 1;
        let used = open.uses;
        let found = open.segments.get_mut(&id)?;
        found.used = used;
        Some(found.segment.clone())
    }

    /// Adds a segment that was opened. Evicts others until all fit: a question that has one keeps it for as long as it reads.
    pub(super) fn insert(&self, id: u64, segment: Arc<Segment>) {
        let mut open = lock(&self.open);
        open.remove(id);
        open.uses += 1;
        let (bytes, used) = (segment.memory(), open.uses);
        open.segments.insert(id, OpenSegment { segment, bytes, used });
        open.bytes += bytes;
        // The last one is needed now, whatever its size.
        while open.bytes > self.bound.capacity() && open.segments.len() > 1 {
            let oldest = open.segments.iter().min_by_key(|(_, segment)| segment.used).map(|(id, _)| *id);
            oldest.into_iter().for_each(|id| open.remove(id));
        }
        self.bound.observe(open.bytes);
    }

    /// Removes a segment.
    pub(super) fn remove(&self, id: u64) {
        lock(&self.open).remove(id);
    }
}

impl Entries {
    fn remove(&mut self, id: u64) {
        self.bytes -= self.segments.remove(&id).map_or(0, |segment| segment.bytes);
    }
}
