//! Figures of clients: how much each asks, and how often for the same.

use std::collections::HashMap;
use telemetry::Glance;

/// The figures of one client: an address with a token.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientSeen {
    /// Its requests.
    pub(crate) requests: u64,
}

/// The clients that sent requests, by address and name of the token.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientsSeen(pub(crate) HashMap<(Box<str>, Box<str>), ClientSeen>);

impl ClientsSeen {
    pub(crate) fn see(&mut self, _event: &Glance<'_>) {}

    pub(crate) fn add(&mut self, other: &Self) {
        for (key, theirs) in &other.0 {
            self.0.entry(key.clone()).or_default().requests += theirs.requests;
        }
    }
}
