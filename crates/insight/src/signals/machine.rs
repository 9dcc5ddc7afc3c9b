//! Figures of the machine as differences between its samples, which a thread takes every ten seconds.

use std::sync::Arc;
use telemetry::{MachineMonitor, MachineSample, Pressures, Tick};

/// Threads that clients wait for, by the beginning of their names. The others give way to them.
const SERVING: [&str; 6] = ["core-", "truth-", "cache", "blob", "work", "file"];

/// Threads that read and write files, by the beginning of their names.
const STORAGE: [&str; 2] = ["blob", "file"];

/// The figures of the machine in a window.
#[derive(Debug, Clone, Default)]
pub(crate) struct MachineSeen {
    /// The time between the samples, in nanoseconds.
    pub(crate) nanos: u64,
    /// How long the threads that clients wait for ran, in nanoseconds.
    pub(crate) run_nanos: u64,
    /// How long the threads that clients wait for were ready and had no processor, in nanoseconds.
    pub(crate) starved_nanos: u64,
    /// The part of it of the threads that read and write files, in nanoseconds.
    pub(crate) storage_starved_nanos: u64,
    /// Bytes that these threads read from disks.
    pub(crate) disk_read_bytes: u64,
    /// Processor time of the whole process, in nanoseconds.
    pub(crate) own_nanos: u64,
    /// How long its cgroup was throttled, in nanoseconds, summed over its processors.
    pub(crate) throttled_nanos: u64,
    /// Periods of the quota of its cgroup, and those of them in which it was used up.
    pub(crate) periods: (u64, u64),
    /// How long the host gave the processors to other machines, in nanoseconds.
    pub(crate) steal_nanos: u64,
    /// How long some task waited for a disk, in nanoseconds: of its cgroup, else of the machine.
    pub(crate) io_nanos: u64,
    /// Connections that found an accept queue of the network namespace full.
    pub(crate) overflows: u64,
    /// The open descriptors and their limit, when the largest share of them was open.
    pub(crate) descriptors: (u64, u64),
    /// Requests to the disk of the data folder: how many, their nanoseconds, and the longest that one has not been answered.
    pub(crate) probes: (u64, u64, u64),
}

impl MachineSeen {
    /// The share of the time in which threads that clients wait for were ready and had no processor, 0 to 1. It is the fault of the machine,
    /// not of a bound or a pool.
    pub(crate) fn starved_share(&self) -> f64 {
        self.starved_nanos as f64 / (self.starved_nanos + self.run_nanos).max(1) as f64
    }

    /// The processors that this process used on average.
    pub(crate) fn own_processors(&self) -> f64 {
        self.own_nanos as f64 / self.nanos.max(1) as f64
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.nanos += other.nanos;
        self.run_nanos += other.run_nanos;
        self.starved_nanos += other.starved_nanos;
        self.storage_starved_nanos += other.storage_starved_nanos;
        self.disk_read_bytes += other.disk_read_bytes;
        self.own_nanos += other.own_nanos;
        self.throttled_nanos += other.throttled_nanos;
        self.periods = (self.periods.0 + other.periods.0, self.periods.1 + other.periods.1);
        self.steal_nanos += other.steal_nanos;
        self.io_nanos += other.io_nanos;
        self.overflows += other.overflows;
        let share = |(open, limit): (u64, u64)| open as f64 / limit.max(1) as f64;
        if share(other.descriptors) > share(self.descriptors) {
            self.descriptors = other.descriptors;
        }
        let (mine, theirs) = (self.probes, other.probes);
        self.probes = (mine.0 + theirs.0, mine.1 + theirs.1, mine.2.max(theirs.2));
    }

    /// Adds the differences between two samples.
    fn since(&mut self, before: &MachineSample, now: &MachineSample) {
        let more = |now: u64, before: u64| now.saturating_sub(before);
        for (name, figures) in
            now.threads.iter().filter(|(name, _)| SERVING.iter().any(|start| name.starts_with(start)))
        {
            let earlier = before.threads.get(name).copied().unwrap_or_default();
            self.run_nanos += more(figures.run_nanos, earlier.run_nanos);
            let starved = more(figures.starved_nanos, earlier.starved_nanos);
            self.starved_nanos += starved;
            if STORAGE.iter().any(|start| name.starts_with(start)) {
                self.storage_starved_nanos += starved;
            }
            self.disk_read_bytes += more(figures.disk_read_bytes, earlier.disk_read_bytes);
        }
        self.own_nanos += ((now.process.cpu_seconds - before.process.cpu_seconds).max(0.0) * 1e9) as u64;
        if let (Some(now), Some(before)) = (now.cpu, before.cpu) {
            self.throttled_nanos += more(now.throttled_nanos, before.throttled_nanos);
            self.periods.0 += more(now.periods, before.periods);
            self.periods.1 += more(now.throttled_periods, before.throttled_periods);
        }
        let count = |now: Option<u64>, before: Option<u64>| more(now.unwrap_or_default(), before.unwrap_or(u64::MAX));
        self.steal_nanos += count(now.system.steal_nanos, before.system.steal_nanos);
        self.overflows += count(now.system.listen_overflows, before.system.listen_overflows);
        let stalled = |of: &Pressures| of.io.some.map(|some| some.nanos);
        let (own, whole) = (stalled(&now.cgroup_pressure), stalled(&now.pressure));
        self.io_nanos += match own {
            Some(_) => count(own, stalled(&before.cgroup_pressure)),
            None => count(whole, stalled(&before.pressure)),
        };
    }
}

/// The sample before, from which the next one is told apart.
#[derive(Debug, Default)]
pub(crate) struct MachineBefore {
    sample: Option<Arc<MachineSample>>,
    at: Tick,
    /// Requests to the disk, and their nanoseconds.
    probes: Option<(u64, u64)>,
}

impl MachineBefore {
    /// Adds what changed since the sample before.
    pub(crate) fn sample(&mut self, monitor: &MachineMonitor, into: &mut MachineSeen) {
        let (count, nanos, under_way) = monitor.disk_probes();
        let (counted, before) = self.probes.replace((count, nanos)).unwrap_or((count, nanos));
        let probes = (count.saturating_sub(counted), nanos.saturating_sub(before), under_way);
        into.add(&MachineSeen { probes, ..MachineSeen::default() });
        let Some(sample) = monitor.sample() else { return };
        if self.sample.as_ref().is_some_and(|before| Arc::ptr_eq(before, &sample)) {
            return;
        }
        let (now, at) = (Tick::now(), self.at);
        self.at = now;
        let process = &sample.process;
        let descriptors = process.open_fds.zip(process.max_fds).unwrap_or_default();
        into.add(&MachineSeen { descriptors, ..MachineSeen::default() });
        if let Some(before) = self.sample.replace(sample.clone()) {
            into.nanos += now.since(at);
            into.since(&before, &sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{CgroupCpu, System, ThreadFigures};

    fn sample(part: u64) -> MachineSample {
        let cpu = CgroupCpu { limit: 1.0, periods: 10 * part, throttled_periods: part, throttled_nanos: 5 * part };
        let mut sample = MachineSample { cpu: Some(cpu), ..MachineSample::default() };
        sample.system = System { listen_overflows: Some(part), ..System::default() };
        sample.process.cpu_seconds = part as f64;
        for name in ["core-0", "blob-reader", "collector"] {
            let figures = ThreadFigures { run_nanos: part, starved_nanos: 3 * part, ..ThreadFigures::default() };
            sample.threads.insert(name.to_owned(), figures);
        }
        sample
    }

    #[test]
    fn a_window_has_what_changed_between_two_samples_of_threads_that_clients_wait_for() {
        let mut seen = MachineSeen { nanos: 1_000_000_000, ..MachineSeen::default() };
        seen.since(&sample(100), &sample(300));
        assert_eq!((seen.run_nanos, seen.starved_nanos, seen.starved_share()), (400, 1200, 0.75));
        assert_eq!((seen.periods, seen.throttled_nanos, seen.overflows), ((2000, 200), 1000, 200));
        assert_eq!(seen.own_processors(), 200.0);
        // What the kernel did not tell before is not new.
        let mut first = MachineSeen::default();
        first.since(&MachineSample::default(), &sample(300));
        assert_eq!((first.overflows, first.throttled_nanos), (0, 0));
    }
}
