//! The families of requests with the names of OpenTelemetry.

use super::limits::{REQUEST, only};
use super::page::Page;
use crate::Totals;
use crate::counts::request_counts::{RequestCounts, RequestKind, Sizes};
use std::collections::BTreeMap;

pub(super) fn write(page: &mut Page, totals: &Totals) {
    let all = &totals.counts.requests;
    let active = totals.requests_in_flight();
    page.foreign("http_server_active_requests", "gauge", "Requests in progress").sample(&[], active);
    let mut kinds: BTreeMap<_, RequestCounts> = BTreeMap::new();
    for (RequestKind { method, status, protocol, route, .. }, counts) in all.iter() {
        kinds.entry((*route, standard(method), *status, *protocol)).or_default().merge(counts);
    }
    let doc = "From the first byte of a request to the last byte of its response";
    let mut durations = page.foreign("http_server_request_duration_seconds", "histogram", doc);
    for ((route, method, status, protocol), counts) in &kinds {
        let status = if *status == 0 { String::new() } else { status.to_string() };
        let (name, version) = protocol.split_once('/').map_or(("", ""), |(_, version)| ("http", version));
        let labels = [
            ("http_request_method", *method),
            ("http_response_status_code", &status),
            ("http_route", route.as_str()),
            ("network_protocol_name", name),
            ("network_protocol_version", version),
        ];
        let taken = &counts.durations;
        durations.buckets(&labels, only(REQUEST, taken.up_to()), taken.count, taken.nanos as f64 / 1e9);
    }
    let mut bodies: BTreeMap<_, (Sizes, Sizes)> = BTreeMap::new();
    for (kind, counts) in all.iter() {
        let (received, sent) = bodies.entry((kind.route, standard(kind.method))).or_default();
        received.merge(&counts.received);
        sent.merge(&counts.sent);
    }
    let mut sizes = |name: &str, doc: &str, of: fn(&(Sizes, Sizes)) -> &Sizes| {
        let mut family = page.foreign(name, "histogram", doc);
        for ((route, method), both) in &bodies {
            let labels = [("http_request_method", *method), ("http_route", route.as_str())];
            let sizes = of(both);
            let up_to = sizes.between.iter().scan(0, |sum, between| {
                *sum += between;
                Some(*sum)
            });
            let up_to = Sizes::LIMITS.iter().zip(up_to).map(|((_, limit), count)| (*limit, count));
            family.buckets(&labels, up_to, sizes.count, sizes.bytes);
        }
    };
    sizes("http_server_request_body_size_bytes", "Sizes of the bodies of requests", |(received, _)| received);
    sizes("http_server_response_body_size_bytes", "Sizes of the bodies of responses", |(_, sent)| sent);
}

/// The method as OpenTelemetry names it.
fn standard(method: &'static str) -> &'static str {
    if matches!(method, "" | "OTHER") { "_OTHER" } else { method }
}
