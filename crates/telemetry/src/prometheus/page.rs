//! Lines of the text format 0.0.4 of Prometheus.

use crate::durations::Durations;
use std::fmt::{Display, Write};

/// The prefix of Daylight's own names. Names of the process are those of the client libraries and start with `process_`.
const OURS: &str = "daylight_";

/// The text so far. Writing to a string cannot fail.
#[derive(Default)]
pub(super) struct Page {
    text: String,
}

/// A family whose samples are being written.
pub(super) struct Family<'a> {
    page: &'a mut Page,
    prefix: &'static str,
    name: &'a str,
}

impl Page {
    /// A family with our prefix.
    pub(super) fn family<'a>(&'a mut self, name: &'a str, kind: &str, doc: &str) -> Family<'a> {
        self.begin(OURS, name, kind, doc)
    }

    /// A family whose whole name is `name`.
    pub(super) fn foreign<'a>(&'a mut self, name: &'a str, kind: &str, doc: &str) -> Family<'a> {
        self.begin("", name, kind, doc)
    }

    fn begin<'a>(&'a mut self, prefix: &'static str, name: &'a str, kind: &str, doc: &str) -> Family<'a> {
        let doc = doc.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(self.text, "# HELP {prefix}{name} {doc}\n# TYPE {prefix}{name} {kind}");
        Family { page: self, prefix, name }
    }

    pub(super) fn text(self) -> String {
        self.text
    }
}

impl Family<'_> {
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.line("", labels, value);
    }

    /// A classic histogram in seconds.
    pub(super) fn histogram(&mut self, labels: &[(&str, &str)], durations: &Durations) {
        let histogram = durations.histogram();
        let mut bucket = |le: &str, count: u64| {
            let labels: Vec<_> = labels.iter().copied().chain([("le", le)]).collect();
            self.line("_bucket", &labels, count);
        };
        for (limit, count) in durations.up_to() {
            bucket(&(limit as f64 / 1e9).to_string(), count);
        }
        bucket("+Inf", histogram.count());
        self.line("_sum", labels, histogram.sum() as f64 / 1e9);
        self.line("_count", labels, histogram.count());
    }

    fn line(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let Self { page: Page { text }, prefix, name } = self;
        let _ = write!(text, "{prefix}{name}{suffix}");
        for (i, (key, value)) in labels.iter().enumerate() {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(text, "{}{key}=\"{value}\"", if i == 0 { '{' } else { ',' });
        }
        let _ = writeln!(text, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }
}
