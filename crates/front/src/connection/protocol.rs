//! The interface of a protocol that drives a connection, and why it could not continue.

use std::task::{Context, Poll};
use telemetry::Reason;

/// Drives a connection.
pub(crate) trait Protocol {
    /// Works until the connection has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ProtocolError>>;

    /// Whether it holds buffers that only a request in progress needs.
    fn may_go_idle(&self) -> bool {
        false
    }

    /// Frees those buffers.
    fn go_idle(&mut self) {}
}

/// Why a protocol could not continue.
pub(crate) struct ProtocolError {
    /// The client sent something invalid: the status of the reply to it, if any, and the reason.
    pub(crate) malformed: Option<(u16, Reason)>,
    pub(crate) detail: String,
}

impl ProtocolError {
    /// The client sent too many frames that ask for nothing.
    pub(crate) fn flood() -> Self {
        Self { malformed: Some((0, Reason::Flooded)), detail: String::new() }
    }
}
