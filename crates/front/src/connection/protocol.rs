//! What drives a connection, whichever protocol it speaks, and why that could not go on.

use std::task::{Context, Poll};
use telemetry::Reason;

/// What does the work of a connection.
pub(crate) trait Protocol {
    /// Works until the connection has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ProtocolError>>;

    /// Whether it holds what only a request under way needs.
    fn may_rest(&self) -> bool {
        false
    }

    /// Gives that back.
    fn rest(&mut self) {}
}

/// What a machine could not go on from.
pub(crate) struct ProtocolError {
    /// The client sent what is not to be read on from: the status it was told, if any, and why.
    pub(crate) malformed: Option<(u16, Reason)>,
    pub(crate) detail: String,
}

impl ProtocolError {
    /// Frame after frame that asks for nothing.
    pub(crate) fn flood() -> Self {
        Self { malformed: Some((0, Reason::Flooded)), detail: String::new() }
    }
}
