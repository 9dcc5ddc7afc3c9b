//! The processor time that a cgroup may take, and how often the kernel stopped it for that.

use super::cgroup::Cgroup;
use crate::machine::kernel_text::{number, read, single};
use std::path::Path;

/// The quotas of the cgroup of this process and of all above it.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct CgroupCpu {
    /// The smallest quota, in processors.
    pub limit: f64,
    /// Periods of all these quotas in which processes ran.
    pub periods: u64,
    /// The periods among them in which a quota was used up.
    pub throttled_periods: u64,
    /// How long processes were stopped therefore, in nanoseconds.
    pub throttled_nanos: u64,
}

impl CgroupCpu {
    /// `None`: no quota applies to this process.
    pub(super) fn read(cgroup: &Cgroup) -> Option<Self> {
        let (levels, quota): (_, fn(&Path) -> Option<f64>) = match cgroup {
            Cgroup::V1(levels) => (levels, quota_v1),
            Cgroup::V2(levels) => (levels, quota_v2),
        };
        let mut sum: Option<Self> = None;
        for (limit, level) in levels.iter().filter_map(|level| Some((quota(level)?, level))) {
            let stat = read(&level.join("cpu.stat")).unwrap_or_default();
            let count = |name| number(&stat, name).unwrap_or_default();
            let sum = sum.get_or_insert_with(|| Self { limit, ..Self::default() });
            sum.limit = sum.limit.min(limit);
            sum.periods = sum.periods.saturating_add(count("nr_periods"));
            sum.throttled_periods = sum.throttled_periods.saturating_add(count("nr_throttled"));
            // Version 1 counts nanoseconds, version 2 microseconds.
            let nanos = count("throttled_usec").saturating_mul(1000).saturating_add(count("throttled_time"));
            sum.throttled_nanos = sum.throttled_nanos.saturating_add(nanos);
        }
        sum
    }
}

/// `QUOTA PERIOD` in microseconds; the quota may be `max`.
fn quota_v2(level: &Path) -> Option<f64> {
    let text = read(&level.join("cpu.max"))?;
    let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
    processors(numbers.next()??, numbers.next()??)
}

/// A quota of -1 is none.
fn quota_v1(level: &Path) -> Option<f64> {
    processors(single(&level.join("cpu.cfs_quota_us"))?, single(&level.join("cpu.cfs_period_us"))?)
}

fn processors(quota: u64, period: u64) -> Option<f64> {
    (period > 0).then(|| quota as f64 / period as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tests::folders;

    const STAT_V2: &str = "usage_usec 9000\nuser_usec 1\nnr_periods 120\nnr_throttled 7\nthrottled_usec 350000\n";

    #[test]
    fn version_2_has_a_quota_and_throttled_periods() {
        let (_root, levels) = folders(&["a"], &[("a/cpu.max", "150000 100000\n"), ("a/cpu.stat", STAT_V2)]);
        let expected = CgroupCpu { limit: 1.5, periods: 120, throttled_periods: 7, throttled_nanos: 350_000_000 };
        assert_eq!(CgroupCpu::read(&Cgroup::V2(levels)), Some(expected));
    }

    #[test]
    fn version_1_has_the_same_under_other_names() {
        let (_root, levels) = folders(
            &["a"],
            &[
                ("a/cpu.cfs_quota_us", "20000\n"),
                ("a/cpu.cfs_period_us", "100000\n"),
                ("a/cpu.stat", "nr_periods 10\nnr_throttled 3\nthrottled_time 123456789\nnr_bursts 0\nburst_time 0\n"),
            ],
        );
        let expected = CgroupCpu { limit: 0.2, periods: 10, throttled_periods: 3, throttled_nanos: 123_456_789 };
        assert_eq!(CgroupCpu::read(&Cgroup::V1(levels)), Some(expected));
    }

    #[test]
    fn the_smallest_quota_counts_and_a_stop_by_any_of_them() {
        let (_root, levels) = folders(
            &["a/b/c", "a/b", "a"],
            &[
                ("a/b/c/cpu.max", "max 100000\n"),
                ("a/b/c/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n"),
                ("a/b/cpu.max", "400000 100000\n"),
                ("a/b/cpu.stat", STAT_V2),
                ("a/cpu.max", "50000 100000\n"),
                ("a/cpu.stat", "nr_periods 80\nnr_throttled 1\nthrottled_usec 5\n"),
            ],
        );
        let expected = CgroupCpu { limit: 0.5, periods: 200, throttled_periods: 8, throttled_nanos: 350_005_000 };
        assert_eq!(CgroupCpu::read(&Cgroup::V2(levels)), Some(expected));
    }

    #[test]
    fn without_a_quota_there_is_nothing() {
        for text in ["max 100000\n", "", "50000", "50000 0\n", "-5 9\n", "x y\n"] {
            let (_root, levels) = folders(&["a"], &[("a/cpu.max", text), ("a/cpu.stat", STAT_V2)]);
            assert_eq!(CgroupCpu::read(&Cgroup::V2(levels)), None, "{text:?}");
        }
        let none = [("a/cpu.cfs_quota_us", "-1\n"), ("a/cpu.cfs_period_us", "100000\n")];
        let (_root, levels) = folders(&["a"], &none);
        assert_eq!(CgroupCpu::read(&Cgroup::V1(levels)), None);
        assert_eq!(CgroupCpu::read(&Cgroup::V2(Vec::new())), None);
    }
}
