//! The families about the machine: cgroups, pressure, the system, and the disk. A figure that the kernel does not have has no line.

use super::page::Page;
use crate::{CgroupCpu, CgroupMemory, MachineMonitor, MachineSample, Pressures, Stall, System};

pub(super) fn write(page: &mut Page, sample: &MachineSample, monitor: &MachineMonitor) {
    let doc = "The age of the figures about the machine, which are read every ten seconds";
    single(page, "machine_sample_age_seconds", "gauge", doc, monitor.age().map(|nanos| nanos as f64 / 1e9));
    memory(page, sample.memory.as_ref());
    cpu(page, sample.cpu.as_ref());
    pressure(page, &[("machine", &sample.pressure), ("cgroup", &sample.cgroup_pressure)]);
    system(page, &sample.system);
    let (ended, under_way) = monitor.disk();
    let doc = "How long the file system of the data folder took to tell its state, every ten seconds";
    page.family("disk_probe_duration_seconds", "histogram", doc).histogram(&[], &ended);
    let doc = "How long such a request has been waiting for its answer; 0 if none does";
    single(page, "disk_probe_waiting_seconds", "gauge", doc, Some(under_way as f64 / 1e9));
}

fn single(page: &mut Page, name: &str, kind: &str, doc: &str, figure: Option<f64>) {
    let mut family = page.family(name, kind, doc);
    figure.into_iter().for_each(|figure| family.sample(&[], figure));
}

fn memory(page: &mut Page, memory: Option<&CgroupMemory>) {
    let mut write = |name: &str, kind, doc, read: fn(&CgroupMemory) -> Option<u64>| {
        single(page, name, kind, doc, memory.and_then(read).map(|figure| figure as f64));
    };
    let doc = "Memory in use of the cgroup with the smallest limit; without limits, of the cgroup of the process";
    write("cgroup_memory_usage_bytes", "gauge", doc, |memory| Some(memory.usage_bytes));
    let doc = "The part of it that is a cache of files, which the kernel can free";
    write("cgroup_memory_cache_bytes", "gauge", doc, |memory| memory.cache_bytes);
    let doc = "The smallest limit of memory of the cgroup and of all above it";
    write("cgroup_memory_limit_bytes", "gauge", doc, |memory| memory.limit_bytes);
    let doc = "The smallest amount of memory above which the kernel slows the process down (memory.high)";
    write("cgroup_memory_high_bytes", "gauge", doc, |memory| memory.high_bytes);
    let doc = "Processes of the cgroup that the kernel killed because memory was missing";
    write("cgroup_oom_kills_total", "counter", doc, |memory| memory.oom_kills);
}

fn cpu(page: &mut Page, cpu: Option<&CgroupCpu>) {
    let mut write = |name: &str, kind, doc, read: fn(&CgroupCpu) -> f64| single(page, name, kind, doc, cpu.map(read));
    let doc = "The smallest quota of processor time of the cgroup and of all above it, in processors";
    write("cgroup_cpu_limit", "gauge", doc, |cpu| cpu.limit);
    let doc = "Periods of these quotas in which processes ran";
    write("cgroup_cpu_periods_total", "counter", doc, |cpu| cpu.periods as f64);
    let doc = "Periods in which a quota was used up";
    write("cgroup_cpu_throttled_periods_total", "counter", doc, |cpu| cpu.throttled_periods as f64);
    let doc = "How long processes were stopped because a quota was used up";
    write("cgroup_cpu_throttled_seconds_total", "counter", doc, |cpu| cpu.throttled_nanos as f64 / 1e9);
}

fn pressure(page: &mut Page, all: &[(&str, &Pressures)]) {
    let mut write = |name: &str, kind, doc, read: fn(&Stall) -> f64| {
        let mut family = page.family(name, kind, doc);
        for (of, pressures) in all {
            for (resource, pressure) in pressures.each() {
                for (tasks, stall) in [("some", &pressure.some), ("all", &pressure.full)] {
                    let labels = [("of", *of), ("resource", resource), ("tasks", tasks)];
                    stall.iter().for_each(|stall| family.sample(&labels, read(stall)));
                }
            }
        }
    };
    let doc = "The share of the last ten seconds in which tasks waited for a resource";
    write("pressure_stalled_ratio", "gauge", doc, |stall| stall.share);
    let doc = "The time in which tasks waited for a resource";
    write("pressure_stalled_seconds_total", "counter", doc, |stall| stall.nanos as f64 / 1e9);
}

fn system(page: &mut Page, system: &System) {
    let doc = "Processor time that the host gave to other machines while this one was ready to work";
    single(page, "machine_steal_seconds_total", "counter", doc, system.steal_nanos.map(|nanos| nanos as f64 / 1e9));
    let doc = "Tasks that ran or waited for a processor or a disk, on average over a minute";
    single(page, "machine_load", "gauge", doc, system.load);
    let doc = "Memory of the machine that can be used without swapping";
    single(page, "machine_memory_available_bytes", "gauge", doc, system.available_bytes.map(|bytes| bytes as f64));
    let doc = "Connections to any socket of this network namespace that found its accept queue full";
    single(page, "listen_overflows_total", "counter", doc, system.listen_overflows.map(|count| count as f64));
    let doc = "Connections to any socket of this network namespace that were dropped before they were accepted";
    single(page, "listen_drops_total", "counter", doc, system.listen_drops.map(|count| count as f64));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pressure;

    fn written(sample: &MachineSample) -> Vec<String> {
        let mut page = Page::default();
        write(&mut page, sample, &MachineMonitor::default());
        let lines = page.text();
        let samples = lines.lines().filter(|line| !line.starts_with('#') && !line.contains("disk_probe"));
        samples.map(str::to_owned).collect()
    }

    #[test]
    fn a_figure_that_the_kernel_does_not_have_has_no_line() {
        assert_eq!(written(&MachineSample::default()), [""; 0]);
    }

    #[test]
    fn figures_have_the_units_of_prometheus() {
        let waited = |nanos| Pressure { some: Some(Stall { share: 0.5, nanos }), full: None };
        let sample = MachineSample {
            memory: Some(CgroupMemory {
                usage_bytes: 5,
                cache_bytes: None,
                limit_bytes: Some(1 << 33),
                high_bytes: None,
                oom_kills: Some(0),
            }),
            cpu: Some(CgroupCpu { limit: 1.5, periods: 9, throttled_periods: 2, throttled_nanos: 2_500_000_000 }),
            cgroup_pressure: Pressures { io: waited(3_000_000_000), ..Pressures::default() },
            system: System { steal_nanos: Some(10_000_000), ..System::default() },
            ..MachineSample::default()
        };
        let lines = [
            "daylight_cgroup_memory_usage_bytes 5",
            "daylight_cgroup_memory_limit_bytes 8589934592",
            "daylight_cgroup_oom_kills_total 0",
            "daylight_cgroup_cpu_limit 1.5",
            "daylight_cgroup_cpu_periods_total 9",
            "daylight_cgroup_cpu_throttled_periods_total 2",
            "daylight_cgroup_cpu_throttled_seconds_total 2.5",
            "daylight_pressure_stalled_ratio{of=\"cgroup\",resource=\"io\",tasks=\"some\"} 0.5",
            "daylight_pressure_stalled_seconds_total{of=\"cgroup\",resource=\"io\",tasks=\"some\"} 3",
            "daylight_machine_steal_seconds_total 0.01",
        ];
        assert_eq!(written(&sample), lines);
    }
}
