//! The parts of a call, timed by its client.

use telemetry::{Event, Op};

/// How long the parts of a call took, in nanoseconds. A part that was not reached is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallTimes {
    /// Whether the connection was open already. Then there are no times of setting it up.
    pub reused: bool,
    /// Resolving the name.
    pub resolve: u64,
    /// Connecting: one round trip to the server or to a proxy in front of it, unless an attempt is lost.
    pub connect: u64,
    /// The TLS handshake.
    pub tls: u64,
    /// From the request to the head of its response.
    pub head: u64,
    /// From the head to the last byte.
    pub body: u64,
    /// The bytes of the body, compressed if the response was.
    pub bytes: u64,
}

impl CallTimes {
    /// From the name to the last byte.
    pub fn total(&self) -> u64 {
        self.resolve + self.connect + self.tls + self.head + self.body
    }

    /// Takes the parts of setting up a connection from the event that recorded them.
    pub(crate) fn set_up(&mut self, event: &Event) {
        for (op, tally) in event.tallies() {
            match op {
                Op::UpstreamResolve => self.resolve = tally.nanos,
                Op::UpstreamTcp => self.connect = tally.nanos,
                Op::UpstreamTls => self.tls = tally.nanos,
                _ => {}
            }
        }
    }
}
