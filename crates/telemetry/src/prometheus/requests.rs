//! The families about requests, jobs, operations and the sinks of events.

use super::page::Page;
use crate::{CensusTotals, Counter, Layer, Op, Outcome, Reason, SinkTotals, Totals};
use std::collections::BTreeMap;

pub(super) fn write(page: &mut Page, totals: &Totals) {
    for counter in Counter::ALL {
        let name = format!("{}_total", counter.as_str());
        page.family(&name, "counter", counter.doc()).sample(&[], totals.counter(*counter));
    }
    page.family("in_flight", "gauge", "Attempts in progress").sample(&[], totals.in_flight());
    let mut outcomes = page.family("outcomes_total", "counter", "How attempts ended");
    for outcome in Outcome::ALL {
        outcomes.sample(&[("outcome", outcome.as_str())], totals.outcome(*outcome));
    }
    let mut reasons = page.family("reasons_total", "counter", "Why attempts ended with this outcome");
    for reason in Reason::ALL {
        reasons.sample(&[("reason", reason.as_str())], totals.reason(*reason));
    }
    requests(page, totals);
    let mut ops = page.family("op_duration_seconds", "histogram", "How long each kind of work took");
    for op in Op::ALL {
        ops.histogram(&[("op", op.as_str())], &totals.counts.ops[*op as usize]);
    }
    let doc = "Runs of each kind of work without which the answer would have been the same";
    let mut vain = page.family("op_vain_total", "counter", doc);
    for op in Op::ALL {
        vain.sample(&[("op", op.as_str())], totals.counts.vain[*op as usize]);
    }
    sinks(page, totals);
    censuses(page, totals);
}

fn requests(page: &mut Page, totals: &Totals) {
    let doc = "Requests, by the format of the repository, the layer that answered, the protocol and the status of the response";
    let mut requests = page.family("requests_total", "counter", doc);
    let mut kinds: BTreeMap<_, u64> = BTreeMap::new();
    for (kind, counts) in totals.counts.requests.iter() {
        *kinds.entry((kind.format, kind.layer, kind.protocol, kind.status)).or_default() += counts.durations.count;
    }
    for ((format, layer, protocol, status), count) in kinds {
        let status = if status == 0 { "none".to_owned() } else { status.to_string() };
        let [format, protocol] = [format, protocol].map(|text| if text.is_empty() { "none" } else { text });
        let labels = [("format", format), ("layer", layer.as_str()), ("protocol", protocol), ("status", &status)];
        requests.sample(&labels, count);
    }
    let bytes = [
        ("received_bytes_total", "Bytes of request bodies, by the layer that answered", totals.counts.received_bytes),
        ("sent_bytes_total", "Bytes of response bodies, by the layer that answered", totals.counts.sent_bytes),
    ];
    for (name, doc, counts) in bytes {
        let mut family = page.family(name, "counter", doc);
        for layer in Layer::ALL {
            family.sample(&[("layer", layer.as_str())], counts[*layer as usize]);
        }
    }
    let durations = [
        (
            "request_duration_seconds",
            "From the first byte of a request to the last byte of its response",
            &totals.counts.durations,
        ),
        (
            "request_first_byte_seconds",
            "From the first byte of a request to the first byte of its response",
            &totals.counts.first_bytes,
        ),
    ];
    for (name, doc, durations) in durations {
        let mut family = page.family(name, "histogram", doc);
        for layer in Layer::ALL {
            family.histogram(&[("layer", layer.as_str())], &durations[*layer as usize]);
        }
    }
}

fn sinks(page: &mut Page, totals: &Totals) {
    let mut each = |name: &str, doc: &str, read: fn(&SinkTotals) -> u64| {
        let mut family = page.family(name, "counter", doc);
        for sink in totals.sinks() {
            family.sample(&[("sink", sink.name)], read(sink));
        }
    };
    each("sink_taken_events_total", "Events that a sink accepted", |sink| sink.taken);
    each("sink_dropped_events_total", "Events that were dropped because the queue of a sink was full", |sink| {
        sink.dropped
    });
    each("sink_errors_total", "Batches of events that a sink failed to write", |sink| sink.errors);
    each("sink_panics_total", "Batches of events at which a sink panicked", |sink| sink.panics);
}

fn censuses(page: &mut Page, totals: &Totals) {
    let mut each = |name: &str, doc: &str, read: fn(&CensusTotals) -> u64| {
        let mut family = page.family(name, "counter", doc);
        for census in totals.censuses() {
            family.sample(&[("census", census.name)], read(census));
        }
    };
    each("census_events_total", "Events that a census saw before they were unpacked", |census| census.seen);
    let doc = "Events that a census did not see, because it panicked and is not called any more";
    each("census_missed_events_total", doc, |census| census.missed);
    let doc = "Events that were unpacked, because a sink wants all events or a census needs this one";
    page.family("events_unpacked_total", "counter", doc).sample(&[], totals.unpacked());
}
