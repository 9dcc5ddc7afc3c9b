//! How every host is treated, whichever repository calls it.

use crate::circuit::CircuitOptions;
use crate::ssrf::Networks;
use crate::timeouts::Timeouts;
use std::time::Duration;

/// How hosts are treated: each of them alike, whoever calls.
#[derive(Debug, Clone, Copy)]
pub struct HostsOptions {
    /// Calls to one host at a time.
    pub calls: usize,
    /// Calls that wait for a place there, at most.
    pub waiting: usize,
    /// Connections to one host that are kept for the next call.
    pub kept: usize,
    /// For so long.
    pub keep_for: Duration,
    /// When one that fails is left alone.
    pub circuit: CircuitOptions,
    /// How long a host is not called that says 429 and not for how long.
    pub pause: Duration,
    /// No host is obeyed longer than this.
    pub pause_max: Duration,
    /// How long calls may take.
    pub timeouts: Timeouts,
    /// In which networks upstreams may be.
    pub networks: Networks,
}

impl Default for HostsOptions {
    fn default() -> Self {
        Self {
            calls: 32,
            waiting: 1024,
            kept: 16,
            keep_for: Duration::from_secs(45),
            circuit: CircuitOptions::default(),
            pause: Duration::from_secs(5),
            pause_max: Duration::from_secs(3600),
            timeouts: Timeouts::default(),
            networks: Networks::default(),
        }
    }
}
