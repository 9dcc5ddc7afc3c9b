//! What receivers of alerts need from the program.

use super::alert::Teller;
use insight::Findings;
use std::sync::Arc;
use store::Leases;
use telemetry::{Clock, Log, Recorder};

/// What receivers of alerts need from the program.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) findings: Arc<Findings>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) clock: Clock,
    pub(crate) log: Log,
    /// The server, and which node of it this is.
    pub(crate) teller: Teller,
    /// Of several nodes, one tells what all find alike.
    pub(crate) leases: Arc<Leases>,
}
