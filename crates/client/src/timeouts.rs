//! The timeouts of calls to upstreams.

use std::time::Duration;

/// How long each part of a call may take.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// Waiting for a slot of the host.
    pub slot: Duration,
    /// From the name to a connection.
    pub connect: Duration,
    /// From the request to the head of the response.
    pub head: Duration,
    /// From one chunk of a body to the next.
    pub idle: Duration,
    /// A body must bring at least this many bytes...
    pub slowest_bytes: u64,
    /// ...in this much waiting time.
    pub slowest_within: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            slot: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            slowest_bytes: 64 << 10,
            slowest_within: Duration::from_secs(60),
        }
    }
}
