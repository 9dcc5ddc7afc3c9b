//! What a receiver was told, from the JSON of the protocol, as a collector writes it.

use serde_json::Value;
use std::collections::BTreeMap;

/// Attributes, as texts.
pub(super) type Attributes = BTreeMap<String, String>;

/// A span.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) name: String,
    pub(super) span_id: String,
    pub(super) attributes: Attributes,
}

/// What was told: all spans, and the last value of each series of a metric.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    pub(super) resource: Attributes,
    pub(super) spans: Vec<Span>,
    pub(super) metrics: BTreeMap<String, BTreeMap<Vec<(String, String)>, f64>>,
}

fn each<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn number(value: &Value) -> f64 {
    // Whole numbers of 64 bits are texts in the JSON of the protocol.
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(0.0)
}

fn attributes(of: &Value) -> Attributes {
    let text = |value: &Value| match value.as_object().and_then(|one| one.values().next()) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    each(of, "attributes").map(|pair| (pair["key"].as_str().unwrap().to_owned(), text(&pair["value"]))).collect()
}

impl Told {
    /// From the requests in their order.
    pub(super) fn of(requests: &[Value]) -> Self {
        let mut told = Self::default();
        for request in requests {
            for resource in each(request, "resourceSpans").chain(each(request, "resourceMetrics")) {
                told.resource = attributes(&resource["resource"]);
            }
            let scopes = each(request, "resourceSpans").flat_map(|resource| each(resource, "scopeSpans"));
            told.spans.extend(scopes.flat_map(|scope| each(scope, "spans")).map(|span| Span {
                name: span["name"].as_str().unwrap().to_owned(),
                span_id: span["spanId"].as_str().unwrap().to_owned(),
                attributes: attributes(span),
            }));
            let scopes = each(request, "resourceMetrics").flat_map(|resource| each(resource, "scopeMetrics"));
            scopes.flat_map(|scope| each(scope, "metrics")).for_each(|metric| told.metric(metric));
        }
        told
    }

    fn metric(&mut self, metric: &Value) {
        let series = self.metrics.entry(metric["name"].as_str().unwrap().to_owned()).or_default();
        for (key, value) in [
            ("gauge", "asInt"),
            ("gauge", "asDouble"),
            ("sum", "asInt"),
            ("sum", "asDouble"),
            ("histogram", "count"),
            ("exponentialHistogram", "count"),
        ] {
            for point in each(&metric[key], "dataPoints").filter(|point| !point[value].is_null()) {
                series.insert(attributes(point).into_iter().collect(), number(&point[value]));
            }
        }
    }

    /// The sums of the weights of spans of requests for repositories, and of the bytes that they sent, by repository and status.
    pub(super) fn by_repository_and_status(&self) -> BTreeMap<(String, u64), (u64, u64)> {
        let mut sums = BTreeMap::new();
        for Span { attributes, .. } in &self.spans {
            let (Some(repository), Some(status)) =
                (attributes.get("daylight.repository"), attributes.get("http.response.status_code"))
            else {
                continue;
            };
            let number = |key: &str| attributes[key].parse::<u64>().unwrap();
            let (count, bytes) = sums.entry((repository.clone(), status.parse().unwrap())).or_insert((0, 0));
            *count += number("daylight.weight");
            *bytes += number("daylight.weight") * number("http.response.body.size");
        }
        sums
    }

    /// The sum of the series of a metric that have this attribute.
    pub(super) fn sum(&self, metric: &str, key: &str, value: &str) -> f64 {
        let has = |labels: &Vec<(String, String)>| labels.iter().any(|(k, v)| k == key && v == value);
        let series = self.metrics.get(metric).into_iter().flatten();
        series.filter(|(labels, _)| has(labels)).map(|(_, value)| value).sum()
    }
}
