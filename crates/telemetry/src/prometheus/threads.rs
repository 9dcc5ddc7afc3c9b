//! The families about the threads of the process, by their names.

use super::page::Page;
use crate::ThreadFigures;
use std::collections::BTreeMap;

pub(super) fn write(page: &mut Page, threads: &BTreeMap<String, ThreadFigures>) {
    let mut write = |name: &str, doc: &str, read: fn(&ThreadFigures) -> f64| {
        let mut family = page.family(name, "counter", doc);
        for (thread, figures) in threads {
            family.sample(&[("thread", thread)], read(figures));
        }
    };
    let doc = "Processor time of the threads of a name";
    write("thread_run_seconds_total", doc, |figures| figures.run_nanos as f64 / 1e9);
    let doc = "How long the threads of a name were ready to run and had no processor";
    write("thread_starved_seconds_total", doc, |figures| figures.starved_nanos as f64 / 1e9);
    let doc = "Reads of files and sockets; of a thread with a database, reads of pages that were not in SQLite's cache";
    write("thread_reads_total", doc, |figures| figures.reads as f64);
    let doc = "Bytes of these reads";
    write("thread_read_bytes_total", doc, |figures| figures.read_bytes as f64);
    let doc = "Bytes that were read from disks, because the kernel had them not in memory";
    write("thread_disk_read_bytes_total", doc, |figures| figures.disk_read_bytes as f64);
}
