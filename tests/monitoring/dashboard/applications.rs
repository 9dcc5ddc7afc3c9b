//! Applications behind `daylight front`.

use super::panel::{Panel, query};

/// The row of applications.
pub(super) fn applications() -> Vec<Panel> {
    let rate = |by: &str, of: &str| format!("sum by ({by}) (rate(daylight_app_{of}@[$__rate_interval]))");
    let lane = "{{app}} {{lane}}";
    vec![
        Panel::stacked("Requests", "reqps", [query(rate("app, cache", "requests_total"), "{{app}} {{cache}}")])
            .about("By the state of the cache of the application"),
        Panel::lines("Outcomes", "reqps", [query(rate("app, outcome", "outcomes_total"), "{{app}} {{outcome}}")]),
        Panel::lines(
            "Time to the first byte, at the chosen quantile",
            "s",
            [query(
                "max by (app, layer) (daylight_app_first_byte_seconds@{quantile=\"$quantile\"})",
                "{{app}} {{layer}}",
            )],
        )
        .about("Since the server was started"),
        Panel::lines("Busy slots", "none", [query(rate("app, lane", "lane_busy_seconds_total"), lane)])
            .about("How many slots of a lane were taken on average"),
        Panel::lines("Waiting for a slot", "none", [query(rate("app, lane", "lane_waited_seconds_total"), lane)])
            .about("Seconds a second, added up over all requests"),
        Panel::lines(
            "Requests to backends",
            "reqps",
            [query(rate("app, backend", "backend_requests_total"), "{{app}} {{backend}}")],
        ),
        Panel::lines(
            "Failures of backends",
            "reqps",
            [query(rate("app, backend, reason", "backend_failures_total"), "{{backend}} {{reason}}")],
        ),
        Panel::lines("Bytes sent", "Bps", [query(rate("app, layer", "sent_bytes_total"), "{{app}} {{layer}}")]),
        Panel::lines(
            "Waited before they arrived",
            "s",
            [query(
                format!(
                    "{} / {}",
                    rate("app", "queued_outside_seconds_total"),
                    rate("app", "queued_outside_requests_total")
                ),
                "{{app}}",
            )],
        )
        .about("By `X-Request-Start` of a trusted proxy"),
    ]
}
