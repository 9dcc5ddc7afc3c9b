//! Requests that wait in front of the server longer than in it.

use super::super::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use super::{FLOOR_S, FLOOR_SHARE, costs};
use crate::signals::seen::Seen;
use serde_json::json;

/// Requests of which a proxy told, at least.
const REQUESTS: u64 = 50;
/// How much longer the median outside is than that inside, at least.
const RATIO: u64 = 3;
/// How much longer it is, in nanoseconds, at least.
const GAP: u64 = 50_000_000;
/// Connections that waited to be accepted, at most.
const WAITING: u64 = 16;

pub(super) const CHECK: Check = Check {
    key: "outside-slower-than-inside",
    kind: FindingKind::Cause,
    about: "Requests wait longer in front of the server than in it",
    when: "of at least 50 requests in five minutes for which a trusted proxy sent `X-Request-Start`, the median waited more than three times as long \
           outside as inside and at least 50 ms longer, and together 5 s or more",
    unless: "connections waited to be accepted, or the event loops were as late",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let told = &seen.recent.outside;
    let (outside, inside) = (told.outside.quantile(0.5), told.inside.quantile(0.5));
    let requests = told.outside.count();
    let lost = told.outside.sum() as f64 / 1e9;
    let is_slower = outside > inside.saturating_mul(RATIO) && outside >= inside.saturating_add(GAP);
    if requests < REQUESTS || !is_slower || !costs(seen, lost, FLOOR_S, FLOOR_SHARE) {
        return Verdict::QUIET;
    }
    let queues = seen.recent.bounds.named(telemetry::BoundName::AcceptQueue);
    let waiting = queues.map(|(_, queue)| queue.used_max).max().unwrap_or(0);
    // That is a finding of its own.
    if waiting > WAITING {
        return Verdict::QUIET;
    }
    let proxies = seen.facts.setting("server.trusted_proxies").map_or("", |setting| &setting.value);
    let millis = |nanos: u64| nanos as f64 / 1e6;
    Verdict::Looked(vec![Problem {
        subject: "server".to_owned(),
        lost: Lost::recent(lost),
        confidence: 0.8,
        sentence: format!(
            "requests waited {:.0} ms (median of {requests}) between the proxy (`server.trusted_proxies` is `{proxies}`) and this server, which then \
             took {:.1} ms; the time is lost in front of it: in the queue of the proxy, its limit of connections to this server, or on the network",
            millis(outside),
            millis(inside),
        ),
        changes: Vec::new(),
        evidence: json!({
            "where": [["queued_outside_ms", ">", 0]], "by": ["class"],
            "measures": ["count", "p50(queued_outside_ms)", "p50(first_byte_ms)", "sum(queued_outside_ms)"],
        }),
        event: told.worst.event,
        guards: vec![
            Guard::passed("requests of which a proxy told", requests),
            Guard::passed("connections that waited to be accepted", waiting),
        ],
        ..Problem::default()
    }])
}
