//! The figures of the process that the client libraries of Prometheus have, from the kernel.

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::fs;

/// The kernel's figures about this process. `None`: the kernel does not have them.
#[derive(Debug, Default)]
pub(crate) struct ProcessFigures {
    pub(crate) cpu_seconds: f64,
    pub(crate) resident_bytes: Option<u64>,
    pub(crate) virtual_bytes: Option<u64>,
    pub(crate) threads: Option<u64>,
    pub(crate) open_fds: Option<u64>,
    pub(crate) max_fds: Option<u64>,
}

impl ProcessFigures {
    pub(crate) fn read() -> Self {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let kib = |field| number(&status, field).map(|kib| kib << 10);
        Self {
            cpu_seconds: cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9,
            resident_bytes: kib("VmRSS:"),
            virtual_bytes: kib("VmSize:"),
            threads: number(&status, "Threads:"),
            open_fds: open_fds(),
            max_fds: getrlimit(Resource::Nofile).current,
        }
    }
}

/// The number after the name of a field in `/proc/self/status`.
fn number(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
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
    fn the_kernel_tells_of_this_process() {
        let figures = ProcessFigures::read();
        assert!(figures.cpu_seconds > 0.0);
        let resident = figures.resident_bytes.unwrap();
        assert!(resident > 0 && resident < figures.virtual_bytes.unwrap(), "{figures:?}");
        assert!(figures.threads.unwrap() >= 1 && figures.open_fds.unwrap() >= 3, "{figures:?}");
        assert!(figures.open_fds <= figures.max_fds, "{figures:?}");
    }

    #[test]
    fn a_field_is_found_by_its_name_at_the_begin_of_a_line() {
        let status = "Name:\tdaylight\nVmRSS:\t  12 kB\nThreads:\t7\n";
        assert_eq!([number(status, "VmRSS:"), number(status, "Threads:")], [Some(12), Some(7)]);
        assert_eq!(number(status, "VmSize:"), None);
    }
}
