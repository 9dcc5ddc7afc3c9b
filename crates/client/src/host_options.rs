//! The settings for all hosts, whichever repository calls them.

use crate::circuit::CircuitOptions;
use crate::ssrf::Networks;
use crate::timeouts::Timeouts;
use std::time::Duration;

/// What sets the hosts of one upstream apart from those of others: they have a circuit, pauses and places of their own, as
/// another service on the same machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Apart {
    /// Stands behind the names of its hosts: `koji.example.org:443 (hub)`.
    pub name: &'static str,
    /// Calls to one host at a time.
    pub calls: usize,
}

/// The settings for all hosts.
#[derive(Debug, Clone, Copy)]
pub struct HostsOptions {
    /// What a host is, in the log.
    pub called: &'static str,
    /// Calls to one host at a time.
    pub calls: usize,
    /// Calls that may wait for a slot.
    pub waiting: usize,
    /// Idle connections to one host that are kept.
    pub kept: usize,
    /// How long they are kept.
    pub keep_for: Duration,
    /// When the circuit of a host opens.
    pub circuit: CircuitOptions,
    /// The pause after a 429 without `Retry-After`.
    pub pause: Duration,
    /// The longest pause that a host may ask for.
    pub pause_max: Duration,
    /// How long one request waits for pauses that hosts ask for, in all. Longer pauses are reported at once.
    pub wait_for_retry: Duration,
    /// How long calls may take.
    pub timeouts: Timeouts,
    /// The networks in which upstreams may be.
    pub networks: Networks,
}

impl Default for HostsOptions {
    fn default() -> Self {
        Self {
            called: "an upstream",
            calls: 32,
            waiting: 224,
            kept: 16,
            keep_for: Duration::from_secs(45),
            circuit: CircuitOptions::default(),
            pause: Duration::from_secs(5),
            pause_max: Duration::from_secs(3600),
            wait_for_retry: Duration::ZERO,
            timeouts: Timeouts::default(),
            networks: Networks::default(),
        }
    }
}
