//! Serving stands still: a loop is silent, a probe has no answer, or requests wait and nothing moves.

use super::super::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::signals::seen::Seen;
use crate::signals::watch::Stuck;
use serde_json::json;
use std::time::Duration;
use telemetry::Op;

pub(super) const CHECK: Check = Check {
    key: "serving-stands-still",
    kind: FindingKind::Impact,
    about: "Serving stands still, and what everybody was doing then",
    when: "an event loop is silent for 4 s (that of jobs for 10 s), a probe of the server through its own socket has no answer for 5 s, or requests wait for the \
           server and for 10 s none was answered and no byte came or went (for a minute while the process works)",
    unless: "the time was taken from the watch as well: the process was stopped, or the machine had no processor for it; requests that wait \
             for an upstream, for bytes of a client, for an application, for a question or for live events do not count",
    after: Duration::ZERO,
    keeps: Duration::ZERO,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let Some(stuck) = &seen.watch.stuck else { return Verdict::QUIET };
    let is_loop = !matches!(&*stuck.what, "requests" | "probe");
    let subject = if is_loop { format!("loop:{}", stuck.what) } else { "server".to_owned() };
    Verdict::Looked(vec![Problem {
        subject,
        lost: Lost::recent(stuck.open as f64 * stuck.seconds),
        confidence: 1.0,
        sentence: sentence(stuck),
        evidence: json!({
            "where": [["kind", "=", "request"], ["duration_ms", ">=", 1000]], "by": ["path"],
            "measures": ["max(duration_ms)", "count"], "order": "-max(duration_ms)", "limit": 20,
        }),
        event: stuck.event,
        guards: vec![
            Guard::passed(
                "seconds without progress, less seconds that the machine took",
                (stuck.seconds * 10.0).round() / 10.0,
            ),
            Guard::passed("what everybody was doing", stuck.doing.clone()),
        ],
        ..Problem::default()
    }])
}

fn sentence(stuck: &Stuck) -> String {
    let Stuck { what, seconds, open, .. } = stuck;
    let stands = match &**what {
        "requests" => format!("no request was answered and no byte came or went for {seconds:.0} s"),
        "probe" => format!("the server has not answered a probe through its own socket for {seconds:.0} s"),
        name => format!("the event loop `{name}` has been silent for {seconds:.0} s"),
    };
    let waits = match stuck.op.map(Op::as_str) {
        Some(op) => format!("{open} requests are open, and most of them wait for `{op}`"),
        None => format!("{open} requests are open"),
    };
    let oldest = stuck.doing.first().map(|line| format!("; the oldest: {line}")).unwrap_or_default();
    format!("{stands}; {waits}{oldest}")
}
