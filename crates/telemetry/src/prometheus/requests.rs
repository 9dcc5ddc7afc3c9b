//! The families about requests, jobs, operations and the sinks of events.

use super::page::Page;
use crate::{Counter, Layer, Op, Outcome, Reason, SinkTotals, Totals};

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
    sinks(page, totals);
}

fn requests(page: &mut Page, totals: &Totals) {
    let doc = "Requests, by the format of the repository, the layer that answered, the protocol and the status of the response";
    let mut requests = page.family("requests_total", "counter", doc);
    let mut kinds: Vec<_> = totals.counts.requests.iter().collect();
    kinds.sort();
    for (kind, count) in kinds {
        let status = if kind.status == 0 { "none".to_owned() } else { kind.status.to_string() };
        let format = if kind.format.is_empty() { "none" } else { kind.format };
        let protocol = if kind.protocol.is_empty() { "none" } else { kind.protocol };
        let layer = kind.layer.as_str();
        let labels = [("format", format), ("layer", layer), ("protocol", protocol), ("status", &status)];
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
