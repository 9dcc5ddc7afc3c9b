//! Names of metrics and labels as OpenTelemetry has them: its own where the semantic conventions have one, and `daylight.` before others.

/// The names of the semantic conventions that `/metrics` has with underscores, without the unit.
const CONVENTIONS: &[&str] = &[
    "http.server.active_requests",
    "http.server.request.duration",
    "http.server.request.body.size",
    "http.server.response.body.size",
    "http.client.request.duration",
    "http.client.open_connections",
    "db.client.operation.duration",
    "dns.lookup.duration",
    "http.request.method",
    "http.connection.state",
    "http.response.status_code",
    "http.route",
    "network.protocol.name",
    "network.protocol.version",
    "server.address",
    "server.port",
    "error.type",
    "db.system.name",
    "db.operation.name",
    "db.namespace",
    "dns.question.name",
];

/// The names of the client libraries of Prometheus, and those of the conventions for the same figures.
const PROCESS: &[(&str, &str)] = &[
    ("process_cpu_seconds_total", "process.cpu.time"),
    ("process_resident_memory_bytes", "process.memory.usage"),
    ("process_virtual_memory_bytes", "process.memory.virtual"),
    ("process_threads", "process.thread.count"),
    ("process_open_fds", "process.unix.file_descriptor.count"),
    ("process_max_fds", "daylight.process.unix.file_descriptor.limit"),
    ("process_start_time_seconds", "daylight.process.start_time"),
];

/// The name and the unit of a metric. `exponential`: its figures are in nanoseconds.
pub(super) fn metric(name: &str, exponential: bool) -> (String, &'static str) {
    let counted = name.strip_suffix("_total").unwrap_or(name);
    let (bare, unit) = match (counted.strip_suffix("_seconds"), counted.strip_suffix("_bytes")) {
        (Some(bare), _) => (bare, if exponential { "ns" } else { "s" }),
        (_, Some(bare)) => (bare, "By"),
        _ => (counted, ""),
    };
    if let Some((_, theirs)) = PROCESS.iter().find(|(ours, _)| *ours == name) {
        return ((*theirs).to_owned(), unit);
    }
    if let Some(ours) = counted.strip_prefix("daylight_") {
        // A family in bytes may have a sibling without a unit. A name that ends in seconds would be wrong for nanoseconds.
        let ours = if exponential { ours.trim_end_matches("_seconds") } else { ours };
        return (format!("daylight.{ours}"), unit);
    }
    (convention(bare).map_or_else(|| counted.to_owned(), str::to_owned), unit)
}

/// The name of an attribute. `is_ours`: the metric is in no convention.
pub(super) fn label(name: &str, is_ours: bool) -> String {
    match convention(name) {
        Some(theirs) => theirs.to_owned(),
        None if is_ours && name == "status" => "http.response.status_code".to_owned(),
        None => format!("daylight.{name}"),
    }
}

fn convention(name: &str) -> Option<&'static str> {
    CONVENTIONS.iter().copied().find(|theirs| theirs.replace('.', "_") == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use telemetry::{Clock, MetricValue, MetricsView, Recorder};

    #[test]
    fn names_follow_the_conventions_and_lose_their_units() {
        let of = |name, exponential| {
            let (name, unit) = metric(name, exponential);
            format!("{name} {unit}")
        };
        assert_eq!(of("http_server_request_duration_seconds", false), "http.server.request.duration s");
        assert_eq!(of("http_server_response_body_size_bytes", false), "http.server.response.body.size By");
        assert_eq!(of("process_cpu_seconds_total", false), "process.cpu.time s");
        assert_eq!(of("daylight_requests_total", false), "daylight.requests ");
        assert_eq!(of("daylight_sent_bytes_total", false), "daylight.sent_bytes By");
        assert_eq!(of("daylight_op_duration_seconds", true), "daylight.op_duration ns");
        assert_eq!(label("http_response_status_code", false), "http.response.status_code");
        assert_eq!(label("repository", true), "daylight.repository");
    }

    #[test]
    fn no_two_metrics_get_one_name_and_each_foreign_one_has_a_convention() {
        let recorder = Recorder::silent(Clock::default());
        let mut seen = BTreeSet::new();
        for family in recorder.metric_families(&MetricsView::default()) {
            let exponential =
                family.points.first().is_some_and(|point| matches!(point.value, MetricValue::Exponential(_)));
            let (name, _) = metric(&family.name, exponential);
            assert!(name.contains('.'), "{} has no convention", family.name);
            assert!(seen.insert(name.clone()), "{name}");
        }
        assert!(seen.len() > 80, "{}", seen.len());
    }
}
