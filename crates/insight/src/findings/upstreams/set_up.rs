//! A connection to an upstream is set up for each call.

use super::cost;
use crate::findings::check::{Change, Check, FindingKind, Guard, Problem, Verdict};
use crate::findings::gauge::Gauge;
use crate::findings::saves::Saves;
use crate::findings::wording::{length, percent, seconds};
use crate::signals::facts::HostFact;
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::Op;

/// Calls in five minutes, at least.
const CALLS: u64 = 20;
/// Calls over a connection that was open already, at most.
const REUSED: f64 = 0.5;
/// The time to set connections up beside that of the responses, at least.
const SET_UP: f64 = 0.5;

pub(super) const CHECK: Check = Check {
    key: "set-up-before-each-call",
    kind: FindingKind::Cause,
    about: "Connections to an upstream are set up again for each call, because somebody closes them.",
    when: "in five minutes there were 20 calls or more, fewer than half of them over a connection that was open already, or setting connections up \
           took half as long as the responses",
    unless: "requests waited for that less than 1 % of their time, or less than 5 s in five minutes",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.facts.hosts.iter().filter_map(|host| problem(seen, host)).collect())
}

fn problem(seen: &Seen, fact: &HostFact) -> Option<Problem> {
    let (host, name) = (seen.recent.hosts.of(&fact.host)?, &fact.host);
    let useful = host.part(Op::UpstreamFirstByte).nanos + host.part(Op::UpstreamBody).nanos;
    let (set_up, reused) =
        (host.set_up_nanos() as f64 / useful.max(1) as f64, host.reused as f64 / host.calls.max(1) as f64);
    if host.calls < CALLS || (reused >= REUSED && set_up <= SET_UP) {
        return None;
    }
    let lost = cost::of_host(seen, host, &Op::OF_SET_UP);
    let share = cost::share(seen, &lost)?;
    // One that could not be kept for lack of room was closed by this server.
    let by_us = host.closed_by_us > host.closed_by_upstream;
    let kept = seen.facts.setting("upstream.max_calls").and_then(|setting| setting.number).unwrap_or_default();
    let (who, changes) = if by_us {
        let change = Change::of_setting(seen, "upstream.max_calls", kept.saturating_mul(2));
        ("this server closes them, because it keeps only some idle ones", change.into_iter().collect())
    } else if host.closed_by_upstream > 0 {
        ("the upstream closes them: switch on keep-alive there, or in the proxy before it", Vec::new())
    } else {
        ("nobody keeps them: switch on keep-alive at the upstream, or in the proxy before it", Vec::new())
    };
    let sentence = format!(
        "{} of {} calls to upstream `{name}` opened a connection in {}, and requests waited {} for that ({} of the time of the responses); {who}",
        host.connects,
        host.calls,
        length(&seen.recent),
        seconds(lost.recent_s),
        percent(set_up),
    );
    let worst = Op::OF_SET_UP.into_iter().max_by_key(|op| host.part(*op).waited)?;
    Some(Problem {
        subject: format!("upstream:{name}"),
        saves: Some(Saves::new(lost.recent_s, Gauge::Host(name.clone()))),
        lost,
        confidence: 0.9,
        sentence,
        changes,
        evidence: json!({
            "measures": ["count", "sum(upstream_calls)", "sum(upstream_connects)", "sum(upstream_ms)"], "by": ["repository"],
            "where": [["kind", "=", "job"], ["upstream_host", "=", name]],
        }),
        event: host.part(worst).worst.event,
        guards: vec![
            Guard::passed("share of calls over an open connection", (reused * 1000.0).round() / 1000.0),
            Guard::passed("share of the time of all requests", (share * 1000.0).round() / 1000.0),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, host, server};
    use super::*;

    const MS: u64 = 1_000_000;

    /// 100 calls with responses of 100 ms, so many of them over an open connection, and a handshake for each other one.
    fn called(reused: u64, handshake: u64) -> Seen {
        let mut seen = server(100);
        let one = host(&mut seen);
        (one.calls, one.connects, one.reused, one.closed_by_upstream) = (100, 100 - reused, reused, 100 - reused);
        one.part_mut(Op::UpstreamFirstByte).nanos = 10_000 * MS;
        let set_up = (100 - reused) * handshake * MS;
        one.part_mut(Op::UpstreamTls).nanos = set_up;
        one.wait("central", Op::UpstreamTls, set_up);
        seen
    }

    #[test]
    fn connections_that_are_closed_after_each_call_are_told_with_who_closes_them() {
        let found = |seen: &Seen| found(look(seen));
        let told = found(&called(0, 100));
        assert!(told[0].sentence.contains("the upstream closes them") && told[0].changes.is_empty(), "{told:?}");
        assert_eq!(told[0].lost.recent_s, 10.0);
        assert_eq!(found(&called(49, 100)).len(), 1, "half of the calls");
        assert_eq!(found(&called(51, 90)), [], "most are kept, and the rest is short");
        assert_eq!(found(&called(0, 49)), [], "it costs less than five seconds");
        let mut ours = called(0, 100);
        host(&mut ours).closed_by_us = 200;
        assert_eq!(found(&ours)[0].changes[0].to, Some(4.into()));
    }
}
