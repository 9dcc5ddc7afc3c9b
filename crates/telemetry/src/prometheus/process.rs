//! The families of the client libraries of Prometheus, and the version of the program.

use super::page::Page;
use crate::Millis;
use crate::machine::process::ProcessFigures;

pub(super) fn write(page: &mut Page, started: Millis) {
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    page.family("build_info", "gauge", "1, with the version of the program").sample(&version, 1);
    let figures = ProcessFigures::read();
    let doc = "Processor time that the process took, in user and kernel mode";
    page.foreign("process_cpu_seconds_total", "counter", doc).sample(&[], figures.cpu_seconds);
    let doc = "When the program was started, in seconds since 1970";
    let started = started.0 as f64 / 1e3;
    page.foreign("process_start_time_seconds", "gauge", doc).sample(&[], started);
    let gauges = [
        ("process_resident_memory_bytes", "Memory of the process that is in RAM", figures.resident_bytes),
        ("process_virtual_memory_bytes", "Address space of the process", figures.virtual_bytes),
        ("process_threads", "Threads of the process", figures.threads),
        ("process_open_fds", "Open file descriptors", figures.open_fds),
        ("process_max_fds", "The most file descriptors that the process may have open", figures.max_fds),
    ];
    for (name, doc, figure) in gauges {
        let mut family = page.foreign(name, "gauge", doc);
        figure.into_iter().for_each(|figure| family.sample(&[], figure));
    }
}

/// What writing metrics has cost so far.
pub(super) fn write_scrapes(page: &mut Page, answers: u64, nanos: u64) {
    page.family("metrics_answers_total", "counter", "Answers of `/metrics` so far, without this one")
        .sample(&[], answers);
    let doc = "Processor time that these answers took, that of this one's gauges included";
    page.family("metrics_cpu_seconds_total", "counter", doc).sample(&[], nanos as f64 / 1e9);
}
