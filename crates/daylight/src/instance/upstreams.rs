//! The options of calls to upstreams, from the settings.

use crate::config::{Settings, Upstream};
use client::{HostsOptions, Networks, Timeouts};
use repository::UpstreamLimits;
use std::time::Duration;

/// Calls that may wait for a place at one host, however few downloads are allowed.
const WAITING_MIN: usize = 32;

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
    // One slow host has at most a quarter of all downloads, so it leaves room for the others.
    let waiting =
        usize::try_from(settings.max_fetches / 4).unwrap_or(usize::MAX).saturating_sub(calls).max(WAITING_MIN);
    HostsOptions {
        calls,
        waiting,
        kept: calls.div_ceil(2),
        wait_for_retry: settings.wait_for_retry,
        timeouts,
        networks,
        ..HostsOptions::default()
    }
}

/// The limits of the work with upstreams.
pub(crate) fn limits(settings: &Settings) -> UpstreamLimits {
    let Settings { server, upstream, .. } = settings;
    UpstreamLimits {
        prefixes_bytes: upstream.prefixes_bytes,
        indexes_bytes: upstream.indexes_bytes,
        koji_maps_bytes: upstream.koji_maps_bytes,
        // The other half is for hosted repositories and groups.
        open_files: server.open_files / 2,
        fetches: upstream.max_fetches,
        width: upstream.max_concurrent,
    }
}
