//! All figures of the machine at one moment.

use super::cgroup::Cgroups;
use super::cgroup_cpu::CgroupCpu;
use super::cgroup_memory::CgroupMemory;
use super::pressure::Pressures;
use super::system::System;
use super::threads::{ThreadFigures, Threads};
use crate::machine::process::ProcessFigures;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// The figures of the machine at one moment. What the kernel does not have is absent.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct MachineSample {
    /// Descriptors, memory and processor time of this process.
    pub process: ProcessFigures,
    /// The memory of its cgroup; `None`: it is in none.
    pub memory: Option<CgroupMemory>,
    /// The processor time of its cgroup; `None`: there is no quota.
    pub cpu: Option<CgroupCpu>,
    /// The pressure on the machine.
    pub pressure: Pressures,
    /// The pressure on its cgroup.
    pub cgroup_pressure: Pressures,
    /// Figures of the whole machine.
    pub system: System,
    /// The work of the threads of this process, by name.
    pub threads: BTreeMap<String, ThreadFigures>,
}

/// Reads samples. It knows the sample before, because threads end.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    cgroups: Cgroups,
    threads: Threads,
}

impl Sampler {
    /// `None`: the process has no descriptor to open a file of the kernel with. An absent file would look like an absent limit.
    /// `root` is `/` outside of tests.
    pub(super) fn read(&mut self, root: &Path) -> Option<MachineSample> {
        if !can_open(root) {
            return None;
        }
        self.cgroups.refresh(root);
        let sample = MachineSample {
            process: ProcessFigures::read(),
            memory: self.cgroups.memory.as_ref().and_then(CgroupMemory::read),
            cpu: self.cgroups.cpu.as_ref().and_then(CgroupCpu::read),
            pressure: Pressures::of_machine(root),
            cgroup_pressure: self
                .cgroups
                .unified
                .first()
                .map_or_else(Pressures::default, |own| Pressures::of_cgroup(own)),
            system: System::read(root),
            threads: self.threads.read(root),
        };
        can_open(root).then_some(sample)
    }
}

/// Whether the process has a free descriptor.
fn can_open(root: &Path) -> bool {
    let failed = File::open(root.join("proc/self/stat")).err().and_then(|error| error.raw_os_error());
    failed.is_none_or(|error| error != Errno::MFILE.raw_os_error() && error != Errno::NFILE.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tests::put;

    #[test]
    fn a_machine_without_cgroups_and_pressure_has_neither() {
        let root = tempfile::tempdir().unwrap();
        put(&root.path().join("proc/loadavg"), "1.50 1.00 0.50 1/100 1\n");
        let sample = Sampler::default().read(root.path()).unwrap();
        assert_eq!((sample.memory, sample.cpu, sample.system.load), (None, None, Some(1.5)));
        assert_eq!([sample.pressure, sample.cgroup_pressure], [Pressures::default(); 2]);
    }

    #[test]
    fn a_machine_with_version_2_has_the_limits_above_the_process() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| put(&root.path().join(path), text);
        put("proc/self/cgroup", "0::/kubepods/pod1/daylight\n");
        put("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        put("sys/fs/cgroup/kubepods/pod1/daylight/memory.current", "70\n");
        put("sys/fs/cgroup/kubepods/pod1/daylight/cgroup.type", "domain\n");
        put("sys/fs/cgroup/kubepods/pod1/daylight/io.pressure", "some avg10=1.00 avg60=0 avg300=0 total=9\n");
        put("sys/fs/cgroup/kubepods/pod1/memory.current", "100\n");
        put("sys/fs/cgroup/kubepods/pod1/memory.max", "1000\n");
        put("sys/fs/cgroup/kubepods/cpu.max", "200000 100000\n");
        let sample = Sampler::default().read(root.path()).unwrap();
        let memory = sample.memory.unwrap();
        assert_eq!((memory.usage_bytes, memory.limit_bytes), (100, Some(1000)));
        assert_eq!(sample.cpu.unwrap().limit, 2.0);
        assert_eq!(sample.cgroup_pressure.io.some.unwrap().nanos, 9000);
        assert_eq!(sample.pressure, Pressures::default());
    }
}
