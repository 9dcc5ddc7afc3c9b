//! The blobs on the disk of a server that keeps its blobs in object storage: their sizes, and which were used last.
//!
//! Uses are remembered in memory. After a start, blobs that are not used again are the first to go.

use crate::blobs::digest::Digest;
use crate::objects::bell::Bell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName, Metric, Recorder, lock};

/// Tenths of the limit to which blobs are removed, once they exceed it.
const DOWN_TO_TENTHS: u64 = 9;

#[derive(Debug)]
pub(crate) struct LocalCopies {
    copies: Mutex<Copies>,
    bound: Arc<Bound>,
    /// Rung when there are too many.
    bell: Arc<Bell>,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Debug, Default)]
struct Copies {
    /// The size of each and the number of its last use.
    all: HashMap<Digest, (u64, u64)>,
    sum_bytes: u64,
    uses: u64,
}

impl LocalCopies {
    pub(crate) fn new(max_bytes: u64, bell: Arc<Bell>) -> Self {
        Self {
            copies: Mutex::default(),
            bound: Bound::new(BoundName::LocalBlobs, "", max_bytes),
            bell,
            hits: AtomicU64::default(),
            misses: AtomicU64::default(),
        }
    }

    /// Registers the bound and the figures.
    pub(crate) fn register(self: &Arc<Self>, recorder: &Recorder) {
        recorder.register(self.bound.clone());
        let figure = |metric, read: fn(&Self) -> &AtomicU64| {
            let of = self.clone();
            recorder.figure(metric, move || read(&of).load(Ordering::Relaxed) as f64);
        };
        figure(Metric::counter("objects_local_hits_total", "Reads of blobs that were on the disk"), |of| &of.hits);
        let doc = "Reads of blobs that were not on the disk, and were looked for in object storage";
        figure(Metric::counter("objects_local_misses_total", doc), |of| &of.misses);
    }

    /// A blob was placed on the disk.
    pub(crate) fn placed(&self, digest: Digest, size_bytes: u64) {
        let mut copies = lock(&self.copies);
        copies.uses += 1;
        let used = copies.uses;
        copies.set(digest, Some((size_bytes, used)));
        self.measured(&copies);
    }

    /// A blob that an earlier process placed was found.
    pub(crate) fn found(&self, digest: Digest, size_bytes: u64) {
        let mut copies = lock(&self.copies);
        if !copies.all.contains_key(&digest) {
            copies.set(digest, Some((size_bytes, 0)));
            self.measured(&copies);
        }
    }

    /// A blob was opened.
    pub(crate) fn used(&self, digest: &Digest) {
        let mut copies = lock(&self.copies);
        copies.uses += 1;
        let uses = copies.uses;
        if let Some((_, used)) = copies.all.get_mut(digest) {
            *used = uses;
        }
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// A blob was looked for and is not on the disk.
    pub(crate) fn missed(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }

    /// A blob was removed from the disk.
    pub(crate) fn removed(&self, digest: &Digest) {
        let mut copies = lock(&self.copies);
        copies.set(*digest, None);
        self.measured(&copies);
    }

    /// Whether there are too many.
    pub(crate) fn is_over(&self) -> bool {
        lock(&self.copies).sum_bytes > self.bound.capacity()
    }

    /// The blobs to remove, if there are too many: first the least recently used.
    pub(crate) fn to_remove(&self) -> Vec<Digest> {
        let (copies, max_bytes) = (lock(&self.copies), self.bound.capacity());
        if copies.sum_bytes <= max_bytes {
            return Vec::new();
        }
        let mut excess = copies.sum_bytes.saturating_sub(max_bytes / 10 * DOWN_TO_TENTHS);
        let mut oldest: Vec<_> = copies.all.iter().map(|(digest, (size, used))| (*used, *digest, *size)).collect();
        drop(copies);
        oldest.sort_unstable();
        let enough = |(_, _, size): &(u64, Digest, u64)| {
            let more = excess > 0;
            excess = excess.saturating_sub(*size);
            more
        };
        oldest.into_iter().take_while(enough).map(|(_, digest, _)| digest).collect()
    }

    fn measured(&self, copies: &Copies) {
        self.bound.observe(copies.sum_bytes);
        if copies.sum_bytes > self.bound.capacity() {
            self.bell.ring();
        }
    }
}

impl Copies {
    fn set(&mut self, digest: Digest, copy: Option<(u64, u64)>) {
        let before = match copy {
            Some(copy) => self.all.insert(digest, copy),
            None => self.all.remove(&digest),
        };
        self.sum_bytes += copy.map_or(0, |(size, _)| size);
        self.sum_bytes -= before.map_or(0, |(size, _)| size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::bell::Rung;
    use std::time::Duration;

    #[test]
    fn the_blobs_that_were_not_used_for_longest_go_until_a_tenth_is_free() {
        let bell = Arc::new(Bell::default());
        let copies = LocalCopies::new(100, bell.clone());
        let digest = |number: u8| Digest([number; 32]);
        let rung = || bell.wait(Some(Duration::ZERO)) != Rung::default();
        (1..=4).for_each(|number| copies.placed(digest(number), 25));
        assert!(!rung() && copies.to_remove().is_empty());
        copies.used(&digest(1));
        copies.found(digest(5), 25);
        copies.found(digest(1), 25);
        assert!(rung());
        let of = || copies.to_remove().into_iter().map(|digest| digest.0[0]).collect::<Vec<_>>();
        assert_eq!(of(), [5, 2], "the first is known from an earlier process");
        [5, 2].iter().for_each(|number| copies.removed(&digest(*number)));
        copies.removed(&digest(9));
        assert_eq!((of(), copies.bound.used()), (vec![], 75));
    }
}
