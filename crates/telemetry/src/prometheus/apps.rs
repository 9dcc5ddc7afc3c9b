//! The families about the applications in front of which the server stands.

use super::page::Page;
use crate::counts::apps::{AppCounts, Apps, LAYERS, LaneCounts};
use crate::prometheus::metrics_view::{MetricsView, OTHER};
use crate::{Outcome, Reason, Totals};
use std::collections::BTreeMap;

pub(super) fn write(page: &mut Page, totals: &Totals, view: &MetricsView) {
    let apps = &totals.counts.apps;
    requests(page, apps);
    let each = |page: &mut Page, name, doc, read: fn(&AppCounts) -> f64| {
        let mut family = page.family(name, "counter", doc);
        apps.iter().for_each(|(app, counts)| family.sample(&[("app", app)], read(counts)));
    };
    let doc = "Bytes of the bodies of requests for an application";
    each(page, "app_received_bytes_total", doc, |counts| counts.received_bytes as f64);
    let doc = "Requests for an application of which a trusted proxy told when it had got them";
    each(page, "app_queued_outside_requests_total", doc, |counts| counts.queued_outside.0 as f64);
    let doc = "How long these requests waited before they reached the server";
    each(page, "app_queued_outside_seconds_total", doc, |counts| counts.queued_outside.1 as f64 / 1e9);
    lanes(page, apps);
    backends(page, apps, view);
}

fn requests(page: &mut Page, apps: &Apps) {
    let mut requests =
        page.family("app_requests_total", "counter", "Requests for an application, by the state of its cache");
    for (app, counts) in apps.iter() {
        for (state, count) in &counts.by_cache {
            let state = if state.is_empty() { "none" } else { state };
            requests.sample(&[("app", app), ("cache", state)], count);
        }
    }
    let doc = "Requests for an application that a page which it wrote might answer, by what became of the page";
    let mut pages = page.family("app_pages_total", "counter", doc);
    for (app, counts) in apps.iter() {
        for (outcome, count) in &counts.by_page {
            pages.sample(&[("app", app), ("outcome", outcome)], count);
        }
    }
    let mut outcomes = page.family("app_outcomes_total", "counter", "How requests for an application ended");
    for (app, counts) in apps.iter() {
        for (outcome, count) in Outcome::ALL.iter().zip(counts.outcomes).filter(|(_, count)| *count > 0) {
            outcomes.sample(&[("app", app), ("outcome", outcome.as_str())], count);
        }
    }
    let mut reasons = page.family("app_reasons_total", "counter", "Why requests for an application ended so");
    for (app, counts) in apps.iter() {
        for (reason, count) in Reason::ALL.iter().zip(counts.reasons).filter(|(_, count)| *count > 0) {
            reasons.sample(&[("app", app), ("reason", reason.as_str())], count);
        }
    }
    let mut sent = page.family("app_sent_bytes_total", "counter", "Bytes of the bodies of responses of an application");
    for (app, counts) in apps.iter() {
        for (layer, bytes) in LAYERS.iter().zip(counts.sent_bytes) {
            sent.sample(&[("app", app), ("layer", layer.as_str())], bytes);
        }
    }
    let doc = "From the first byte of a request for an application to the first byte of its response, since the start";
    let mut times = page.family("app_first_byte_seconds", "summary", doc);
    for (app, counts) in apps.iter() {
        for (layer, first_bytes) in LAYERS.iter().zip(&counts.first_bytes) {
            times.summary(&[("app", app), ("layer", layer.as_str())], first_bytes);
        }
    }
}

fn lanes(page: &mut Page, apps: &Apps) {
    let mut each = |name: &str, doc: &str, read: fn(&LaneCounts) -> f64| {
        let mut family = page.family(name, "counter", doc);
        for (app, counts) in apps.iter() {
            for (lane, counts) in &counts.lanes {
                family.sample(&[("app", app), ("lane", lane)], read(counts));
            }
        }
    };
    each("app_lane_requests_total", "Requests that got a slot of a lane", |lane| lane.requests as f64);
    let doc = "How long slots of a lane were taken, from connecting to the last byte of the response";
    each("app_lane_busy_seconds_total", doc, |lane| lane.busy_nanos as f64 / 1e9);
    let doc = "How long requests that have ended waited for a slot of a lane";
    each("app_lane_waited_seconds_total", doc, |lane| lane.waited_nanos as f64 / 1e9);
}

/// Readers who may not know the backends see their sum.
fn backends(page: &mut Page, apps: &Apps, view: &MetricsView) {
    let mut requests: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut failures: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for (app, counts) in apps.iter() {
        for (backend, counts) in &counts.backends {
            let backend = if view.backends_named { backend } else { OTHER };
            *requests.entry((app, backend)).or_default() += counts.requests;
            for (reason, count) in Reason::ALL.iter().zip(counts.failures).filter(|(_, count)| *count > 0) {
                *failures.entry((app, backend, reason.as_str())).or_default() += count;
            }
        }
    }
    let mut family =
        page.family("app_backend_requests_total", "counter", "Requests that were sent to a backend of an application");
    for ((app, backend), count) in requests {
        family.sample(&[("app", app), ("backend", backend)], count);
    }
    let doc = "Requests to which a backend of an application gave no whole response";
    let mut family = page.family("app_backend_failures_total", "counter", doc);
    for ((app, backend, reason), count) in failures {
        family.sample(&[("app", app), ("backend", backend), ("reason", reason)], count);
    }
}
