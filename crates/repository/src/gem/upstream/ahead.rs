//! The gems whose `/info` is fetched before a client asks for it: the index says another one than it did.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Most gems that wait for it. What comes after is fetched when a client asks.
const GEMS_MAX: usize = 10_000;

/// The gems that wait for it.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    gems: Mutex<BTreeSet<String>>,
    /// Held by the job that fetches them.
    fetching: Arc<Turn<()>>,
}

impl Ahead {
    /// Has the `/info` of these gems fetched.
    pub(crate) fn want(&self, names: Vec<String>) {
        let mut gems = self.gems();
        let room = GEMS_MAX.saturating_sub(gems.len());
        gems.extend(names.into_iter().take(room));
    }

    /// The turn to fetch them; `None`: there are none, or another job has it.
    pub(crate) fn turn(&self) -> Option<OwnedMutexGuard<()>> {
        if self.gems().is_empty() {
            return None;
        }
        self.fetching.clone().try_lock_owned().ok()
    }

    /// The next ones, and at most so many.
    pub(crate) fn take(&self, most: usize) -> Vec<String> {
        let mut gems = self.gems();
        std::iter::from_fn(|| gems.pop_first()).take(most).collect()
    }

    fn gems(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.gems.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
