//! The figures of `/metrics` as points of OTLP: cumulative since the start of the process.

use super::attributes::Attributes;
use super::names;
use super::proto::{
    Buckets, CUMULATIVE, Data, Exponential, ExponentialPoint, Gauge, Histogram, HistogramPoint, KeyValue, Metric,
    Number, NumberPoint, Sum,
};
use telemetry::{MetricFamily, MetricPoint, MetricValue, Millis};

/// The scale at which a bucket of the protocol is one of [`telemetry::Histogram`]: 2^(1/16).
const SCALE: i32 = 4;

/// The time of the points, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
struct Times {
    started: u64,
    now: u64,
}

/// Families as metrics. A family without points is left out.
pub(super) fn metrics(families: Vec<MetricFamily>, started: Millis, now: Millis) -> Vec<Metric> {
    let nanos = |moment: Millis| u64::try_from(moment.0).unwrap_or(0).saturating_mul(1_000_000);
    let times = Times { started: nanos(started), now: nanos(now) };
    families.into_iter().filter_map(|family| metric(family, times)).collect()
}

/// The number of points of a metric.
pub(super) fn points(metric: &Metric) -> usize {
    match &metric.data {
        Some(Data::Gauge(gauge)) => gauge.points.len(),
        Some(Data::Sum(sum)) => sum.points.len(),
        Some(Data::Histogram(histogram)) => histogram.points.len(),
        Some(Data::Exponential(exponential)) => exponential.points.len(),
        None => 0,
    }
}

/// All points of a family have the same kind of value.
fn metric(family: MetricFamily, times: Times) -> Option<Metric> {
    let MetricFamily { name: told, doc, is_counter, points } = family;
    let exponential = matches!(points.first()?.value, MetricValue::Exponential(_));
    let (name, unit) = names::metric(&told, exponential);
    let is_ours = told.starts_with("daylight_");
    let (mut numbers, mut of_limits, mut exponentials) = (Vec::new(), Vec::new(), Vec::new());
    for MetricPoint { labels, value } in points {
        let attributes = attributes(&labels, is_ours);
        match value {
            MetricValue::Whole(whole) => numbers.push(number(Number::Int(whole), attributes, times)),
            MetricValue::Number(value) => numbers.push(number(Number::Double(value), attributes, times)),
            MetricValue::Limits { limits, counts, count, sum } => of_limits.push(HistogramPoint {
                start_time_unix_nano: times.started,
                time_unix_nano: times.now,
                count,
                sum: Some(sum),
                bucket_counts: counts,
                explicit_bounds: limits,
                attributes,
            }),
            MetricValue::Exponential(histogram) => {
                exponentials.extend(exponential_point(&histogram, attributes, times))
            }
        }
    }
    let data = if !numbers.is_empty() && is_counter {
        Data::Sum(Sum { points: numbers, temporality: CUMULATIVE, is_monotonic: true })
    } else if !numbers.is_empty() {
        Data::Gauge(Gauge { points: numbers })
    } else if !of_limits.is_empty() {
        Data::Histogram(Histogram { points: of_limits, temporality: CUMULATIVE })
    } else if !exponentials.is_empty() {
        Data::Exponential(Exponential { points: exponentials, temporality: CUMULATIVE })
    } else {
        return None;
    };
    Some(Metric { name, description: doc, unit: unit.to_owned(), data: Some(data) })
}

/// A label without a value says nothing. The status is a number, as in spans.
fn attributes(labels: &[(String, String)], is_ours: bool) -> Vec<KeyValue> {
    let mut attributes = Attributes::default();
    for (key, value) in labels {
        let key = names::label(key, is_ours);
        match value.parse() {
            Ok(status) if key == "http.response.status_code" => attributes.number(&key, status),
            _ if key == "http.response.status_code" => {}
            _ => attributes.text(&key, value),
        }
    }
    attributes.done()
}

fn number(value: Number, attributes: Vec<KeyValue>, times: Times) -> NumberPoint {
    NumberPoint { start_time_unix_nano: times.started, time_unix_nano: times.now, value: Some(value), attributes }
}

/// The same buckets, without loss. One that counts nothing yet is left out.
fn exponential_point(
    histogram: &telemetry::Histogram,
    attributes: Vec<KeyValue>,
    times: Times,
) -> Option<ExponentialPoint> {
    let (zeros, places) = histogram.places().split_first().filter(|_| histogram.count() > 0)?;
    let empty = places.iter().take_while(|count| **count == 0).count();
    let filled = places.iter().rposition(|count| *count > 0).map_or(empty, |last| last + 1);
    // The first place after the zeros is bucket -1.
    let offset = i32::try_from(empty).unwrap_or(i32::MAX).saturating_sub(1);
    Some(ExponentialPoint {
        attributes,
        start_time_unix_nano: times.started,
        time_unix_nano: times.now,
        count: histogram.count(),
        sum: Some(histogram.sum() as f64),
        scale: SCALE,
        zero_count: *zeros,
        positive: Some(Buckets { offset, bucket_counts: places[empty..filled].to_vec() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The buckets of a point by the definition of the protocol: `(base^index, base^(index + 1)]`.
    fn buckets(point: &ExponentialPoint) -> Vec<(f64, f64, u64)> {
        let Buckets { offset, bucket_counts } = point.positive.clone().unwrap();
        let edge = |index: i32| 2f64.powf(f64::from(index) / 16.0);
        let counts = bucket_counts.iter().zip(offset..).filter(|(count, _)| **count > 0);
        counts.map(|(count, index)| (edge(index), edge(index + 1), *count)).collect()
    }

    proptest! {
        #[test]
        fn every_time_is_in_a_bucket_that_has_it_by_the_definition_of_the_protocol(
            mut times in prop::collection::vec(prop_oneof![0u64..40, 0..u64::MAX >> 12], 1..50)
        ) {
            let mut histogram = telemetry::Histogram::default();
            times.iter().for_each(|time| histogram.record(*time));
            let point = exponential_point(&histogram, Vec::new(), Times { started: 0, now: 1 }).unwrap();
            prop_assert_eq!((point.count, point.sum), (times.len() as u64, Some(histogram.sum() as f64)));
            times.sort_unstable();
            let zeros = times.iter().filter(|time| **time == 0).count();
            prop_assert_eq!(point.zero_count, zeros as u64);
            let mut sorted = times[zeros..].iter();
            for (lower, upper, count) in buckets(&point) {
                for _ in 0..count {
                    let time = *sorted.next().unwrap() as f64;
                    // The edges are irrational, and the reader computes them with 53 bits.
                    prop_assert!(time > lower * (1.0 - 1e-12) && time <= upper * (1.0 + 1e-12), "{time} in ({lower}, {upper}]");
                }
            }
            prop_assert!(sorted.next().is_none());
        }
    }
}
