//! Threads that are ready to work and get no processor.

use super::super::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use super::{costs, local_seconds, rounded};
use crate::signals::seen::Seen;
use serde_json::json;
use std::time::Duration;

/// The share of the time of ready threads in which they had no processor, at least.
const SHARE: f64 = 0.5;
/// Seconds of clients in five minutes, at least. A busy machine costs everybody a little.
const LOST_S: f64 = 15.0;
/// The share of the time of all clients, at least.
const LOST_SHARE: f64 = 0.2;
/// Builds and backups make a machine busy for a while.
const BUSY: Duration = Duration::from_secs(30 * 60);
/// The share of the quota's periods from which on the cgroup is the cause.
const THROTTLED: f64 = 0.25;

pub(super) const CHECK: Check = Check {
    key: "starved-of-processors",
    kind: FindingKind::Cause,
    about: "Threads of the server are ready to work and get no processor",
    when: "in five minutes the threads that clients wait for had no processor for at least 50 % of the time in which they were ready, and clients lost \
           15 s or more and 20 % of their time",
    unless: "the quota of the cgroup is used up",
    after: BUSY,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    if seen.uptime < BUSY {
        return Verdict::Unknown { needs: "half an hour".to_owned(), until: Some(BUSY) };
    }
    let machine = &seen.recent.machine;
    let (periods, used_up) = machine.periods;
    let share = machine.starved_share();
    let lost = local_seconds(seen) * share;
    if share < SHARE || used_up as f64 >= THROTTLED * periods.max(1) as f64 || !costs(seen, lost, LOST_S, LOST_SHARE) {
        return Verdict::QUIET;
    }
    let processors = std::thread::available_parallelism().map_or(1.0, |count| count.get() as f64);
    let own = machine.own_processors();
    let stolen = machine.steal_nanos as f64 / machine.nanos.max(1) as f64;
    let load = seen.machine.as_ref().and_then(|sample| sample.system.load).unwrap_or_default();
    let who = if stolen > 0.2 * processors {
        format!("the host gave {stolen:.1} of them to other machines; move the machine, or get processors of its own")
    } else if own > 0.6 * processors {
        format!("the server itself used {own:.1} of them; give the machine more")
    } else {
        "other programs of the machine took the rest; stop them, or give the server a larger `CPUWeight=`".to_owned()
    };
    Verdict::Looked(vec![Problem {
        subject: "server".to_owned(),
        // It never opens at once.
        lost: Lost::hourly(lost * 12.0),
        confidence: 0.8,
        sentence: format!(
            "threads were ready and had no processor for {:.0} % of the time, and clients lost {lost:.0} s in five minutes (load {load:.1}, {processors:.0} \
             processors, of which the server used {own:.1}): {who}",
            share * 100.0,
        ),
        changes: Vec::new(),
        evidence: json!({
            "where": [["kind", "=", "request"]], "by": ["class"], "measures": ["count", "p95(late_ms)", "sum(loop_wait_ms)", "p95(duration_ms)"],
        }),
        event: seen.recent.ops.of(telemetry::Op::LoopWait).worst.event,
        guards: vec![Guard::passed("share of ready time without a processor", rounded(share))],
        ..Problem::default()
    }])
}
