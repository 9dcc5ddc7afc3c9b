//! What the reader threads of the truth database did, as the kernel counts it: reads of pages that SQLite's cache had not, and time.

use std::sync::Arc;
use telemetry::{MachineSample, PoolName, PoolThreads, ThreadFigures};

/// The name of these threads.
const READER: &str = "truth-reader";

/// The work of the reader threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DatabaseSeen {
    /// Reads of database pages that were not in SQLite's cache.
    pub(crate) page_reads: u64,
    /// Their bytes.
    pub(crate) read_bytes: u64,
    /// The bytes among them that came from a disk.
    pub(crate) disk_bytes: u64,
    /// Time in which a reader thread had work, in nanoseconds.
    pub(crate) busy_nanos: u64,
    /// Time on a processor, in nanoseconds.
    pub(crate) run_nanos: u64,
    /// Time in which a thread was ready and had no processor, in nanoseconds.
    pub(crate) starved_nanos: u64,
}

impl DatabaseSeen {
    /// The time in which a reader thread had work, had not to wait for a processor, and did not run, in nanoseconds: it waited for the file.
    pub(crate) fn blocked_nanos(&self) -> u64 {
        self.busy_nanos.saturating_sub(self.run_nanos).saturating_sub(self.starved_nanos)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.page_reads += other.page_reads;
        self.read_bytes += other.read_bytes;
        self.disk_bytes += other.disk_bytes;
        self.busy_nanos += other.busy_nanos;
        self.run_nanos += other.run_nanos;
        self.starved_nanos += other.starved_nanos;
    }
}

/// The figures of the last sample.
#[derive(Debug, Default)]
pub(crate) struct DatabaseBefore {
    machine: Option<Arc<MachineSample>>,
    threads: ThreadFigures,
    busy_nanos: u64,
}

impl DatabaseBefore {
    /// Adds the difference, if there is a new sample of the machine. The work of the threads is read at the same time, so that both are of
    /// the same stretch, to within a second.
    pub(crate) fn sample(&mut self, machine: Arc<MachineSample>, pools: &[Arc<PoolThreads>], into: &mut DatabaseSeen) {
        if self.machine.as_ref().is_some_and(|before| Arc::ptr_eq(before, &machine)) {
            return;
        }
        let busy_nanos =
            pools.iter().find(|pool| pool.name() == PoolName::TruthReaders).map_or(0, |pool| pool.read().nanos);
        let now = machine.threads.get(READER).copied().unwrap_or_default();
        self.machine = Some(machine);
        let before = std::mem::replace(&mut self.threads, now);
        let busy_before = std::mem::replace(&mut self.busy_nanos, busy_nanos);
        into.add(&DatabaseSeen {
            page_reads: now.reads.saturating_sub(before.reads),
            read_bytes: now.read_bytes.saturating_sub(before.read_bytes),
            disk_bytes: now.disk_read_bytes.saturating_sub(before.disk_read_bytes),
            busy_nanos: busy_nanos.saturating_sub(busy_before),
            run_nanos: now.run_nanos.saturating_sub(before.run_nanos),
            starved_nanos: now.starved_nanos.saturating_sub(before.starved_nanos),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_reads_since_the_one_before() {
        let (mut before, mut seen) = (DatabaseBefore::default(), DatabaseSeen::default());
        for reads in [10, 30, 30] {
            let figures = ThreadFigures { reads, read_bytes: reads * 4096, ..ThreadFigures::default() };
            let machine = MachineSample { threads: [(READER.to_owned(), figures)].into(), ..MachineSample::default() };
            let machine = Arc::new(machine);
            before.sample(machine.clone(), &[], &mut seen);
            before.sample(machine, &[], &mut seen);
        }
        assert_eq!(seen, DatabaseSeen { page_reads: 30, read_bytes: 30 * 4096, ..DatabaseSeen::default() });
    }
}
