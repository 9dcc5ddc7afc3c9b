//! Holds protect bytes that uploads have made durable and that no row names yet. The collector deletes no blob that is held.

use crate::blobs::digest::Digest;
use crate::journal::record::Seq;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use telemetry::lock;

/// The held digests, each with the number of its holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Holds(Arc<Mutex<HashMap<Digest, usize>>>);

impl Holds {
    /// Holds a blob until the returned value and its clones are dropped.
    pub(crate) fn hold(&self, digest: Digest) -> Hold {
        *lock(&self.0).entry(digest).or_default() += 1;
        Hold(Arc::new(Held { digest, holds: self.clone(), sent: Mutex::default() }))
    }

    /// Runs `remove` unless the blob is held. The lock keeps others from holding the blob until `remove` returns.
    pub(crate) fn unless_held<T>(&self, digest: &Digest, remove: impl FnOnce() -> T) -> Option<T> {
        let held = lock(&self.0);
        (!held.contains_key(digest)).then(remove)
    }

    /// Whether a blob is held.
    pub(crate) fn is_held(&self, digest: &Digest) -> bool {
        lock(&self.0).contains_key(digest)
    }
}

/// Keeps the bytes of a blob from being deleted. The batch that publishes them owns it until it is decided.
#[derive(Debug, Clone)]
pub struct Hold(Arc<Held>);

impl Hold {
    /// The held blob.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// The generation of the object that was written for the batch; `None`: there was none yet.
    pub(crate) fn sent(&self) -> Option<Seq> {
        *lock(&self.0.sent)
    }

    /// Notes that object storage has the blob in this generation; `None`: it may have lost it.
    pub(crate) fn set_sent(&self, generation: Option<Seq>) {
        *lock(&self.0.sent) = generation;
    }
}

#[derive(Debug)]
struct Held {
    digest: Digest,
    holds: Holds,
    sent: Mutex<Option<Seq>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = lock(&self.holds.0);
        if let Some(count) = held.get_mut(&self.digest) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.digest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_is_held_until_the_last_hold_is_dropped() {
        let (holds, digest) = (Holds::default(), Digest([1; 32]));
        let (one, other) = (holds.hold(digest), holds.hold(digest));
        let clone = one.clone();
        drop((one, other));
        assert_eq!(holds.unless_held(&digest, || "removed"), None);
        drop(clone);
        assert_eq!(holds.unless_held(&digest, || "removed"), Some("removed"));
        assert!(!holds.is_held(&digest));
    }
}
