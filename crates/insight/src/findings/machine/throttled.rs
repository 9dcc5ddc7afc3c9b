//! A quota of processor time that is used up, so that the kernel stops the process.

use super::super::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use super::{FLOOR_S, FLOOR_SHARE, costs, local_seconds, rounded};
use crate::signals::seen::Seen;
use serde_json::json;

/// The share of the periods in which the quota was used up, at least.
const PERIODS: f64 = 0.25;
/// Periods of the quota, at least. One lasts 100 ms.
const LEAST: u64 = 10;

pub(super) const CHECK: Check = Check {
    key: "throttled-by-cgroup",
    kind: FindingKind::Cause,
    about: "The quota of processor time of the cgroup is used up, so the kernel stops the process again and again",
    when: "in five minutes the quota was used up in at least 25 % of its periods, and clients lost 5 s or more and 1 % of their time",
    unless: "",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let machine = &seen.recent.machine;
    let (periods, used_up) = machine.periods;
    let share = used_up as f64 / periods.max(1) as f64;
    if periods < LEAST || share < PERIODS {
        return Verdict::QUIET;
    }
    // In such a period it ran for the quota, and the rest of the period stood still.
    let stopped = machine.throttled_nanos as f64 / (machine.throttled_nanos + machine.own_nanos).max(1) as f64;
    let lost = local_seconds(seen) * stopped;
    let Some(limit) = seen.machine.as_ref().and_then(|sample| sample.cpu).map(|cpu| cpu.limit) else {
        return Verdict::QUIET;
    };
    if !costs(seen, lost, FLOOR_S, FLOOR_SHARE) {
        return Verdict::QUIET;
    }
    let wanted = (limit / (1.0 - stopped.min(0.9))).max(limit * 1.5);
    let percent = (wanted * 100.0).ceil();
    Verdict::Looked(vec![Problem {
        subject: "server".to_owned(),
        lost: Lost::recent(lost),
        confidence: 0.9,
        sentence: format!(
            "the cgroup may use {limit:.1} processors and used that up in {:.0} % of the periods, so the kernel stopped it for {:.0} s in five minutes and \
             clients lost {lost:.0} s; give it {wanted:.1} processors (`cpu.max`, `CPUQuota=` of systemd, the limit of the container)",
            share * 100.0,
            machine.throttled_nanos as f64 / 1e9,
        ),
        changes: vec![Change::by_command(format!("systemctl set-property daylight.service CPUQuota={percent:.0}%"))],
        evidence: json!({
            "where": [["kind", "=", "request"]], "by": ["class"], "measures": ["count", "p95(duration_ms)", "p95(late_ms)", "sum(loop_wait_ms)"],
        }),
        event: seen.recent.ops.of(telemetry::Op::LoopWait).worst.event,
        guards: vec![Guard::passed("share of the periods in which the quota was used up", rounded(share))],
        ..Problem::default()
    }])
}
