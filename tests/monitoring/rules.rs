//! The rules for Prometheus: the alerts of the catalogue of findings, and alerts that findings cannot give, such as that of a server that
//! is down.

use insight::{FindingKind, check_list};

/// An alert.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) severity: &'static str,
    /// PromQL.
    pub(super) expr: String,
    /// Parts of it that have data while nothing is wrong.
    pub(super) figures: Vec<&'static str>,
    /// How long it must hold. Empty: not at all.
    pub(super) lasts: &'static str,
    /// What people read. It may have templates of Prometheus.
    pub(super) summary: &'static str,
    /// What it means and what to do, for the manual.
    pub(super) means: &'static str,
}

/// An alert that is written by hand: its name, severity and time, what it asks with the parts that have data, what people read, and what
/// it means.
fn rule(
    [name, severity, lasts]: [&'static str; 3],
    expr: &str,
    figures: &[&'static str],
    [summary, means]: [&'static str; 2],
) -> Rule {
    let (expr, figures) = (expr.to_owned(), figures.to_vec());
    Rule { name, severity, expr, figures, lasts, summary, means }
}

/// The alert of all findings of a kind, with the severity that the server itself gives them when it tells an Alertmanager. Findings that the
/// settings define are failures.
fn of_findings(kind: FindingKind) -> Rule {
    let mut keys: Vec<&str> = check_list().filter(|check| check.kind == kind).map(|check| check.key).collect();
    keys.sort_unstable();
    if kind == FindingKind::Failure {
        keys.push("custom:.+");
    }
    let (name, severity, summary, means) = match kind {
        FindingKind::Cause => (
            "DaylightFindingCause",
            "warning",
            "{{ $labels.instance }}: {{ $labels.finding }} at {{ $labels.subject }}: there is something to change",
            "A finding of the kind `cause` is open: `daylight findings` has its sentence, its cost, and what to change",
        ),
        FindingKind::Failure => (
            "DaylightFindingFailure",
            "error",
            "{{ $labels.instance }}: {{ $labels.finding }} at {{ $labels.subject }}: something does not work",
            "A finding of the kind `failure`, or one of your own, is open: something does not work, or will not before long",
        ),
        FindingKind::Impact => (
            "DaylightFindingImpact",
            "critical",
            "{{ $labels.instance }}: {{ $labels.finding }} at {{ $labels.subject }}: clients notice",
            "A finding of the kind `impact` is open: clients notice it",
        ),
    };
    // A finding has lasted for as long as its check says before it opens.
    let expr = format!("daylight_finding_open{{finding=~\"{}\"}} > 0", keys.join("|"));
    Rule { name, severity, expr, figures: Vec::new(), lasts: "", summary, means }
}

/// All alerts, by group.
pub(super) fn rules() -> Vec<(&'static str, Vec<Rule>)> {
    let findings = [FindingKind::Impact, FindingKind::Failure, FindingKind::Cause].map(of_findings);
    vec![
        ("daylight-findings", findings.into()),
        ("daylight-serving", serving()),
        ("daylight-upstreams", upstreams()),
        ("daylight-data", data()),
        ("daylight-observing", observing()),
    ]
}

fn serving() -> Vec<Rule> {
    vec![
        rule(
            ["DaylightDown", "critical", "2m"],
            "up{job=\"daylight\"} == 0",
            &["up{job=\"daylight\"}"],
            [
                "{{ $labels.instance }} does not answer",
                "Prometheus gets no answer: see whether the process runs, and its log",
            ],
        ),
        rule(
            ["DaylightNotReady", "critical", "1m"],
            "daylight_ready == 0",
            &["daylight_ready"],
            [
                "{{ $labels.instance }} is not ready",
                "`/health/ready` is answered with 503, and its body says why: serving stands still, or the database cannot be read",
            ],
        ),
        rule(
            ["DaylightServerErrors", "critical", "10m"],
            "sum by (instance) (rate(daylight_requests_total{status=~\"5..\"}[5m]))\n  / sum by (instance) (rate(daylight_requests_total[5m])) > 0.05",
            &[
                "sum by (instance) (rate(daylight_requests_total{status=~\"5..\"}[5m]))\n  / sum by (instance) (rate(daylight_requests_total[5m]))",
            ],
            [
                "More than 5 % of the responses of {{ $labels.instance }} are 5xx",
                "`daylight ask \"count by reason where status >= 500\"` says why",
            ],
        ),
        rule(
            ["DaylightRequestsRefused", "warning", "5m"],
            "increase(daylight_outcomes_total{outcome=~\"shed|turned_away\"}[5m]) > 0",
            &["increase(daylight_outcomes_total{outcome=~\"shed|turned_away\"}[5m])"],
            [
                "{{ $labels.instance }} has too many requests or connections; daylight_bound_rejected_total says of which kind",
                "Requests are refused for lack of room, and have been for ten minutes: `daylight findings` says which limit is too low, or who takes all of it",
            ],
        ),
        rule(
            ["DaylightAcceptQueueFull", "critical", "1m"],
            "increase(daylight_listen_overflows_total[5m]) > 10\n  and on (instance) max by (instance) (daylight_bound_peak{bound=\"accept.queue\"} / daylight_bound_limit{bound=\"accept.queue\"}) > 0.8",
            &[
                "increase(daylight_listen_overflows_total[5m])",
                "max by (instance) (daylight_bound_peak{bound=\"accept.queue\"} / daylight_bound_limit{bound=\"accept.queue\"})",
            ],
            [
                "The kernel drops connections to {{ $labels.instance }}, because too many wait to be accepted",
                "Clients wait for seconds, and the server does not see them: it needs more `server.cores`, or `net.core.somaxconn` is small",
            ],
        ),
        rule(
            ["DaylightFilesNearlyAllOpen", "warning", "5m"],
            "process_open_fds{job=\"daylight\"} / process_max_fds{job=\"daylight\"} > 0.9",
            &["process_open_fds{job=\"daylight\"} / process_max_fds{job=\"daylight\"}"],
            [
                "{{ $labels.instance }} has nearly as many files open as it may have",
                "Without a descriptor no connection and no file can be opened: raise `LimitNOFILE` of the service",
            ],
        ),
        rule(
            ["DaylightCertificateExpires", "warning", ""],
            "daylight_certificate_expiry_timestamp_seconds - time() < 14 * 86400\n  or daylight_upstream_certificate_expiry_timestamp_seconds - time() < 14 * 86400",
            &["daylight_certificate_expiry_timestamp_seconds - time()"],
            [
                "A certificate of {{ $labels.instance }} expires within two weeks: {{ $labels.certificate }}{{ $labels.repository }}",
                "Renew the certificate of the server, or the client certificate for the upstream of the repository",
            ],
        ),
        rule(
            ["DaylightCertificateRefused", "critical", "5m"],
            "daylight_certificate_files_refused == 1",
            &["daylight_certificate_files_refused"],
            [
                "{{ $labels.instance }} cannot use the files of its TLS certificate, and keeps the former one",
                "The log says why, for example that the key does not belong to the certificate",
            ],
        ),
    ]
}

fn upstreams() -> Vec<Rule> {
    vec![
        rule(
            ["DaylightUpstreamNotCalled", "warning", "5m"],
            "daylight_upstream_circuit_open == 1",
            &["daylight_upstream_circuit_open"],
            [
                "{{ $labels.instance }} does not call {{ $labels.host }}, which failed again and again",
                "Cached files are served, and requests for others fail. `daylight upstreams` shows the last failures",
            ],
        ),
        rule(
            ["DaylightUpstreamErrors", "warning", "10m"],
            "sum by (instance, host) (rate(daylight_upstream_errors_total[10m]))\n  / sum by (instance, host) (rate(daylight_upstream_requests_total[10m])) > 0.2",
            &[
                "sum by (instance, host) (rate(daylight_upstream_errors_total[10m]))\n  / sum by (instance, host) (rate(daylight_upstream_requests_total[10m]))",
            ],
            [
                "More than 20 % of the calls of {{ $labels.instance }} to {{ $labels.host }} fail",
                "The upstream or the way to it fails: `daylight_upstream_errors_total` says how",
            ],
        ),
        rule(
            ["DaylightBehindUpstream", "warning", ""],
            "daylight_upstream_behind_seconds > 600",
            &["daylight_upstream_behind_seconds"],
            [
                "{{ $labels.repository }} on {{ $labels.instance }} is behind its upstream",
                "Clients do not see new versions: the upstream's index cannot be read, or does not show what a hook announced",
            ],
        ),
        rule(
            ["DaylightHitShareLow", "info", "1h"],
            "sum by (instance, repository) (rate(daylight_repository_hits_total[1h]))\n  / sum by (instance, repository) (\n      rate(daylight_repository_hits_total[1h]) + rate(daylight_repository_misses_total[1h])\n    ) < 0.5",
            &[
                "sum by (instance, repository) (rate(daylight_repository_hits_total[1h]))\n  / sum by (instance, repository) (\n      rate(daylight_repository_hits_total[1h]) + rate(daylight_repository_misses_total[1h])\n    )",
            ],
            [
                "Fewer than half of the requests for {{ $labels.repository }} on {{ $labels.instance }} are answered from its cache",
                "The cache is cold or too small, or clients ask for names that nobody has; leave the rule out for repositories that few use",
            ],
        ),
    ]
}

fn data() -> Vec<Rule> {
    vec![
        rule(
            ["DaylightReadOnly", "critical", ""],
            "daylight_read_only == 1",
            &["daylight_read_only"],
            [
                "{{ $labels.instance }} writes nothing: the disk is full or below the floor, a sync failed, its clock is in doubt, or PostgreSQL cannot be used",
                "Downloads go on, uploads are refused. `/health/ready` says why",
            ],
        ),
        rule(
            ["DaylightDiskNearlyFull", "warning", "5m"],
            "daylight_disk_free_bytes < 2 * daylight_disk_floor_bytes",
            &["daylight_disk_free_bytes", "2 * daylight_disk_floor_bytes"],
            [
                "The disk of {{ $labels.instance }} is nearly full",
                "Below `store.free_space_floor_bytes` nothing is written: delete, clean up, or enlarge the disk",
            ],
        ),
        rule(
            ["DaylightJournalNotShipped", "warning", "5m"],
            "daylight_journal_seq > daylight_journal_shipped_seq and delta(daylight_journal_shipped_seq[5m]) == 0",
            &["daylight_journal_seq", "delta(daylight_journal_shipped_seq[5m])"],
            [
                "{{ $labels.instance }} cannot write the segments of its journal",
                "Changes are safe in the database, and a rebuild from segments would lack them: the log says why",
            ],
        ),
        rule(
            ["DaylightBackupOld", "warning", "1h"],
            "time() - daylight_backup_timestamp_seconds > 2 * 86400",
            &["time() - daylight_backup_timestamp_seconds"],
            [
                "The last backup of {{ $labels.instance }} is older than two days",
                "Also if no backup is known: `daylight backup` leaves its time in the data folder, other means do not. Leave the rule out then",
            ],
        ),
    ]
}

fn observing() -> Vec<Rule> {
    vec![
        rule(
            ["DaylightEventsLost", "warning", ""],
            "increase(daylight_sink_dropped_events_total[10m]) > 0",
            &["increase(daylight_sink_dropped_events_total[10m])"],
            [
                "{{ $labels.instance }} loses events, because {{ $labels.sink }} does not write them fast enough",
                "Counts stay exact, single events are missing: the disk or the receiver of the sink is slow",
            ],
        ),
        rule(
            ["DaylightEventsNotBuffered", "warning", ""],
            "increase(daylight_bound_rejected_total{bound=\"events.buffered\"}[10m]) > 0\n  or increase(daylight_census_missed_events_total[10m]) > 0",
            &[
                "increase(daylight_bound_rejected_total{bound=\"events.buffered\"}[10m])",
                "increase(daylight_census_missed_events_total[10m])",
            ],
            [
                "{{ $labels.instance }} loses events before any sink or census sees them",
                "More events end than are passed on, or a census panicked: answers of `daylight ask` and findings miss them",
            ],
        ),
        rule(
            ["DaylightAlertsDoNotArrive", "critical", "5m"],
            "increase(daylight_alerts_failed_total[10m]) > 0 unless increase(daylight_alerts_sent_total[10m]) > 0",
            &["increase(daylight_alerts_failed_total[10m])", "increase(daylight_alerts_sent_total[10m])"],
            [
                "{{ $labels.instance }} cannot tell {{ $labels.to }} of its findings",
                "A receiver of `[[alerts.to]]` takes no alert: `daylight alerts test` shows why",
            ],
        ),
        rule(
            ["DaylightOtlpLost", "warning", "10m"],
            "increase(daylight_otlp_dropped_total[10m]) > 0 or increase(daylight_otlp_rejected_total[10m]) > 0",
            &["increase(daylight_otlp_dropped_total[10m])", "increase(daylight_otlp_rejected_total[10m])"],
            [
                "{{ $labels.instance }} loses {{ $labels.signal }} on their way to the OpenTelemetry receiver",
                "The receiver of `telemetry.otlp_url` is away, or refuses them: the log says why",
            ],
        ),
        rule(
            ["DaylightMetricsLeftOut", "warning", "15m"],
            "daylight_metrics_left_out_series > 0 or daylight_metric_off == 1",
            &["daylight_metrics_left_out_series", "daylight_metric_off"],
            [
                "{{ $labels.instance }} leaves series or a metric out: {{ $value }} {{ $labels.metric }}",
                "There would be more than 10,000 series, or reading the named metric takes more than 5 ms. Panels and rules that need them are empty",
            ],
        ),
        rule(
            ["DaylightScrapesCost", "warning", "15m"],
            "rate(daylight_metrics_cpu_seconds_total[10m]) > 0.05 or scrape_duration_seconds{job=\"daylight\"} > 5",
            &["rate(daylight_metrics_cpu_seconds_total[10m])", "scrape_duration_seconds{job=\"daylight\"}"],
            [
                "Scrapes of {{ $labels.instance }} are expensive",
                "They take more than 5 % of a processor, or more than five seconds each: scrape less often, or from fewer places",
            ],
        ),
    ]
}

/// The file for Prometheus.
pub(super) fn yaml() -> String {
    let mut text = "# Made from the source of Daylight: tests/monitoring/rules.rs. docs/monitoring.md says what each alert means.\ngroups:\n".to_owned();
    for (group, rules) in rules() {
        text += &format!("  - name: {group}\n    rules:\n");
        for rule in rules {
            let expr = rule.expr.replace('\n', "\n          ");
            text += &format!("      - alert: {}\n        expr: |\n          {expr}\n", rule.name);
            if !rule.lasts.is_empty() {
                text += &format!("        for: {}\n", rule.lasts);
            }
            let summary = serde_json::Value::from(rule.summary);
            text += &format!(
                "        labels:\n          severity: {}\n        annotations:\n          summary: {summary}\n",
                rule.severity
            );
        }
    }
    text
}

/// The rows of the table of alerts in the manual.
pub(super) fn table() -> Vec<String> {
    let rules = rules().into_iter().flat_map(|(_, rules)| rules);
    rules.map(|Rule { name, severity, means, .. }| format!("| `{name}` | {severity} | {means} |")).collect()
}
