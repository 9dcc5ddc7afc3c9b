//! Blobs that rows name, that were asked for, and that are nowhere.

use crate::blobs::digest::Digest;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use telemetry::{Log, lock};

/// The most blobs that are remembered.
const MAX: usize = 1_000;

/// The blobs that the last reads of them did not find.
#[derive(Debug)]
pub(crate) struct MissingBlobs {
    digests: Mutex<HashSet<Digest>>,
    count: AtomicUsize,
    log: Log,
}

impl MissingBlobs {
    pub(crate) fn new(log: Log) -> Self {
        Self { digests: Mutex::default(), count: AtomicUsize::new(0), log }
    }

    /// How many they are, up to the most that are remembered.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed) as u64
    }

    /// A blob that a row names was not found.
    pub(crate) fn missed(&self, digest: &Digest) {
        let mut digests = lock(&self.digests);
        if digests.len() < MAX && digests.insert(*digest) {
            self.count.store(digests.len(), Ordering::Relaxed);
            let hint = "`daylight check` lists all of them; publish the files again, or bring back the folder `blobs` of the data folder";
            self.log.error("the bytes of a published file are missing", &[("sha256", digest), ("hint", &hint)]);
        }
    }

    /// A blob was found.
    pub(crate) fn found(&self, digest: &Digest) {
        if self.count.load(Ordering::Relaxed) > 0 {
            let mut digests = lock(&self.digests);
            digests.remove(digest);
            self.count.store(digests.len(), Ordering::Relaxed);
        }
    }
}
