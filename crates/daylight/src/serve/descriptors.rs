//! Enlarges the kernel's table of descriptors of the process before it is needed.
//!
//! The kernel doubles the table when it is full. As threads share it, the kernel then waits for a quiescent state of all processors,
//! and every thread that opens or accepts something waits too, event loops included (16 ms for the first 500 clients, Linux 6.18).

use rustix::fd::AsFd;
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, getrlimit};

/// Descriptors that do not belong to clients.
const OWN: u64 = 256;
/// Most descriptors that are reserved, at eight bytes of kernel memory each. Beyond, the table grows as usual.
const RESERVED_MAX: u64 = 1 << 16;

/// Enlarges the table for a socket and a file for each of `connections`. `any` is an open descriptor.
pub(crate) fn reserve(any: impl AsFd, connections: u64) {
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(RESERVED_MAX);
    let needed = connections.saturating_mul(2).saturating_add(OWN).min(allowed).min(RESERVED_MAX);
    let Some(last) = needed.checked_sub(1).and_then(|last| i32::try_from(last).ok()) else { return };
    // The table keeps its size when the descriptor is closed again. After a failure it has its former size.
    drop(fcntl_dupfd_cloexec(any, last));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_table_has_room_for_the_descriptors_of_all_connections() {
        let size = || -> u64 {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            status.lines().find_map(|line| line.strip_prefix("FDSize:")).unwrap().trim().parse().unwrap()
        };
        let open = || fs::read_dir("/proc/self/fd").unwrap().count();
        let before = open();
        reserve(fs::File::open("/dev/null").unwrap(), 300);
        assert!(size() >= 300 * 2, "{}", size());
        // Other tests open a few files at the same time.
        assert!(open() < before + 100);
        reserve(fs::File::open("/dev/null").unwrap(), u64::MAX);
    }
}
