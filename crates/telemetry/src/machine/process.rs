//! The figures of the process that the client libraries of Prometheus have, from the kernel.

use crate::machine::kernel_text::{kib, number};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::fs;

/// The kernel's figures about this process. `None`: the kernel does not have them.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub struct ProcessFigures {
    /// Processor time, in user and kernel mode.
    pub cpu_seconds: f64,
    /// Memory in RAM.
    pub resident_bytes: Option<u64>,
    /// Address space.
    pub virtual_bytes: Option<u64>,
    /// Threads.
    pub threads: Option<u64>,
    /// Open file descriptors.
    pub open_fds: Option<u64>,
    /// The most that may be open.
    pub max_fds: Option<u64>,
}

impl ProcessFigures {
    pub(crate) fn read() -> Self {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self {
            cpu_seconds: cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9,
            resident_bytes: kib(&status, "VmRSS"),
            virtual_bytes: kib(&status, "VmSize"),
            threads: number(&status, "Threads"),
            open_fds: open_fds(),
            max_fds: getrlimit(Resource::Nofile).current,
        }
    }
}

/// The processor time of the calling thread, in nanoseconds.
pub fn thread_nanos() -> u64 {
    let cpu = clock_gettime(ClockId::ThreadCPUTime);
    cpu.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000).wrapping_add(cpu.tv_nsec.cast_unsigned())
}

/// The processor time of this process, in nanoseconds.
pub fn process_nanos() -> u64 {
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    cpu.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000).wrapping_add(cpu.tv_nsec.cast_unsigned())
}

/// The resident memory of this process in bytes; 0 if the kernel does not tell.
pub fn resident_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    pages.saturating_mul(rustix::param::page_size() as u64)
}

/// The state of a thread of this process, from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadState {
    /// `R`: it runs, or is ready to; `S`: it waits; `D`: it waits for a disk; `T` and `t`: it is stopped.
    pub state: char,
    /// Its processor time in ticks of the kernel.
    pub ticks: u64,
}

impl ThreadState {
    /// The states of the threads of this name. Empty: there is none, or the kernel does not tell.
    pub fn of(name: &str) -> Vec<Self> {
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let states =
            threads.filter_map(|thread| Self::read(&fs::read_to_string(thread.path().join("stat")).ok()?, name));
        states.collect()
    }

    /// Reads `stat`, where the name is in brackets and may have any characters (`proc_pid_stat(5)`).
    fn read(stat: &str, name: &str) -> Option<Self> {
        let (before, after) = stat.rsplit_once(") ")?;
        let mut fields = after.split(' ');
        let state = fields.next()?.chars().next()?;
        let mut times = fields.skip(10).take(2).map(|ticks| ticks.parse::<u64>().unwrap_or(0));
        (before.split_once('(')?.1 == name)
            .then(|| Self { state, ticks: times.next().unwrap_or(0) + times.next().unwrap_or(0) })
    }
}

/// Since Linux 6.2 the size of the folder is the number of open files. On older kernels they are counted.
fn open_fds() -> Option<u64> {
    const FOLDER: &str = "/proc/self/fd";
    match fs::metadata(FOLDER).ok()?.len() {
        0 => Some(fs::read_dir(FOLDER).ok()?.count() as u64),
        count => Some(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_thread_is_found_by_its_name() {
        let stat = "7 (a) (b) R 1 2 3 4 5 6 7 8 9 10 30 12 0";
        assert_eq!(ThreadState::read(stat, "a) (b"), Some(ThreadState { state: 'R', ticks: 42 }));
        assert_eq!(ThreadState::read(stat, "core-0"), None);
        let named = std::thread::Builder::new().name("by-its-name".to_owned()).spawn(|| ThreadState::of("by-its-name"));
        assert_eq!(named.unwrap().join().unwrap()[0].state, 'R');
        assert!(resident_bytes() > 0 && process_nanos() > 0);
    }

    #[test]
    fn the_kernel_tells_of_this_process() {
        let figures = ProcessFigures::read();
        assert!(figures.cpu_seconds > 0.0);
        let resident = figures.resident_bytes.unwrap();
        assert!(resident > 0 && resident < figures.virtual_bytes.unwrap(), "{figures:?}");
        assert!(figures.threads.unwrap() >= 1 && figures.open_fds.unwrap() >= 3, "{figures:?}");
        assert!(figures.open_fds <= figures.max_fds, "{figures:?}");
    }
}
