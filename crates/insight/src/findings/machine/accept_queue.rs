//! Connections that the kernel drops, because too many wait to be accepted.

use super::super::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::BoundName;

/// Connections that found an accept queue full in five minutes, at least.
const OVERFLOWS: u64 = 10;
/// How full a queue of this server was seen, at least. The kernel counts overflows of all sockets together.
const FULL: f64 = 0.8;
/// The queue that the server asks the kernel for. The kernel makes it shorter where `net.core.somaxconn` is less (`listen(2)`).
const BACKLOG: u64 = 4096;
/// A client whose connection was dropped tries again after a second (RFC 6298 2.1).
const AGAIN_S: f64 = 1.0;

pub(super) const CHECK: Check = Check {
    key: "accept-queue-overflows",
    kind: FindingKind::Failure,
    about: "The kernel drops connections of clients, because too many wait to be accepted",
    when: "in five minutes at least 10 connections found an accept queue full, while one of this server was at least 80 % full",
    unless: "the queues of this server had room: another program's overflowed",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let overflows = seen.recent.machine.overflows;
    let share = |used: u64, capacity: u64| used as f64 / capacity.max(1) as f64;
    let queues = seen.recent.bounds.named(BoundName::AcceptQueue);
    let fullest = queues.max_by(|(_, one), (_, other)| {
        share(one.used_max, one.capacity).total_cmp(&share(other.used_max, other.capacity))
    });
    let Some((which, queue)) = fullest.filter(|(_, queue)| share(queue.used_max, queue.capacity) >= FULL) else {
        return Verdict::QUIET;
    };
    if overflows < OVERFLOWS {
        return Verdict::QUIET;
    }
    let lost = overflows as f64 * AGAIN_S;
    // The kernel's limit is the one that counts where the queue is as long as it allows.
    let somaxconn = seen.machine.as_deref().and_then(|machine| machine.system.somaxconn);
    let is_of_kernel = queue.capacity < BACKLOG && somaxconn.is_some_and(|most| most <= queue.capacity);
    let remedy = if is_of_kernel {
        "Let the kernel keep more, and look why the event loops accept so late"
    } else if queue.capacity < BACKLOG {
        "The queue is as long as the socket that was passed to the server (`Backlog=` of a socket of systemd). Look why the event loops accept so late"
    } else {
        "A longer queue would only wait longer: look why the event loops accept so late"
    };
    let change = is_of_kernel.then(|| Change::by_command(format!("sysctl -w net.core.somaxconn={BACKLOG}")));
    Verdict::Looked(vec![Problem {
        subject: format!("bound:{}/{which}", BoundName::AcceptQueue.as_str()),
        lost: Lost::recent(lost),
        confidence: 0.9,
        sentence: format!(
            "{overflows} connections were dropped in five minutes, since the queue of {which} has room for {} and was full; each client tried again \
             after a second or more. {remedy}",
            queue.capacity,
        ),
        changes: change.into_iter().collect(),
        evidence: json!({
            "where": [["kind", "=", "request"]], "by": ["class"], "measures": ["count", "p95(late_ms)", "max(late_ms)", "max(in_flight)"],
        }),
        event: seen.recent.ops.of(telemetry::Op::LoopWait).worst.event,
        guards: vec![Guard::passed("the most connections that were seen waiting", queue.used_max)],
        ..Problem::default()
    }])
}
