//! What receivers of alerts need from the program.

use insight::Findings;
use std::sync::Arc;
use telemetry::{Clock, Log, Recorder};

/// What receivers of alerts need from the program.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) findings: Arc<Findings>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) clock: Clock,
    pub(crate) log: Log,
    /// The public URL of the server.
    pub(crate) server: String,
}
