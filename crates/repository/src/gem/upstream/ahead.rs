//! The gems whose `/info` is fetched before a client requests it, because its MD5 in the index changed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use telemetry::lock;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Maximum number of queued gems. Further ones are fetched when a client requests them.
const GEMS_MAX: usize = 10_000;

/// The queue of these gems.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    gems: Mutex<BTreeSet<String>>,
    /// Held by the job that fetches them.
    fetching: Arc<Turn<()>>,
}

impl Ahead {
    /// Queues the `/info` of these gems.
    pub(crate) fn want(&self, names: Vec<String>) {
        let mut gems = lock(&self.gems);
        let room = GEMS_MAX.saturating_sub(gems.len());
        gems.extend(names.into_iter().take(room));
    }

    /// The turn to fetch them; `None`: the queue is empty, or another job has the turn.
    pub(crate) fn turn(&self) -> Option<OwnedMutexGuard<()>> {
        if lock(&self.gems).is_empty() {
            return None;
        }
        self.fetching.clone().try_lock_owned().ok()
    }

    /// Takes at most this number of gems from the queue.
    pub(crate) fn take(&self, most: usize) -> Vec<String> {
        let mut gems = lock(&self.gems);
        std::iter::from_fn(|| gems.pop_first()).take(most).collect()
    }
}
