//! The options of calls to upstreams, from the settings.

use crate::config::Upstream;
use client::{HostsOptions, Networks, Timeouts};
use std::time::Duration;

/// The options; those without a setting have the defaults of the client.
pub(crate) fn hosts(settings: &Upstream) -> HostsOptions {
    let timeouts = Timeouts {
        connect: Duration::from_secs(settings.connect_timeout_s),
        head: Duration::from_secs(settings.answer_timeout_s),
        idle: Duration::from_secs(settings.idle_timeout_s),
        slowest_within: Duration::from_secs(settings.slow_timeout_s),
        ..Timeouts::default()
    };
    // Half of the allowed connections are kept open.
    let calls = usize::try_from(settings.max_calls).unwrap_or(usize::MAX);
    let networks = Networks { private: settings.private_networks, link_local: settings.link_local_networks };
    HostsOptions { calls, kept: calls.div_ceil(2), timeouts, networks, ..HostsOptions::default() }
}
