//! The machine, the journal with its disk, and what the observation of all this costs.

use super::panel::{Panel, query};

fn rate(by: &str, of: &str) -> String {
    format!("sum by ({by}) (rate({of}@[$__rate_interval]))")
}

/// Processors, memory, descriptors and event loops.
pub(super) fn machine() -> Vec<Panel> {
    vec![
        Panel::lines(
            "Processors",
            "none",
            [
                query(rate("instance", "process_cpu_seconds_total"), "used by {{instance}}"),
                query("max by (instance) (daylight_cgroup_cpu_limit@)", "quota of {{instance}}"),
            ],
        ),
        Panel::lines(
            "Threads without a processor",
            "none",
            [query(rate("thread", "daylight_thread_starved_seconds_total"), "{{thread}}")],
        )
        .about("Seconds a second in which they were ready to run"),
        Panel::lines(
            "Stopped by the quota",
            "none",
            [query(rate("instance", "daylight_cgroup_cpu_throttled_seconds_total"), "{{instance}}")],
        ),
        Panel::lines(
            "Memory",
            "bytes",
            [
                query("max by (instance) (process_resident_memory_bytes@)", "process {{instance}}"),
                query("max by (instance) (daylight_cgroup_memory_usage_bytes@)", "cgroup of {{instance}}"),
                query("max by (instance) (daylight_cgroup_memory_limit_bytes@)", "limit of {{instance}}"),
                query("max by (instance) (daylight_machine_memory_available_bytes@)", "unused beside {{instance}}"),
            ],
        ),
        Panel::lines(
            "Tasks that waited",
            "percentunit",
            [query(
                "max by (of, resource, tasks) (daylight_pressure_stalled_ratio@)",
                "{{of}}: {{tasks}} for {{resource}}",
            )],
        )
        .about("Pressure of the kernel, of the last ten seconds"),
        Panel::lines(
            "Open files and sockets",
            "percentunit",
            [query("max by (instance) (process_open_fds@ / process_max_fds@)", "{{instance}}")],
        )
        .share(),
        Panel::lines(
            "Late event loops",
            "s",
            [query("max by (instance, loop) (daylight_loop_late_longest_seconds@)", "{{instance}} {{loop}}")],
        )
        .about("The longest wait of a ready task in the last one to two minutes"),
        Panel::lines(
            "Blocked event loops",
            "s",
            [query("max by (loop, op) (daylight_loop_blocked_longest_seconds@)", "{{loop}} {{op}}")],
        )
        .about("The longest turn of a task in the last one to two minutes, and the operation that took most of it"),
        Panel::lines(
            "Queue of connections",
            "none",
            [
                query("max by (instance, which) (daylight_bound_used@{bound=\"accept.queue\"})", "wait at {{which}}"),
                query(rate("instance", "daylight_listen_overflows_total"), "dropped a second at {{instance}}"),
            ],
        )
        .about("Connections that wait in the kernel to be accepted"),
        Panel::lines(
            "Bytes read from disks",
            "Bps",
            [query(rate("thread", "daylight_thread_disk_read_bytes_total"), "{{thread}}")],
        )
        .wide(12),
        Panel::lines(
            "Threads, by processor time",
            "none",
            [query(format!("topk(10, {})", rate("thread", "daylight_thread_run_seconds_total")), "{{thread}}")],
        )
        .wide(12),
    ]
}

/// The journal, backups and the disk.
pub(super) fn journal() -> Vec<Panel> {
    let of = |figure: &str| format!("max by (instance) ({figure}@)");
    vec![
        Panel::lines("Changes", "ops", [query(rate("instance", "daylight_journal_seq"), "{{instance}}")]),
        Panel::lines(
            "Changes that are not in a segment yet",
            "none",
            [query("max by (instance) (daylight_journal_seq@ - daylight_journal_shipped_seq@)", "{{instance}}")],
        ),
        Panel::lines(
            "Age of the last backup",
            "s",
            [query("max by (instance) (time() - daylight_backup_timestamp_seconds@)", "{{instance}}")],
        )
        .about("Since 1970 if none is known"),
        Panel::lines(
            "Disk of the data folder",
            "bytes",
            [
                query(of("daylight_disk_free_bytes"), "free at {{instance}}"),
                query(of("daylight_disk_floor_bytes"), "floor of {{instance}}"),
            ],
        )
        .about("Below its floor nothing is written"),
        Panel::lines("Nothing is written", "none", [query(of("daylight_read_only"), "{{instance}}")]),
        Panel::lines(
            "Slow disk",
            "s",
            [
                query(
                    format!(
                        "histogram_quantile(0.99, {})",
                        rate("instance, le", "daylight_disk_probe_duration_seconds_bucket")
                    ),
                    "99 % of probes of {{instance}}",
                ),
                query(of("daylight_disk_probe_waiting_seconds"), "waiting at {{instance}}"),
            ],
        ),
        Panel::lines(
            "Deleted by the collector",
            "Bps",
            [query(rate("instance", "daylight_collector_freed_bytes_total"), "{{instance}}")],
        ),
        Panel::lines(
            "Certificates end in",
            "s",
            [query(
                "min by (instance, certificate) (daylight_certificate_expiry_timestamp_seconds@) - time()",
                "{{certificate}} of {{instance}}",
            )],
        ),
    ]
}

/// What metrics, events and jobs cost, and whether any are lost.
pub(super) fn telemetry() -> Vec<Panel> {
    let lines = |title: &str, unit, expr: String, name: &str| Panel::lines(title, unit, [query(expr, name)]);
    let sinks = "{{sink}}";
    vec![
        lines("Scrapes", "s", "max by (instance) (scrape_duration_seconds@)".to_owned(), "{{instance}}")
            .about("How long Prometheus waited for an answer"),
        lines("Samples of a scrape", "none", "max by (instance) (scrape_samples_scraped@)".to_owned(), "{{instance}}"),
        lines("Processors for metrics", "none", rate("instance", "daylight_metrics_cpu_seconds_total"), "{{instance}}"),
        Panel::lines(
            "Left out of metrics",
            "none",
            [
                query("max by (instance) (daylight_metrics_left_out_series@)", "series of {{instance}}"),
                query("sum by (instance) (daylight_metric_off@)", "slow figures of {{instance}}"),
            ],
        ),
        lines("Events taken by sinks", "ops", rate("sink", "daylight_sink_taken_events_total"), sinks),
        lines("Events lost by sinks", "ops", rate("sink", "daylight_sink_dropped_events_total"), sinks),
        lines("Events seen by censuses", "ops", rate("census", "daylight_census_events_total"), "{{census}}"),
        lines("Events unpacked", "ops", rate("instance", "daylight_events_unpacked_total"), "{{instance}}"),
        Panel::lines(
            "Alerts",
            "ops",
            [
                query(rate("to", "daylight_alerts_sent_total"), "taken by {{to}}"),
                query(rate("to", "daylight_alerts_failed_total"), "failed at {{to}}"),
            ],
        ),
        Panel::lines(
            "OpenTelemetry receiver",
            "ops",
            [
                query(rate("signal", "daylight_otlp_taken_total"), "{{signal}} taken"),
                query(rate("signal", "daylight_otlp_rejected_total"), "{{signal}} refused"),
                query(rate("signal", "daylight_otlp_dropped_total"), "{{signal}} given up"),
            ],
        ),
        lines(
            "Buffers of events",
            "percentunit",
            "max by (bound, which) (daylight_bound_used@{bound=~\"events\\\\.(buffered|sink)\"} / daylight_bound_limit@)".to_owned(),
            "{{bound}} {{which}}",
        )
        .share(),
        lines(
            "Silence of long jobs",
            "s",
            "max by (exported_job) (daylight_long_job_heartbeat_age_seconds@)".to_owned(),
            "{{exported_job}}",
        )
        // Prometheus has a label `job` of its own.
        .about("Time since a job last did something, or found nothing to do"),
        lines(
            "The server's own probes",
            "s",
            format!("histogram_quantile($quantile, {})", rate("side, le", "daylight_probe_duration_seconds_bucket")),
            "{{side}}",
        ),
        lines("Probes without an answer", "ops", rate("instance", "daylight_probes_unanswered_total"), "{{instance}}"),
    ]
}
