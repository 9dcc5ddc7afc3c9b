//! `/metrics`: the counters, histograms and bounds in the text format of Prometheus.

use crate::totals::STATUS_CLASSES;
use crate::{Bound, Counter, Histogram, Layer, LoopMonitor, Op, Outcome, Reason, Recorder, SinkTotals, Totals};
use std::fmt::{Display, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Exponents of the classic buckets in nanoseconds: from 1 us to 17 s in steps of a factor 4. A bucket of [`Histogram`] ends at each
/// power of two, so their counts are exact.
const BUCKETS: std::ops::RangeInclusive<u32> = 10..=34;

pub(crate) fn render(recorder: &Recorder) -> String {
    let mut page = Page::default();
    let totals = recorder.totals();
    about_the_process(&mut page, recorder, &totals);
    about_requests(&mut page, &totals);
    page.family("op_duration_seconds", "histogram", "How long each kind of work takes");
    for op in Op::ALL {
        page.histogram("op_duration_seconds", &[("op", op.as_str())], totals.op(*op));
    }
    about_sinks(&mut page, &totals);
    about_bounds(&mut page, &recorder.bounds());
    about_loops(&mut page, &recorder.loop_monitors());
    page.0
}

fn about_the_process(page: &mut Page, recorder: &Recorder, totals: &Totals) {
    page.family("info", "gauge", "What runs here");
    page.sample("info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    page.family("start_time_seconds", "gauge", "Start time of the process, in seconds since 1970");
    page.sample("start_time_seconds", &[], recorder.started().seconds());
    for counter in Counter::ALL {
        let name = format!("{}_total", counter.as_str());
        page.family(&name, "counter", counter.doc());
        page.sample(&name, &[], totals.counter(*counter));
    }
    page.family("in_flight", "gauge", "Attempts in progress");
    page.sample("in_flight", &[], totals.in_flight());
    for gauge in recorder.gauges() {
        let name = gauge.name.replace('.', "_");
        page.family(&name, "gauge", gauge.doc);
        if let Ok(value) = catch_unwind(AssertUnwindSafe(&gauge.read)) {
            page.sample(&name, &[], value);
        }
    }
    for gauge in recorder.labelled_gauges() {
        page.family(gauge.name, "gauge", gauge.doc);
        for (value, figure) in catch_unwind(AssertUnwindSafe(&gauge.read)).unwrap_or_default() {
            page.sample(gauge.name, &[(gauge.label, &value)], figure);
        }
    }
}

fn about_requests(page: &mut Page, totals: &Totals) {
    page.family("outcomes_total", "counter", "How attempts ended");
    for outcome in Outcome::ALL {
        page.sample("outcomes_total", &[("outcome", outcome.as_str())], totals.outcome(*outcome));
    }
    page.family("reasons_total", "counter", "Why attempts ended as they did");
    for reason in Reason::ALL {
        page.sample("reasons_total", &[("reason", reason.as_str())], totals.reason(*reason));
    }
    page.family("replies_total", "counter", "Requests by the layer that answered and the class of the status");
    for layer in Layer::ALL {
        for (class, name) in STATUS_CLASSES.iter().enumerate() {
            let labels = [("layer", layer.as_str()), ("status", name)];
            page.sample("replies_total", &labels, totals.replies(*layer, class as u16));
        }
    }
    page.family("request_duration_seconds", "histogram", "From a request's first byte to the end of its reply");
    for layer in Layer::ALL {
        page.histogram("request_duration_seconds", &[("layer", layer.as_str())], totals.duration(*layer));
    }
    page.family("first_byte_seconds", "histogram", "From a request's first byte to its reply's first");
    for layer in Layer::ALL {
        page.histogram("first_byte_seconds", &[("layer", layer.as_str())], totals.first_byte(*layer));
    }
}

fn about_sinks(page: &mut Page, totals: &Totals) {
    let mut each = |name: &str, doc: &str, read: fn(&SinkTotals) -> u64| {
        page.family(name, "counter", doc);
        for sink in totals.sinks() {
            page.sample(name, &[("sink", sink.name)], read(sink));
        }
    };
    each("sink_taken_events_total", "Events that a sink accepted", |sink| sink.taken);
    each("sink_dropped_events_total", "Events that were dropped because a sink's queue was full", |sink| sink.dropped);
    each("sink_errors_total", "Batches for which a sink returned an error", |sink| sink.errors);
    each("sink_panics_total", "Batches for which a sink panicked", |sink| sink.panics);
}

fn about_bounds(page: &mut Page, bounds: &[Arc<Bound>]) {
    let labels = |bound: &Bound| -> [(&'static str, String); 3] {
        let name = bound.name();
        [("bound", name.as_str().into()), ("which", bound.which().into()), ("unit", name.unit().into())]
    };
    let mut each = |name: &str, kind: &str, doc: &str, read: fn(&Bound) -> u64| {
        page.family(name, kind, doc);
        for bound in bounds {
            page.sample(name, &borrowed(&labels(bound)), read(bound));
        }
    };
    each("bound_capacity", "gauge", "What fits", Bound::capacity);
    each("bound_used", "gauge", "The amount in use", Bound::used);
    each("bound_highest", "gauge", "The largest amount that was ever in use", Bound::highest);
    each("bound_waiters", "gauge", "Callers that wait", Bound::waiters);
    each("bound_rejected_total", "counter", "Requests for a place that were rejected", Bound::rejected);
    page.family("bound_wait_seconds", "histogram", "How long callers waited for a place");
    for bound in bounds {
        page.histogram("bound_wait_seconds", &borrowed(&labels(bound)), &bound.waits());
    }
}

fn about_loops(page: &mut Page, monitors: &[Arc<LoopMonitor>]) {
    let name = "loop_blocked_longest_seconds";
    page.family(
        name,
        "gauge",
        "The longest turn of a task on an event loop in the last one to two minutes, and the op that took most of it",
    );
    for monitor in monitors {
        let longest = monitor.longest();
        let labels = [("loop", monitor.name()), ("op", longest.op.map_or("none", Op::as_str))];
        page.sample(name, &labels, longest.nanos as f64 / 1e9);
    }
    let name = "loop_late_longest_seconds";
    page.family(
        name,
        "gauge",
        "The longest time in the last one to two minutes that a ready task waited for its event loop",
    );
    for monitor in monitors {
        page.sample(name, &[("loop", monitor.name())], monitor.latest() as f64 / 1e9);
    }
    page.family(
        "loop_starved_seconds_total",
        "counter",
        "How long an event loop was ready to run and had no processor",
    );
    for monitor in monitors {
        page.sample("loop_starved_seconds_total", &[("loop", monitor.name())], monitor.starved() as f64 / 1e9);
    }
    page.family("loop_late_seconds", "histogram", "How late the timer of an event loop fired");
    for monitor in monitors {
        page.histogram("loop_late_seconds", &[("loop", monitor.name())], &monitor.lateness());
    }
    page.family("loop_ops_total", "counter", "Operations that blocked an event loop");
    for monitor in monitors {
        for op in Op::ALL.iter().filter(|op| monitor.runs(**op) > 0) {
            page.sample("loop_ops_total", &[("loop", monitor.name()), ("op", op.as_str())], monitor.runs(*op));
        }
    }
}

fn borrowed<'a>(labels: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    labels.iter().map(|(key, value)| (*key, value.as_str())).collect()
}

/// The text so far. Writing to a string cannot fail.
#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, doc: &str) {
        let doc = doc.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(self.0, "# HELP daylight_{name} {doc}\n# TYPE daylight_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.0, "daylight_{name}");
        for (i, (key, value)) in labels.iter().enumerate() {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{}{key}=\"{value}\"", if i == 0 { '{' } else { ',' });
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    /// Nanoseconds as a classic histogram in seconds.
    fn histogram(&mut self, name: &str, labels: &[(&str, &str)], histogram: &Histogram) {
        let bucket = format!("{name}_bucket");
        let mut to = |le: &str, count: u64| {
            let labels: Vec<_> = labels.iter().copied().chain([("le", le)]).collect();
            self.sample(&bucket, &labels, count);
        };
        for exponent in BUCKETS.step_by(2) {
            let nanos = 1u64 << exponent;
            to(&(nanos as f64 / 1e9).to_string(), histogram.count_to(nanos));
        }
        to("+Inf", histogram.count());
        self.sample(&format!("{name}_sum"), labels, histogram.sum() as f64 / 1e9);
        self.sample(&format!("{name}_count"), labels, histogram.count());
    }
}

#[cfg(test)]
mod tests;
