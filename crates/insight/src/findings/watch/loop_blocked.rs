//! A turn of a task blocks an event loop for long, so that all other requests on it wait.

use super::super::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::signals::seen::Seen;
use crate::signals::watch::LoopSeen;
use serde_json::json;
use telemetry::Op;

/// How often in five minutes, at least. A single long turn may be an accident.
const TIMES: u64 = 3;
/// Client seconds in five minutes, at least.
const LOST_S: f64 = 5.0;
/// The share of the seconds of all clients, at least.
const SHARE: f64 = 0.01;

pub(super) const CHECK: Check = Check {
    key: "loop-blocked",
    kind: FindingKind::Cause,
    about: "An operation blocks an event loop, and everything else on it waits",
    when: "a loop was blocked at least three times in five minutes, each time for 0.1 s or longer, and clients lost at least 5 s to it: the \
           time of each block for each request in progress on the loop, as far as requests waited for their loops, and half of it for each \
           request that arrived meanwhile",
    unless: "the thread had no processor, or the watch was late as well: such time is left out; or it is less than 1 % of the seconds of all clients",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let requests = &seen.recent.requests.all;
    let loops = seen.watch.loops.iter().filter(|one| one.name.starts_with("core-")).count().max(1);
    let rate = requests.requests as f64 / seen.recent.seconds() / loops as f64;
    let all_s = requests.nanos as f64 / 1e9;
    let of = |one: &LoopSeen| {
        // A block delays no request that waits for its client or for an upstream.
        let ready_s = seen.recent.ops.of(Op::LoopWait).nanos as f64 / 1e9 + one.blocked_s;
        let lost = one.waited_s.min(ready_s) + if one.name == "back" { 0.0 } else { rate * one.square_s / 2.0 };
        (one.blocked >= TIMES && lost >= LOST_S && lost >= SHARE * all_s).then(|| problem(seen, one, lost))
    };
    Verdict::Looked(seen.watch.loops.iter().filter_map(of).collect())
}

fn problem(seen: &Seen, one: &LoopSeen, lost: f64) -> Problem {
    let LoopSeen { name, blocked, blocked_s, longest_s, op, .. } = one;
    let who = match op.map(Op::as_str) {
        Some(op) => format!("`{op}` took most of the longest time"),
        None => "no known operation took most of it".to_owned(),
    };
    Problem {
        subject: format!("loop:{name}"),
        lost: Lost::recent(lost),
        confidence: if op.is_some() { 0.9 } else { 0.6 },
        sentence: format!(
            "the event loop `{name}` was blocked {blocked} times in five minutes, for {blocked_s:.1} s in all and for {longest_s:.2} s at the \
             longest; {who}; clients waited {lost:.0} s for it"
        ),
        evidence: json!({
            "where": [["kind", "=", "request"], ["late_ms", ">=", 100]], "by": ["path"],
            "measures": ["count", "max(late_ms)", "max(loop_wait_ms)"], "order": "-max(late_ms)", "limit": 20,
        }),
        event: seen.recent.ops.of(Op::LoopWait).worst.event,
        guards: vec![
            Guard::passed("times, less times that the machine caused", *blocked),
            Guard::passed("seconds that requests in progress waited", (one.waited_s * 10.0).round() / 10.0),
        ],
        ..Problem::default()
    }
}
