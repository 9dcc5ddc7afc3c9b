//! The families about the hosts of upstreams.

use super::limits::{REQUEST, only};
use super::page::Page;
use crate::counts::upstream_calls::CallCounts;
use crate::prometheus::metrics_view::{HostView, MetricsView, OTHER};
use crate::{Bound, BoundName, Op, Reason, Totals, UpstreamCalls};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Responses by the first digit of their status; at 0, calls without a response.
const STATUSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

#[derive(Default)]
struct Calls {
    received_bytes: u64,
    counts: CallCounts,
}

pub(super) fn write(page: &mut Page, upstreams: &[Arc<UpstreamCalls>], view: &MetricsView) {
    let hosts = hosts(upstreams, view);
    let doc = "Calls to a host of upstreams, by the status of the response";
    let mut requests = page.family("upstream_requests_total", "counter", doc);
    for (host, calls) in &hosts {
        for (status, count) in STATUSES.iter().zip(calls.counts.statuses).filter(|(_, count)| *count > 0) {
            requests.sample(&[("host", host), ("status", status)], count);
        }
    }
    let doc = "Calls to a host of upstreams that failed, that were not made, or whose response broke off";
    let mut errors = page.family("upstream_errors_total", "counter", doc);
    for (host, calls) in &hosts {
        for reason in Reason::ALL {
            let count = calls.counts.errors[*reason as usize];
            if count > 0 {
                errors.sample(&[("host", host), ("reason", reason.as_str())], count);
            }
        }
    }
    let doc = "Bytes of the bodies of responses of a host of upstreams";
    let mut received = page.family("upstream_received_bytes_total", "counter", doc);
    hosts.iter().for_each(|(host, calls)| received.sample(&[("host", host)], calls.received_bytes));
    let doc = "How long calls to a host of upstreams took until the head of the response, connecting included";
    let mut durations = page.family("upstream_request_duration_seconds", "histogram", doc);
    hosts.iter().for_each(|(host, calls)| durations.histogram(&[("host", host)], &calls.counts.durations));
    let doc = "How long calls to a host of upstreams took until the head of the response, connecting included";
    let mut by_status = page.foreign("http_client_request_duration_seconds", "histogram", doc);
    for (host, calls) in &hosts {
        for (status, durations) in &calls.counts.by_status {
            let status = match *status {
                0 => String::new(),
                CallCounts::OTHER => "_OTHER".to_owned(),
                status => status.to_string(),
            };
            let [address, port] = address(host);
            let labels =
                [("http_response_status_code", status.as_str()), ("server_address", &address), ("server_port", &port)];
            let up_to = only(REQUEST, durations.up_to());
            by_status.buckets(&labels, up_to, durations.count, durations.nanos as f64 / 1e9);
        }
    }
    let doc = "1 while a host of upstreams is not called because it failed again and again";
    let mut circuits = page.family("upstream_circuit_open", "gauge", doc);
    for (name, host) in &view.hosts {
        circuits.sample(&[("host", &label(name, host))], u8::from(host.circuit_open));
    }
    let doc = "1, with the number that a host of upstreams has in the label `which` of bounds";
    let mut info = page.family("upstream_info", "gauge", doc);
    for (name, host) in view.hosts.iter().filter(|(_, host)| host.named) {
        info.sample(&[("host", name), ("number", &host.number.to_string())], 1);
    }
}

/// How long names of hosts took to resolve.
pub(super) fn write_lookups(page: &mut Page, totals: &Totals) {
    let durations = &totals.counts.ops[Op::UpstreamResolve as usize];
    let (count, seconds) = (durations.histogram().count(), durations.histogram().sum() as f64 / 1e9);
    let doc = "How long it took to find the addresses of a host of upstreams";
    let mut lookups = page.foreign("dns_lookup_duration_seconds", "histogram", doc);
    lookups.buckets(&[], only(REQUEST, durations.up_to()), count, seconds);
}

/// The connections to the hosts. Each call in progress has one.
pub(super) fn write_connections(page: &mut Page, bounds: &[Arc<Bound>], view: &MetricsView) {
    let names: BTreeMap<String, String> =
        view.hosts.iter().map(|(name, host)| (host.number.to_string(), label(name, host))).collect();
    let doc = "Connections to a host of upstreams: in use by a call, or idle";
    let mut open = page.foreign("http_client_open_connections", "gauge", doc);
    for (name, state) in [(BoundName::UpstreamCalls, "active"), (BoundName::UpstreamKept, "idle")] {
        for bound in bounds.iter().filter(|bound| bound.name() == name) {
            let Some(host) = names.get(bound.which()) else { continue };
            let [address, port] = address(host);
            let labels = [("http_connection_state", state), ("server_address", &*address), ("server_port", &*port)];
            open.sample(&labels, bound.used());
        }
    }
}

/// The name and the port of a host. A host that has only a number here has no port. The text behind the port tells two
/// servers at one address apart: `koji.example.org:443 (hub)`.
fn address(host: &str) -> [String; 2] {
    let Some((name, port)) = host.rsplit_once(':') else { return [host.to_owned(), String::new()] };
    let (port, more) = port.split_once(' ').map_or((port, String::new()), |(port, more)| (port, format!(" {more}")));
    [format!("{name}{more}"), port.to_owned()]
}

fn label(name: &str, host: &HostView) -> String {
    if host.named { name.to_owned() } else { host.number.to_string() }
}

/// The calls by the label of the host. Hosts that no repository uses any more are left out.
fn hosts(upstreams: &[Arc<UpstreamCalls>], view: &MetricsView) -> BTreeMap<String, Calls> {
    let mut hosts: BTreeMap<String, Calls> = BTreeMap::new();
    for calls in upstreams {
        let label = match view.hosts.get(calls.host()) {
            Some(host) => label(calls.host(), host),
            None if calls.host() == OTHER => OTHER.to_owned(),
            None => continue,
        };
        let sum = hosts.entry(label).or_default();
        sum.received_bytes += calls.received_bytes();
        sum.counts.merge(&calls.counts());
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_a_hub_is_a_number_and_its_name_differs_from_that_of_its_files() {
        assert_eq!(address("koji.example.org:443"), ["koji.example.org", "443"]);
        assert_eq!(address("koji.example.org:443 (hub)"), ["koji.example.org (hub)", "443"]);
        assert_eq!(address("7"), ["7", ""]);
    }
}
