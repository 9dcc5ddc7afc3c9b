//! Figures by family: as lines of the text format 0.0.4 of Prometheus, or as values.

use crate::Histogram;
use crate::histogram::durations::{Durations, LIMITS};
use crate::prometheus::values::{MetricFamily, MetricPoint, MetricValue};
use std::fmt::{Display, Write};

/// The prefix of Daylight's own names. Other names are those of OpenTelemetry, and of the client libraries of Prometheus.
const OURS: &str = "daylight_";

/// The text so far. Writing to a string cannot fail.
#[derive(Default)]
pub(super) struct Page {
    text: String,
    families: Vec<Written>,
    /// The values in place of the text, if they are wanted.
    values: Option<Vec<MetricFamily>>,
}

/// A family in the text.
pub(super) struct Written {
    pub(super) name: String,
    pub(super) series: usize,
    /// Where its lines begin.
    from: usize,
}

/// A family whose samples are being written.
pub(super) struct Family<'a> {
    page: &'a mut Page,
    prefix: &'static str,
    name: &'a str,
}

impl Page {
    /// A page of values, without text.
    pub(super) fn of_values() -> Self {
        Self { values: Some(Vec::new()), ..Self::default() }
    }

    /// The values; none for a page of text.
    pub(super) fn values(self) -> Vec<MetricFamily> {
        self.values.unwrap_or_default()
    }

    /// A family with our prefix.
    pub(super) fn family<'a>(&'a mut self, name: &'a str, kind: &str, doc: &str) -> Family<'a> {
        self.begin(OURS, name, kind, doc)
    }

    /// A family whose whole name is `name`.
    pub(super) fn foreign<'a>(&'a mut self, name: &'a str, kind: &str, doc: &str) -> Family<'a> {
        self.begin("", name, kind, doc)
    }

    fn begin<'a>(&'a mut self, prefix: &'static str, name: &'a str, kind: &str, doc: &str) -> Family<'a> {
        self.families.push(Written { name: format!("{prefix}{name}"), series: 0, from: self.text.len() });
        if let Some(values) = &mut self.values {
            let (name, doc) = (format!("{prefix}{name}"), doc.to_owned());
            values.push(MetricFamily { name, doc, is_counter: kind == "counter", points: Vec::new() });
            return Family { page: self, prefix, name: "" };
        }
        let doc = doc.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(self.text, "# HELP {prefix}{name} {doc}\n# TYPE {prefix}{name} {kind}");
        Family { page: self, prefix, name }
    }

    /// The families so far, in their order.
    pub(super) fn families(&self) -> &[Written] {
        &self.families
    }

    /// Removes the families for which `goes` is true.
    pub(super) fn remove(&mut self, goes: impl Fn(&str) -> bool) {
        if let Some(values) = &mut self.values {
            values.retain(|family| !goes(&family.name));
            self.families.retain(|family| !goes(&family.name));
            return;
        }
        let ends: Vec<usize> = self.families.iter().skip(1).map(|next| next.from).chain([self.text.len()]).collect();
        let mut kept = Page { text: String::with_capacity(self.text.len()), ..Page::default() };
        for (family, end) in std::mem::take(&mut self.families).into_iter().zip(ends) {
            if !goes(&family.name) {
                let from = kept.text.len();
                kept.text.push_str(&self.text[family.from..end]);
                kept.families.push(Written { from, ..family });
            }
        }
        *self = kept;
    }

    pub(super) fn text(self) -> String {
        self.text
    }
}

impl Family<'_> {
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        if self.is_of_values() {
            // This happens once a minute, and spares a trait for numbers at a hundred places.
            let text = value.to_string();
            let whole = text.parse().ok().map(MetricValue::Whole);
            return self.point(labels, whole.unwrap_or_else(|| MetricValue::Number(text.parse().unwrap_or_default())));
        }
        self.line("", labels, None, value);
    }

    /// A classic histogram in seconds, with all limits of [`Durations`].
    pub(super) fn histogram(&mut self, labels: &[(&str, &str)], durations: &Durations) {
        if self.is_of_values() {
            return self.point(labels, MetricValue::Exponential(durations.histogram().clone()));
        }
        let up_to = LIMITS.iter().zip(durations.up_to()).map(|((_, text), (_, count))| (*text, count));
        let histogram = durations.histogram();
        self.buckets(labels, up_to, histogram.count(), histogram.sum() as f64 / 1e9);
    }

    /// A classic histogram: each limit with the number of values up to it, the number of all values, and their sum.
    pub(super) fn buckets<'b>(
        &mut self,
        labels: &[(&str, &str)],
        up_to: impl Iterator<Item = (&'b str, u64)>,
        count: u64,
        sum: impl Display,
    ) {
        if self.is_of_values() {
            let sum = sum.to_string().parse().unwrap_or_default();
            return self.point(labels, MetricValue::of_limits(up_to, count, sum));
        }
        for (limit, count) in up_to.chain([("+Inf", count)]) {
            self.line("_bucket", labels, Some(limit), count);
        }
        self.line("_sum", labels, None, sum);
        self.line("_count", labels, None, count);
    }

    /// A summary in seconds, of times in nanoseconds since the start.
    pub(super) fn summary(&mut self, labels: &[(&str, &str)], times: &Histogram) {
        if self.is_of_values() {
            return self.point(labels, MetricValue::Exponential(times.clone()));
        }
        for (text, quantile) in [("0.5", 0.5), ("0.95", 0.95), ("0.99", 0.99)] {
            let labels: Vec<_> = labels.iter().copied().chain([("quantile", text)]).collect();
            self.line("", &labels, None, times.quantile(quantile) as f64 / 1e9);
        }
        self.line("_sum", labels, None, times.sum() as f64 / 1e9);
        self.line("_count", labels, None, times.count());
    }

    fn is_of_values(&self) -> bool {
        self.page.values.is_some()
    }

    /// Adds a value to the family.
    fn point(&mut self, labels: &[(&str, &str)], value: MetricValue) {
        let Page { families, values, .. } = &mut *self.page;
        if let (Some(written), Some(family)) = (families.last_mut(), values.as_mut().and_then(|all| all.last_mut())) {
            written.series += 1;
            let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            family.points.push(MetricPoint { labels, value });
        }
    }

    fn line(&mut self, suffix: &str, labels: &[(&str, &str)], limit: Option<&str>, value: impl Display) {
        let Self { page: Page { text, families, .. }, prefix, name } = self;
        if let Some(family) = families.last_mut() {
            family.series += 1;
        }
        for part in [*prefix, name, suffix] {
            text.push_str(part);
        }
        let mut open = '{';
        for (key, value) in labels.iter().copied().chain(limit.map(|limit| ("le", limit))) {
            text.push(open);
            text.push_str(key);
            text.push_str("=\"");
            escape(text, value);
            text.push('"');
            open = ',';
        }
        if open == ',' {
            text.push('}');
        }
        let _ = writeln!(text, " {value}");
    }
}

/// Appends the value of a label.
fn escape(text: &mut String, value: &str) {
    if !value.contains(['\\', '"', '\n']) {
        return text.push_str(value);
    }
    for c in value.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            c => text.push(c),
        }
    }
}
