//! The figures of `/metrics` as values, for protocols other than the text format of Prometheus.

use crate::Histogram;

/// A family of figures.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricFamily {
    /// The name in `/metrics`.
    pub name: String,
    /// A description for people.
    pub doc: String,
    /// Whether its numbers only go up while the server runs.
    pub is_counter: bool,
    /// A value for each combination of labels.
    pub points: Vec<MetricPoint>,
}

/// One value of a family.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricPoint {
    /// Names and values, in the order of `/metrics`.
    pub labels: Vec<(String, String)>,
    /// The value.
    pub value: MetricValue,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum MetricValue {
    /// A whole number.
    Whole(i64),
    /// Any number.
    Number(f64),
    /// Counts up to fixed limits, in the unit of the family.
    Limits {
        /// The limits, in ascending order.
        limits: Vec<f64>,
        /// The number of values in each: above the limit before, up to this limit; the last one counts those above all limits.
        counts: Vec<u64>,
        /// The number of all values.
        count: u64,
        /// Their sum.
        sum: f64,
    },
    /// Times in nanoseconds in exponential buckets, even where the name of the family ends in `_seconds`.
    Exponential(Histogram),
}

impl MetricValue {
    /// From counts of all values up to each limit, whose texts are numbers.
    pub(crate) fn of_limits<'a>(up_to: impl Iterator<Item = (&'a str, u64)>, count: u64, sum: f64) -> Self {
        let (mut limits, mut counts, mut before) = (Vec::new(), Vec::new(), 0);
        for (limit, up_to) in up_to {
            limits.push(limit.parse().unwrap_or(f64::MAX));
            counts.push(up_to.saturating_sub(before));
            before = up_to;
        }
        counts.push(count.saturating_sub(before));
        Self::Limits { limits, counts, count, sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Event, Layer, MetricsView, Outcome, Recorder};
    use std::collections::BTreeMap;

    #[test]
    fn counts_up_to_limits_become_counts_between_them() {
        let value = MetricValue::of_limits([("0.5", 2), ("1", 5)].into_iter(), 6, 4.5);
        let MetricValue::Limits { limits, counts, count, sum } = value else { panic!() };
        assert_eq!((limits, counts, count, sum), (vec![0.5, 1.0], vec![2, 3, 1], 6, 4.5));
    }

    /// The numbers of a page of text, by name and labels; of histograms the counts.
    fn numbers(text: &str) -> BTreeMap<String, f64> {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.contains("_bucket{"));
        lines
            .map(|line| line.rsplit_once(' ').unwrap())
            .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn the_values_are_those_of_the_text() {
        let recorder = Recorder::silent(Clock::default());
        for (status, took) in [(200, 5_000_000), (404, 70_000_000), (200, 20)] {
            recorder.attempt();
            let mut event = Event::request(recorder.clock().now(), crate::Tick(0));
            (event.status, event.duration, event.first_byte, event.bytes_out) = (status, took, took, 7);
            (event.method, event.protocol, event.layer) = ("GET", "HTTP/1.1", Layer::Hosted);
            event.outcome = Some(Outcome::Answered);
            recorder.release(event);
        }
        let view = MetricsView::default();
        let (families, text) = (recorder.metric_families(&view), numbers(&recorder.prometheus(&view)));
        let mut compared = 0;
        for family in &families {
            for point in &family.points {
                let labels: Vec<String> =
                    point.labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
                let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
                let (suffix, value) = match &point.value {
                    MetricValue::Whole(whole) => ("", *whole as f64),
                    MetricValue::Number(number) => ("", *number),
                    MetricValue::Limits { count, counts, .. } => {
                        assert_eq!(counts.iter().sum::<u64>(), *count, "{}", family.name);
                        ("_count", *count as f64)
                    }
                    MetricValue::Exponential(histogram) => {
                        assert_eq!(histogram.places().iter().sum::<u64>(), histogram.count());
                        ("_count", histogram.count() as f64)
                    }
                };
                // Figures of the process, and of metrics themselves, go on.
                if !family.name.starts_with("process_") && !family.name.starts_with("daylight_metrics_") {
                    assert_eq!(text.get(&format!("{}{suffix}{labels}", family.name)), Some(&value), "{}", family.name);
                    compared += 1;
                }
            }
        }
        assert!(compared > 300, "{compared}");
        let requests = families.iter().find(|family| family.name == "daylight_requests_total").unwrap();
        assert!(requests.is_counter && requests.points.len() == 2, "{requests:?}");
    }
}
