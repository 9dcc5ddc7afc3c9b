//! Requests by cost class, by repository, and those to upstreams.

use super::panel::{Panel, query};

/// The outcomes that are failures of the server.
const ERRORS: &str = "outcome=~\"failed|shed\"";

/// All requests, and requests by cost class.
pub(super) fn requests() -> Vec<Panel> {
    let rate = |by: &str, of: &str| format!("sum by ({by}) (rate({of}[$__rate_interval]))");
    let quantile = |quantile: &str| {
        let buckets = rate("le", "daylight_request_duration_seconds_bucket@");
        query(format!("histogram_quantile({quantile}, {buckets})"), quantile)
    };
    vec![
        Panel::stacked(
            "Requests by class",
            "reqps",
            [query(rate("class", "daylight_class_outcomes_total@"), "{{class}}")],
        )
        .about("Answers from memory have no class"),
        Panel::stacked(
            "Failed and refused requests by class",
            "reqps",
            [query(rate("class", &format!("daylight_class_outcomes_total@{{{ERRORS}}}")), "{{class}}")],
        ),
        Panel::lines(
            "Duration by class, at the chosen quantile",
            "s",
            [query(
                format!(
                    "histogram_quantile($quantile, {})",
                    rate("class, le", "daylight_class_duration_seconds_bucket@")
                ),
                "{{class}}",
            )],
        ),
        Panel::stacked("Requests by layer", "reqps", [query(rate("layer", "daylight_requests_total@"), "{{layer}}")])
            .about("Where the answer came from; `page` and `open` are caches in memory"),
        Panel::stacked(
            "Requests by status",
            "reqps",
            [query(rate("status", "daylight_requests_total@"), "{{status}}")],
        ),
        Panel::lines("Duration of requests", "s", ["0.5", "0.95", "0.99"].map(quantile)),
        Panel::stacked("Outcomes", "reqps", [query(rate("outcome", "daylight_outcomes_total@"), "{{outcome}}")])
            .about("Of requests, background jobs, and connections that were refused"),
        Panel::stacked(
            "Reasons",
            "reqps",
            [query(format!("{} > 0", rate("reason", "daylight_reasons_total@")), "{{reason}}")],
        )
        .about("Why they ended so"),
        Panel::lines(
            "Bytes",
            "Bps",
            [
                query(rate("instance", "daylight_sent_bytes_total@"), "sent by {{instance}}"),
                query(rate("instance", "daylight_received_bytes_total@"), "received by {{instance}}"),
            ],
        ),
        Panel::lines("Work in progress", "none", [query("sum by (instance) (daylight_in_flight@)", "{{instance}}")])
            .wide(12),
        Panel::lines(
            "Oldest open request, by what it waits for",
            "s",
            [query("max by (op) (daylight_open_request_age_seconds@)", "{{op}}")],
        )
        .wide(12),
    ]
}

/// The chosen repositories.
pub(super) fn repositories() -> Vec<Panel> {
    let of = |name: &str| format!("daylight_repository_{name}@{{repository=~\"$repository\"}}");
    let rate = |name: &str| format!("sum by (repository) (rate({}[$__rate_interval]))", of(name));
    let lines = |title: &str, unit, expr: String| Panel::lines(title, unit, [query(expr, "{{repository}}")]);
    let errors = format!(
        "sum by (repository) (rate(daylight_repository_outcomes_total@{{repository=~\"$repository\",{ERRORS}}}[$__rate_interval]))"
    );
    let (hits, misses) = (rate("hits_total"), rate("misses_total"));
    vec![
        lines("Requests", "reqps", rate("requests_total")),
        lines("Failed and refused requests", "reqps", errors),
        lines(
            "Time to the first byte, at the chosen quantile",
            "s",
            "max by (repository) (daylight_repository_first_byte_seconds@{repository=~\"$repository\",quantile=\"$quantile\"})".to_owned(),
        )
        .about("Since the server was started"),
        lines("Answered without an upstream", "percentunit", format!("{hits} / ({hits} + {misses})")).share(),
        lines("Bytes sent", "Bps", rate("sent_bytes_total")),
        lines("Bytes held", "bytes", format!("max by (repository) ({})", of("bytes"))),
        lines(
            "Behind the upstream",
            "s",
            "max by (repository) (daylight_upstream_behind_seconds@{repository=~\"$repository\"})".to_owned(),
        ),
        lines("Packages", "none", format!("max by (repository) ({})", of("packages"))),
    ]
}

/// The hosts of upstreams.
pub(super) fn upstreams() -> Vec<Panel> {
    let rate = |by: &str, of: &str| format!("sum by ({by}) (rate(daylight_upstream_{of}@[$__rate_interval]))");
    vec![
        Panel::stacked("Calls", "reqps", [query(rate("host, status", "requests_total"), "{{host}} {{status}}")]),
        Panel::lines("Errors", "reqps", [query(rate("host, reason", "errors_total"), "{{host}} {{reason}}")])
            .about("Calls that failed or were not made, and responses that broke off"),
        Panel::lines(
            "Time to the head of the response, at the chosen quantile",
            "s",
            [query(
                format!("histogram_quantile($quantile, {})", rate("host, le", "request_duration_seconds_bucket")),
                "{{host}}",
            )],
        ),
        Panel::lines("Bytes received", "Bps", [query(rate("host", "received_bytes_total"), "{{host}}")]),
        Panel::lines(
            "Not called, because it failed again and again",
            "none",
            [query("max by (host) (daylight_upstream_circuit_open@)", "{{host}}")],
        ),
        Panel::lines(
            "Connections",
            "none",
            [query(
                "sum by (server_address, http_connection_state) (http_client_open_connections@)",
                "{{server_address}} {{http_connection_state}}",
            )],
        ),
    ]
}
