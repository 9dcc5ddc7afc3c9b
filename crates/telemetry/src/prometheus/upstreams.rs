//! The families about the hosts of upstreams.

use super::page::Page;
use crate::metrics_view::{HostView, MetricsView, OTHER};
use crate::upstream_calls::CallCounts;
use crate::{Reason, UpstreamCalls};
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
