//! Figures of calls to hosts of upstreams.

use std::collections::HashMap;
use telemetry::Glance;

/// The figures of one host.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostSeen {
    /// Calls that were made.
    pub(crate) calls: u64,
}

/// The hosts that were called, by `name:port`.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostsSeen(pub(crate) HashMap<Box<str>, HostSeen>);

impl HostsSeen {
    pub(crate) fn see(&mut self, _event: &Glance<'_>) {}

    pub(crate) fn add(&mut self, other: &Self) {
        for (host, theirs) in &other.0 {
            self.0.entry(host.clone()).or_default().calls += theirs.calls;
        }
    }
}
