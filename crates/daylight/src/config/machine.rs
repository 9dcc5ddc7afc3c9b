//! The resources that the machine grants the process. It is a value, so that tests can make one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::Path;
use telemetry::cgroup_memory_limit;

/// The resources that defaults are derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Machine {
    /// Cores that this process may use, by its affinity and the quota of its cgroup.
    pub cores: usize,
    /// Memory that it may use: that of the machine, or the smallest limit of its cgroups.
    pub memory_bytes: u64,
    /// Files and sockets that it may hold open.
    pub descriptors: u64,
    /// Size of the file system that the data folder is on; `None`: not read yet.
    pub disk_bytes: Option<u64>,
}

impl Machine {
    /// Assumed where the system does not report the memory.
    const MEMORY_UNKNOWN: u64 = 1 << 30;
    /// The most descriptors that are requested: the kernel refuses an unlimited soft limit.
    const DESCRIPTORS_MAX: u64 = 1 << 20;

    /// This machine. Raises the soft limit of descriptors to the hard limit.
    pub fn here() -> Self {
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory(Path::new("/")).unwrap_or(Self::MEMORY_UNKNOWN),
            descriptors: raise_descriptors(),
            disk_bytes: None,
        }
    }

    /// Adds the size of the disk that the data folder is on, or will be.
    pub(super) fn with_data(self, data: &Path) -> Self {
        Self { disk_bytes: self.disk_bytes.or_else(|| disk(data)), ..self }
    }
}

/// The size of the file system that `folder` is on. Where it does not exist yet, that of the nearest folder above.
fn disk(folder: &Path) -> Option<u64> {
    let folder = std::path::absolute(folder).ok()?;
    let stat = folder.ancestors().find_map(|folder| rustix::fs::statvfs(folder).ok())?;
    stat.f_blocks.checked_mul(stat.f_frsize)
}

fn raise_descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let now = limit.current.unwrap_or(Machine::DESCRIPTORS_MAX);
    let target = limit.maximum.unwrap_or(u64::MAX).min(Machine::DESCRIPTORS_MAX);
    if target > now && setrlimit(Resource::Nofile, Rlimit { current: Some(target), maximum: limit.maximum }).is_ok() {
        return target;
    }
    now
}

/// The smallest of all limits found under `root`, which is `/` outside tests.
fn memory(root: &Path) -> Option<u64> {
    let installed = read(&root.join("proc/meminfo")).and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
    });
    cgroup_memory_limit(root).into_iter().chain(installed).min()
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            write(&path, text);
        }
        root
    }

    #[expect(clippy::disallowed_methods, reason = "a test's own folder")]
    fn write(path: &Path, text: &str) {
        std::fs::write(path, text).unwrap();
    }

    const INSTALLED: (&str, &str) = ("proc/meminfo", "MemTotal:        8388608 kB\nMemFree: 1 kB\n");

    const MOUNT: (&str, &str) = ("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    const MOUNT_V1: (&str, &str) =
        ("proc/self/mountinfo", "35 31 0:32 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory,hugetlb\n");

    #[test]
    fn memory_is_what_is_installed_where_no_cgroup_limits_it() {
        let unlimited = system(&[
            INSTALLED,
            MOUNT,
            ("proc/self/cgroup", "0::/user.slice\n"),
            ("sys/fs/cgroup/user.slice/memory.max", "max\n"),
        ]);
        assert_eq!(memory(unlimited.path()), Some(8 << 30));
        assert_eq!(memory(system(&[]).path()), None);
    }

    #[test]
    fn the_smallest_limit_of_a_cgroup_and_its_parents_counts() {
        let second = system(&[
            INSTALLED,
            MOUNT,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/memory.max", "268435456\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
        ]);
        assert_eq!(memory(second.path()), Some(256 << 20));
        let first = system(&[
            INSTALLED,
            MOUNT_V1,
            ("proc/self/cgroup", "7:cpu:/x\n5:hugetlb,memory:/docker/1\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n"),
        ]);
        assert_eq!(memory(first.path()), Some(512 << 20));
    }

    #[test]
    fn this_machine_has_something_of_everything() {
        let machine = Machine::here();
        assert!(machine.cores > 0 && machine.memory_bytes > 1 << 20 && machine.descriptors > 16, "{machine:?}");
        // A folder that does not exist yet will be on the disk of the folder above it.
        let disk = |path: &str| machine.with_data(Path::new(path)).disk_bytes.unwrap();
        assert!(disk("/") > 1 << 20);
        assert_eq!(disk("/not/made/yet"), disk("/"));
    }
}
