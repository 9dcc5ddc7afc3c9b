//! The parts of the server that all repositories use.

use crate::workers::Workers;
use std::sync::Arc;
use store::Store;
use telemetry::{Bound, BoundName, Recorder};
use tokio::runtime::Handle;

/// The parts of the server that all repositories use. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) store: Arc<Store>,
    /// Threads that render, hash and read packages.
    pub(crate) workers: Arc<Workers>,
    pub(crate) recorder: Arc<Recorder>,
    /// The runtime for jobs that no client waits for.
    pub(crate) back: Handle,
    /// The bound of jobs that delete old builds of a snapshot after a new one was published.
    pub(crate) prunes: Arc<Bound>,
}

/// Maximum number of such jobs at a time. Each has the rows of one folder in memory.
const PRUNES_MAX: u64 = 64;

impl Context {
    /// Builds the context. Jobs run on the runtime that calls this.
    pub(crate) fn new(store: Arc<Store>, workers: Arc<Workers>, recorder: Arc<Recorder>) -> Self {
        let prunes = Bound::new(BoundName::SnapshotPrunes, "", PRUNES_MAX);
        recorder.register(prunes.clone());
        Self { store, workers, recorder, back: Handle::current(), prunes }
    }
}
