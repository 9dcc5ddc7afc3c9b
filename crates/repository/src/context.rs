//! The parts of the server that all repositories work with.

use crate::workers::Workers;
use std::sync::Arc;
use store::Store;
use telemetry::Recorder;
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
}
