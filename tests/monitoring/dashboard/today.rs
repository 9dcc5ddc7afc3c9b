//! How the server is now, and its open findings.

use super::panel::{Column, Panel, query};
use insight::check_list;

/// The finding on the first page of its server. The column shows the description of its check, so the key is the raw value.
const LINK: &str = "${scheme}://${__data.fields.instance}/#${__value.raw}@${__data.fields.subject}";

/// The first row.
pub(super) fn now() -> Vec<Panel> {
    let requests = |of: &str| format!("sum by (instance) (rate(daylight_requests_total@{of}[$__rate_interval]))");
    let (all, failed) = (requests(""), requests("{status=~\"5..\"}"));
    vec![
        Panel::stat("Answers Prometheus", "none", query("up@", "{{instance}}"))
            .about("1 while the last scrape succeeded"),
        Panel::stat("Ready", "none", query("daylight_ready@", "{{instance}}"))
            .about("1 while `/health/ready` is answered with 200"),
        Panel::stat("Open findings", "none", query("daylight_findings@{state=\"open\"}", "{{instance}}")),
        Panel::stat("Requests", "reqps", query(&all, "{{instance}}")),
        Panel::stat(
            "Answers with 5xx",
            "percentunit",
            query(format!("({failed} or {all} * 0) / {all}"), "{{instance}}"),
        ),
        Panel::name("Version", query("daylight_build_info@", "{{version}}")),
    ]
}

/// The open findings.
pub(super) fn findings() -> Vec<Panel> {
    let checks: Vec<_> = check_list().collect();
    let about = checks.iter().map(|check| (check.key, check.about));
    let columns = vec![
        Column::described("finding", about).link("What to change", LINK),
        Column::unit("client seconds lost in an hour", "s"),
    ];
    let labels = "sum by (instance, finding, subject)";
    vec![
        Panel::table(
            "Open findings",
            columns,
            [
                query(format!("{labels} (daylight_finding_open@)"), "open"),
                query(
                    format!("{labels} (daylight_finding_lost_seconds_per_hour@)"),
                    "client seconds lost in an hour",
                ),
            ],
        )
        .about("The link leads to the finding, with what to change. Subjects are `(other)` if Prometheus has no token with the scope `observe`."),
        Panel::stacked("Findings", "none", [query("sum by (state) (daylight_findings@)", "{{state}}")]).wide(12),
        Panel::stacked(
            "Client seconds lost in an hour",
            "s",
            [query("sum by (finding) (daylight_finding_lost_seconds_per_hour@)", "{{finding}}")],
        )
        .wide(12)
        .about("What requests took, less what they would have taken without the fault, added up over all clients"),
    ]
}
