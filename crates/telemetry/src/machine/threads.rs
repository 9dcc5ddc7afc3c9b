//! The work of the threads of this process, by their names: how long they ran, how long they waited for a processor, and what they
//! read.

use crate::machine::kernel_text::{number, read};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

/// The most threads that are looked at.
const THREADS_MAX: usize = 2048;
/// The most names with figures of their own.
const NAMES_MAX: usize = 128;
/// The name of all threads without figures of their own.
const OTHER: &str = "(other)";

/// The work of threads, since the process was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct ThreadFigures {
    /// Nanoseconds on a processor.
    pub run_nanos: u64,
    /// Nanoseconds in which they were ready to run and had no processor.
    pub starved_nanos: u64,
    /// Reads of files and sockets. Those of a thread with a database are the pages that its cache in memory lacked.
    pub reads: u64,
    /// Bytes of these reads.
    pub read_bytes: u64,
    /// Bytes that were read from disks, because the kernel had them not in memory.
    pub disk_read_bytes: u64,
}

/// Adds up the work of threads. Work between the last look at a thread and its end is not seen.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// The figures of each living thread at the last look.
    seen: HashMap<String, ThreadFigures>,
    totals: BTreeMap<String, ThreadFigures>,
}

impl Threads {
    /// Looks at all threads, and returns the work by name.
    pub(super) fn read(&mut self, root: &Path) -> BTreeMap<String, ThreadFigures> {
        let Ok(folder) = fs::read_dir(root.join("proc/self/task")) else { return self.totals.clone() };
        let mut living = HashMap::with_capacity(self.seen.len());
        for thread in folder.flatten().take(THREADS_MAX) {
            let (path, Ok(id)) = (thread.path(), thread.file_name().into_string()) else { continue };
            // A thread that has ended meanwhile has no files.
            let Some(schedule) = read(&path.join("schedstat")) else { continue };
            let mut now = ThreadFigures::scheduled(&schedule);
            let before = self.seen.remove(&id);
            if let Some(before) = before.filter(|before| before.run_nanos == now.run_nanos) {
                // Most threads sleep, and one file of each is read.
                living.insert(id, before);
                continue;
            }
            let Some(name) = read(&path.join("comm")) else { continue };
            // A kernel without accounting has no such file.
            now.count_reads(&read(&path.join("io")).unwrap_or_default());
            // A smaller figure is that of a new thread with the id of one that has ended.
            let before = before.filter(|before| before.run_nanos < now.run_nanos).unwrap_or_default();
            self.total(name.trim_end()).add(now, before);
            living.insert(id, now);
        }
        self.seen = living;
        self.totals.clone()
    }

    fn total(&mut self, name: &str) -> &mut ThreadFigures {
        let known = self.totals.contains_key(name) || self.totals.len() < NAMES_MAX;
        self.totals.entry(if known { name } else { OTHER }.to_owned()).or_default()
    }
}

impl ThreadFigures {
    /// `schedule`: nanoseconds run, nanoseconds starved, number of time slices.
    fn scheduled(schedule: &str) -> Self {
        let mut nanos = schedule.split_whitespace().map(|nanos| nanos.parse().unwrap_or_default());
        let mut next = || nanos.next().unwrap_or_default();
        Self { run_nanos: next(), starved_nanos: next(), ..Self::default() }
    }

    fn count_reads(&mut self, reads: &str) {
        let count = |name| number(reads, name).unwrap_or_default();
        self.reads = count("syscr");
        self.read_bytes = count("rchar");
        self.disk_read_bytes = count("read_bytes");
    }

    /// Adds the difference of two looks.
    fn add(&mut self, now: Self, before: Self) {
        let add = |sum: &mut u64, now: u64, before: u64| *sum = sum.saturating_add(now.saturating_sub(before));
        add(&mut self.run_nanos, now.run_nanos, before.run_nanos);
        add(&mut self.starved_nanos, now.starved_nanos, before.starved_nanos);
        add(&mut self.reads, now.reads, before.reads);
        add(&mut self.read_bytes, now.read_bytes, before.read_bytes);
        add(&mut self.disk_read_bytes, now.disk_read_bytes, before.disk_read_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tests::put;
    use proptest::prelude::*;

    const READS: &str = "rchar: 6976\nwchar: 5\nsyscr: 10\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 0\n\
        cancelled_write_bytes: 0\n";

    fn thread(root: &Path, id: u32, name: &str, schedule: &str, reads: &str) {
        let folder = root.join(format!("proc/self/task/{id}"));
        for (file, text) in [("comm", name), ("schedstat", schedule), ("io", reads)] {
            put(&folder.join(file), text);
        }
    }

    #[test]
    fn threads_of_one_name_are_added_up_and_those_that_end_are_kept() {
        let root = tempfile::tempdir().unwrap();
        thread(root.path(), 1, "daylight\n", "5 6 7\n", "");
        thread(root.path(), 2, "truth-reader\n", "100 40 3\n", READS);
        thread(root.path(), 3, "truth-reader\n", "1 2 3\n", READS);
        let mut threads = Threads::default();
        let first = threads.read(root.path());
        let readers = ThreadFigures {
            run_nanos: 101,
            starved_nanos: 42,
            reads: 20,
            read_bytes: 2 * 6976,
            disk_read_bytes: 2 * 4096,
        };
        assert_eq!(first["truth-reader"], readers);
        assert_eq!(first["daylight"], ThreadFigures { run_nanos: 5, starved_nanos: 6, ..ThreadFigures::default() });

        // One has ended, one has worked, and a new thread has the id of an ended one.
        thread(root.path(), 2, "truth-reader\n", "300 41 3\n", READS);
        thread(root.path(), 1, "daylight\n", "2 1 7\n", "");
        std::fs::remove_dir_all(root.path().join("proc/self/task/3")).unwrap();
        let second = threads.read(root.path());
        assert_eq!(second["truth-reader"], ThreadFigures { run_nanos: 301, starved_nanos: 43, ..readers });
        assert_eq!((second["daylight"].run_nanos, second["daylight"].starved_nanos), (7, 7));
        assert_eq!(threads.read(root.path()), second, "nothing has worked since");
    }

    #[test]
    fn names_beyond_the_limit_share_one() {
        let root = tempfile::tempdir().unwrap();
        for id in 0..NAMES_MAX as u32 + 9 {
            thread(root.path(), id, &format!("t{id}\n"), "1 0 0\n", "");
        }
        let all = Threads::default().read(root.path());
        assert_eq!((all.len(), all[OTHER].run_nanos), (NAMES_MAX + 1, 9));
    }

    #[test]
    fn this_thread_is_among_the_threads_of_this_process() {
        let sample = || {
            let mut threads = Threads::default();
            // The kernel has counted its first turn once it waits for a moment.
            while threads.read(Path::new("/")).get("a-worker").is_none_or(|figures| figures.run_nanos == 0) {
                std::thread::yield_now();
            }
            threads.read(Path::new("/"))
        };
        let named = std::thread::Builder::new().name("a-worker".to_owned()).spawn(sample).unwrap().join().unwrap();
        assert!(named["a-worker"].run_nanos > 0, "{named:?}");
        assert!(Threads::default().read(Path::new("/nowhere")).is_empty());
    }

    proptest! {
        #[test]
        fn no_text_panics(schedule in "[0-9 -]{0,50}.*", reads in "(syscr: ?[0-9]{0,25}\n?){0,2}.*") {
            ThreadFigures::scheduled(&schedule).count_reads(&reads);
        }
    }
}
