//! The parts of the server that all repositories work with.

use crate::workers::Workers;
use std::sync::Arc;
use store::Store;
use telemetry::{Bound, BoundName, Recorder};
use tokio::runtime::Handle;

/// The parts of the server that all repositories work with. A clone shares them.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) store: Arc<Store>,
    /// Threads that render, hash and read packages.
    pub(crate) workers: Arc<Workers>,
    pub(crate) recorder: Arc<Recorder>,
    /// The runtime for jobs that no client waits for.
    pub(crate) back: Handle,
    /// Jobs that prune a snapshot after a new build.
    pub(crate) prunes: Arc<Bound>,
}

/// Most snapshots that are pruned at once, each with the rows of its folder in memory.
const PRUNES_MAX: u64 = 64;

impl Context {
    /// The parts that all repositories work with. Jobs run on the runtime that this is called on.
    pub(crate) fn new(store: Arc<Store>, workers: Arc<Workers>, recorder: Arc<Recorder>) -> Self {
        let prunes = Bound::new(BoundName::SnapshotPrunes, "", PRUNES_MAX);
        recorder.register(prunes.clone());
        Self { store, workers, recorder, back: Handle::current(), prunes }
    }
}
