//! Turns to request the `/info` of a gem again: one task at a time for each gem.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The number of turns. Gems with the same hash share one.
const TURNS: usize = 256;

/// The turns.
#[derive(Debug)]
pub(crate) struct Asking {
    turns: Vec<Arc<Mutex<()>>>,
    hasher: RandomState,
}

impl Default for Asking {
    fn default() -> Self {
        Self { turns: (0..TURNS).map(|_| Arc::default()).collect(), hasher: RandomState::new() }
    }
}

impl Asking {
    /// Waits for the turn to request a gem.
    pub(crate) async fn turn(&self, name: &str) -> OwnedMutexGuard<()> {
        let place = self.hasher.hash_one(name) % TURNS as u64;
        self.turns[usize::try_from(place).unwrap_or_default()].clone().lock_owned().await
    }
}
