//! How long an upstream may take.

use std::time::Duration;

/// How long the parts of a call may take.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// Until there is a place among the calls to the host.
    pub place: Duration,
    /// Until there is a connection, from the name on.
    pub connect: Duration,
    /// From the request to the head of the answer.
    pub head: Duration,
    /// From one piece of a body to the next.
    pub idle: Duration,
    /// Of a body, so many bytes at least...
    pub slowest_bytes: u64,
    /// ...come within so much waiting.
    pub slowest_within: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            place: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            slowest_bytes: 64 << 10,
            slowest_within: Duration::from_secs(60),
        }
    }
}
