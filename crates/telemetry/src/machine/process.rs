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
}
