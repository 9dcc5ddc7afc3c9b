//! Figures of the whole machine: processor time that other virtual machines took, load, memory, and refused connections.

use crate::machine::kernel_text::{kib, read, read_up_to, single};
use std::path::Path;

/// Figures of the whole machine. `None`: the kernel does not have it.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct System {
    /// Nanoseconds in which this machine was ready to work and the host gave its processors to other machines.
    pub steal_nanos: Option<u64>,
    /// Tasks that ran or waited for a processor or a disk, on average over a minute.
    pub load: Option<f64>,
    /// Bytes of memory that can be used without swapping.
    pub available_bytes: Option<u64>,
    /// Connections that found an accept queue of this network namespace full.
    pub listen_overflows: Option<u64>,
    /// Connections that were dropped before they were accepted, for this and other reasons.
    pub listen_drops: Option<u64>,
    /// The most connections that may wait in an accept queue of this network namespace (`net.core.somaxconn`).
    #[serde(skip)]
    pub somaxconn: Option<u64>,
}

impl System {
    pub(super) fn read(root: &Path) -> Self {
        let proc = root.join("proc");
        let memory = read(&proc.join("meminfo")).unwrap_or_default();
        let netstat = read(&proc.join("self/net/netstat")).unwrap_or_default();
        Self {
            // The first line has all processors together.
            steal_nanos: read_up_to(&proc.join("stat"), 512).and_then(|stat| steal(&stat, ticks_per_second())),
            load: read(&proc.join("loadavg")).and_then(|text| load(&text)),
            available_bytes: kib(&memory, "MemAvailable"),
            listen_overflows: extended(&netstat, "ListenOverflows"),
            listen_drops: extended(&netstat, "ListenDrops"),
            somaxconn: single(&proc.join("sys/net/core/somaxconn")),
        }
    }
}

fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}

/// `cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...` in ticks.
fn steal(stat: &str, ticks_per_second: u64) -> Option<u64> {
    let ticks: u64 = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().nth(7)?.parse().ok()?;
    ticks.checked_mul(1_000_000_000u64.checked_div(ticks_per_second)?)
}

fn load(text: &str) -> Option<f64> {
    text.split(' ').next()?.parse().ok().filter(|load: &f64| load.is_finite() && *load >= 0.0)
}

/// A counter of TCP: one line has the names, and the next one the values.
fn extended(netstat: &str, name: &str) -> Option<u64> {
    let mut lines = netstat.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let at = names.split(' ').position(|found| found == name)?;
    values.split(' ').nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NETSTAT: &str = "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPHPHits\nTcpExt: 6 949 950 78004380\n\
        IpExt: InNoRoutes ListenDrops\nIpExt: 1 2\n";

    #[test]
    fn steal_is_the_eighth_figure_of_all_processors() {
        let stat = "cpu  6091531 5363607 1709928 2564463 106860 0 109636 6950 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(steal(stat, 100), Some(69_500_000_000));
        // Linux 2.6 had less, and nothing else is guessed.
        for text in ["cpu  1 2 3 4 5 6 7\n", "cpu0 1 2 3 4 5 6 7 8\n", "", "cpu  a b c d e f g h\n"] {
            assert_eq!(steal(text, 100), None, "{text:?}");
        }
        assert_eq!(steal(stat, 0), None);
    }

    #[test]
    fn load_is_that_of_the_last_minute() {
        assert_eq!(load("5.04 4.66 3.50 4/189 595\n"), Some(5.04));
        assert_eq!(["", "x", "-1 0", "inf", "NaN 1"].map(load), [None; 5]);
    }

    #[test]
    fn a_counter_of_tcp_is_found_by_its_name() {
        assert_eq!(extended(NETSTAT, "ListenOverflows"), Some(949));
        assert_eq!(extended(NETSTAT, "ListenDrops"), Some(950));
        assert_eq!(extended(NETSTAT, "Listen"), None);
        assert_eq!(extended("TcpExt: A B\nTcpExt: 1\n", "B"), None);
    }

    #[test]
    fn this_machine_has_some_of_these() {
        let here = System::read(Path::new("/"));
        assert!(here.load.is_some() && here.steal_nanos.is_some() && here.available_bytes > Some(1 << 20), "{here:?}");
        assert!(here.listen_overflows <= here.listen_drops, "{here:?}");
        assert_eq!(System::read(Path::new("/nowhere")), System::default());
    }

    #[test]
    fn a_machine_of_files_is_read() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| crate::machine::tests::put(&root.path().join(path), text);
        put("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   23337488 kB\n");
        put("proc/self/net/netstat", NETSTAT);
        let read = System::read(root.path());
        assert_eq!((read.available_bytes, read.listen_drops), (Some(23_337_488 << 10), Some(950)));
        assert_eq!((read.load, read.steal_nanos), (None, None));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "((cpu )?([0-9]{0,21} ){0,9}\n?|TcpExt: A B\nTcpExt: [0-9 ]{0,25}\n?)?.*", ticks in 0..1000u64) {
            steal(&text, ticks);
            load(&text);
            extended(&text, "A");
        }
    }
}
