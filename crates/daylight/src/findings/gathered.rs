//! What a round in which findings are told about the program keeps for the next ones.

use super::free_bytes::FreeBytes;
use insight::WaitingNamesFact;
use std::sync::Mutex;
use telemetry::Tick;

/// What a round keeps for the next ones.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(super) free: Mutex<FreeBytes>,
    pub(super) names: Mutex<KnownNames>,
}

/// The last examples, and when they were looked for.
#[derive(Debug, Default)]
pub(super) struct KnownNames {
    pub(super) at: Option<Tick>,
    /// How many names waited in each group.
    pub(super) groups: Vec<(String, usize)>,
    pub(super) names: Vec<WaitingNamesFact>,
}
