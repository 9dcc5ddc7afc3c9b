//! Room for descriptors in the kernel's table of the process, before anybody needs it.
//!
//! The table doubles when it is full, and as threads share it the kernel first waits for all processors to pass a quiescent state:
//! whoever opens or accepts something meanwhile waits as well, every event loop among them (16 ms for the first 500 clients, Linux 6.18).

use rustix::fd::AsFd;
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, getrlimit};

/// Files of ours besides those of clients.
const OURS: u64 = 256;
/// Eight bytes of the kernel's memory each. Who has more clients at once than that waits for the rest.
const MOST: u64 = 1 << 16;

/// Has the table take a socket and a file for each of so many connections. `any`: a descriptor that is open.
pub(crate) fn make_room(any: impl AsFd, connections: u64) {
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(MOST);
    let wanted = connections.saturating_mul(2).saturating_add(OURS).min(allowed).min(MOST);
    let Some(last) = wanted.checked_sub(1).and_then(|last| i32::try_from(last).ok()) else { return };
    // The table stays as large when this is closed again. Where it fails, there is as much room as there was.
    drop(fcntl_dupfd_cloexec(any, last));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_table_has_room_for_the_descriptors_of_so_many_connections() {
        let size = || -> u64 {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            status.lines().find_map(|line| line.strip_prefix("FDSize:")).unwrap().trim().parse().unwrap()
        };
        let open = || fs::read_dir("/proc/self/fd").unwrap().count();
        let before = open();
        make_room(fs::File::open("/dev/null").unwrap(), 300);
        assert!(size() >= 300 * 2, "{}", size());
        // Other tests open and close files meanwhile, but not hundreds.
        assert!(open() < before + 100);
        make_room(fs::File::open("/dev/null").unwrap(), u64::MAX);
    }
}
