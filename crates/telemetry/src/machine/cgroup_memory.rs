//! The memory of a cgroup: how much is used, how much is allowed, and how often the kernel killed for lack of it.

use super::cgroup::{Cgroup, Levels};
use crate::machine::kernel_text::{number, read, single};
use std::path::PathBuf;

/// Version 1 writes this much or more for no limit.
const UNLIMITED: u64 = 1 << 62;

/// The memory of the cgroup of this process, or of the one above it that has the smallest limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct CgroupMemory {
    /// The bytes in use of the cgroup that has the smallest limit; without limits, of the cgroup of this process.
    pub usage_bytes: u64,
    /// The part of these that is a cache of files, which the kernel can free.
    pub cache_bytes: Option<u64>,
    /// The smallest limit of the cgroup and of all above it.
    pub limit_bytes: Option<u64>,
    /// The smallest amount above which the kernel slows the processes of a cgroup down (`memory.high`).
    pub high_bytes: Option<u64>,
    /// The processes of the cgroup that the kernel killed because memory was missing.
    pub oom_kills: Option<u64>,
}

/// The names of the files of a version.
struct Files {
    usage: &'static str,
    limit: &'static str,
    high: Option<&'static str>,
    events: &'static str,
    cache: [&'static str; 2],
}

const V1: Files = Files {
    usage: "memory.usage_in_bytes",
    limit: "memory.limit_in_bytes",
    high: None,
    events: "memory.oom_control",
    cache: ["total_active_file", "total_inactive_file"],
};
const V2: Files = Files {
    usage: "memory.current",
    limit: "memory.max",
    high: Some("memory.high"),
    events: "memory.events",
    cache: ["active_file", "inactive_file"],
};

impl CgroupMemory {
    /// `None`: the process is in no cgroup with this controller, except the root.
    pub(super) fn read(cgroup: &Cgroup) -> Option<Self> {
        let (files, levels) = files(cgroup);
        let tightest = smallest(levels, files.limit);
        let own = levels.first()?;
        let level = tightest.map_or(own, |(_, level)| level);
        let stat = read(&level.join("memory.stat"));
        Some(Self {
            usage_bytes: single(&level.join(files.usage))?,
            cache_bytes: stat.and_then(|stat| {
                let [active, inactive] = files.cache.map(|name| number(&stat, name));
                active?.checked_add(inactive?)
            }),
            limit_bytes: tightest.map(|(limit, _)| limit),
            high_bytes: files.high.and_then(|file| smallest(levels, file)).map(|(high, _)| high),
            oom_kills: read(&own.join(files.events)).and_then(|events| number(&events, "oom_kill")),
        })
    }
}

/// The smallest limit of the cgroup of this process and of all above it. It needs no other file of the cgroup.
pub(super) fn limit(cgroup: &Cgroup) -> Option<u64> {
    let (files, levels) = files(cgroup);
    smallest(levels, files.limit).map(|(limit, _)| limit)
}

fn files(cgroup: &Cgroup) -> (Files, &Levels) {
    match cgroup {
        Cgroup::V1(levels) => (V1, levels),
        Cgroup::V2(levels) => (V2, levels),
    }
}

/// The smallest limit in the files of this name, with its folder.
fn smallest<'a>(levels: &'a Levels, file: &str) -> Option<(u64, &'a PathBuf)> {
    let limits = levels.iter().filter_map(|level| Some((single(&level.join(file))?, level)));
    limits.filter(|(limit, _)| *limit < UNLIMITED).min_by_key(|(limit, _)| *limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tests::folders;

    #[test]
    fn version_2_has_usage_limit_high_and_kills() {
        let (_root, levels) = folders(
            &["a"],
            &[
                ("a/memory.current", "73400320\n"),
                ("a/memory.max", "268435456\n"),
                ("a/memory.high", "201326592\n"),
                ("a/memory.events", "low 0\nhigh 14\nmax 3\noom 1\noom_kill 2\noom_group_kill 0\n"),
                ("a/memory.stat", "anon 1000\nfile 900\nkernel 10\ninactive_file 600\nactive_file 200\n"),
            ],
        );
        let read = CgroupMemory::read(&Cgroup::V2(levels)).unwrap();
        let expected = CgroupMemory {
            usage_bytes: 73_400_320,
            cache_bytes: Some(800),
            limit_bytes: Some(268_435_456),
            high_bytes: Some(201_326_592),
            oom_kills: Some(2),
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn version_1_has_the_same_under_other_names() {
        let (_root, levels) = folders(
            &["a"],
            &[
                ("a/memory.usage_in_bytes", "4096\n"),
                ("a/memory.limit_in_bytes", "999997440\n"),
                ("a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"),
                (
                    "a/memory.stat",
                    "cache 0\nactive_file 9\ninactive_file 9\ntotal_inactive_file 1024\ntotal_active_file 2048\n",
                ),
            ],
        );
        let read = CgroupMemory::read(&Cgroup::V1(levels)).unwrap();
        assert_eq!((read.usage_bytes, read.cache_bytes), (4096, Some(3072)));
        assert_eq!((read.limit_bytes, read.high_bytes, read.oom_kills), (Some(999_997_440), None, Some(5)));
    }

    #[test]
    fn the_smallest_limit_on_the_way_up_counts_with_the_usage_below_it() {
        let (_root, levels) = folders(
            &["a/b/c", "a/b", "a", ""],
            &[
                ("a/b/c/memory.current", "10\n"),
                ("a/b/c/memory.max", "max\n"),
                ("a/b/c/memory.high", "700\n"),
                ("a/b/c/memory.events", "oom_kill 1\n"),
                ("a/b/memory.current", "400\n"),
                ("a/b/memory.max", "500\n"),
                ("a/b/memory.events", "oom_kill 9\n"),
                ("a/memory.current", "600\n"),
                ("a/memory.max", "1000\n"),
                ("a/memory.high", "650\n"),
            ],
        );
        let read = CgroupMemory::read(&Cgroup::V2(levels)).unwrap();
        assert_eq!((read.usage_bytes, read.limit_bytes, read.high_bytes), (400, Some(500), Some(650)));
        assert_eq!((read.oom_kills, read.cache_bytes), (Some(1), None));
    }

    #[test]
    fn a_cgroup_without_limits_has_its_usage_and_no_limit() {
        let (_root, levels) = folders(&["a"], &[("a/memory.current", "10\n"), ("a/memory.max", "max\n")]);
        let read = CgroupMemory::read(&Cgroup::V2(levels)).unwrap();
        assert_eq!((read.usage_bytes, read.limit_bytes, read.high_bytes, read.oom_kills), (10, None, None, None));
        let (_root, levels) = folders(
            &["a"],
            &[("a/memory.usage_in_bytes", "10\n"), ("a/memory.limit_in_bytes", "9223372036854771712\n")],
        );
        assert_eq!(CgroupMemory::read(&Cgroup::V1(levels)).unwrap().limit_bytes, None);
    }

    #[test]
    fn the_root_of_version_2_and_broken_files_have_nothing() {
        let (_root, levels) = folders(&["a", ""], &[("a/memory.stat", "file 1\n")]);
        assert_eq!(CgroupMemory::read(&Cgroup::V2(levels)), None);
        let (_root, levels) = folders(&["a"], &[("a/memory.current", "many\n"), ("a/memory.max", "500\n")]);
        assert_eq!(CgroupMemory::read(&Cgroup::V2(levels)), None);
        assert_eq!(CgroupMemory::read(&Cgroup::V1(Vec::new())), None);
    }
}
