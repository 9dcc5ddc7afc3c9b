//! An upstream is slower than usual at this hour, or slow by any measure.

use super::cost;
use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::wording::{length, percent, seconds};
use crate::normal::view::{Key, Normal};
use crate::signals::facts::HostFact;
use crate::signals::hosts::HostSeen;
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::Op;

/// Calls in five minutes, at least.
const CALLS: u64 = 20;
/// How much longer than usual half of the responses take, at least.
const LONGER: f64 = 1.3;
/// Standard deviations above the usual time, at least.
const DEVIATIONS: f64 = 3.0;
/// Of the last five minutes with calls, so many are slower.
const MINUTES: usize = 3;
/// Without a baseline: one response in so many comes later than a second.
const SLOW: f64 = 0.05;
/// The part of the time of all requests that is lost, at least.
const SHARE: f64 = 0.05;
/// What a call of an upstream that is not slow takes, in seconds.
const FAST_S: f64 = 0.2;

pub(super) const CHECK: Check = Check {
    key: "upstream-slower",
    // Where the order of a group's members, a pool or a limit is the cause, it is listed below that.
    kind: FindingKind::Failure,
    about: "An upstream is slower than usual, or slow by any measure, and requests wait for it.",
    when: "in three of the last five minutes its responses took 1.3 times as long as usual at this hour and three standard deviations more; while \
           nothing is usual yet, 5 % came later than a second. Requests wait 5 % of their time for that",
    unless: "there were fewer than 20 calls in five minutes",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

/// The parts of a call, as sentences name them.
const PARTS: [(Op, &str); 6] = [
    (Op::UpstreamResolve, "resolving its name"),
    (Op::UpstreamTcp, "connecting to it"),
    (Op::UpstreamProxy, "its proxy"),
    (Op::UpstreamTls, "the TLS handshake"),
    (Op::UpstreamFirstByte, "the head of its response"),
    (Op::UpstreamBody, "the bytes of its response"),
];

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.facts.hosts.iter().filter_map(|host| problem(seen, host)).collect())
}

fn problem(seen: &Seen, fact: &HostFact) -> Option<Problem> {
    let (host, name) = (seen.recent.hosts.of(&fact.host)?, &fact.host);
    if host.calls < CALLS {
        return None;
    }
    let key = Key::Upstream(name.as_str().into());
    let normal = seen.normal.expects(&key);
    let usual_s = match normal {
        Some(normal) => slower(seen, &key, &normal).then_some(normal.mean / 1e9)?,
        None => is_slow(host).then_some(FAST_S)?,
    };
    let waited = cost::of_host(seen, host, &PARTS.map(|(op, _)| op));
    let each_s = host.service_s();
    let beyond = (1.0 - usual_s / each_s.max(usual_s)).max(0.0);
    let lost = Lost::of(waited.by_repository.iter().map(|(name, seconds)| (&**name, seconds * beyond)));
    let share = cost::share(seen, &lost).filter(|share| *share >= SHARE)?;
    let (op, part) = PARTS.into_iter().max_by_key(|(op, _)| host.part(*op).nanos)?;
    let of_all = host.part(op).nanos as f64 / 1e9 / (each_s * host.calls as f64).max(f64::MIN_POSITIVE);
    let than = match normal {
        Some(normal) => format!("usual at this hour are {}", seconds(normal.median / 1e9)),
        None => format!("{} of the heads came later than a second", percent(slow_share(host))),
    };
    let sentence = format!(
        "upstream `{name}` is slow: a call takes {} on average in {}, {} of it {part}; {than}; requests waited {} for it",
        seconds(each_s),
        length(&seen.recent),
        percent(of_all.min(1.0)),
        seconds(lost.recent_s),
    );
    Some(Problem {
        subject: format!("upstream:{name}"),
        lost,
        confidence: if normal.is_some() { 0.9 } else { 0.7 },
        sentence,
        evidence: json!({
            "measures": ["count", "p50(upstream_ms)", "p95(upstream_ms)", "max(upstream_ms)"], "by": ["method", "repository"],
            "where": [["kind", "=", "job"], ["upstream_host", "=", name]],
        }),
        event: host.part(op).worst.event,
        guards: vec![
            Guard::passed("calls in five minutes", host.calls),
            Guard::passed("share of the time of all requests", (share * 1000.0).round() / 1000.0),
        ],
        ..Problem::default()
    })
}

/// Whether most of the last minutes are slower than usual.
fn slower(seen: &Seen, key: &Key, normal: &Normal) -> bool {
    let limit = normal.median * LONGER.max((DEVIATIONS * normal.spread).exp());
    let minutes = seen.normal.minutes_of(key).collect::<Vec<_>>();
    minutes.iter().rev().take(5).filter(|minute| minute.n > 0 && minute.median >= limit).count() >= MINUTES
}

fn slow_share(host: &HostSeen) -> f64 {
    host.slow_heads as f64 / host.part(Op::UpstreamFirstByte).runs.max(1) as f64
}

fn is_slow(host: &HostSeen) -> bool {
    slow_share(host) > SLOW
}

#[cfg(test)]
mod tests {
    use super::super::staged::{HOST, found, host, server};
    use super::*;
    use crate::normal::view::{MinuteOf, NormalView};
    use std::collections::HashMap;
    use std::sync::Arc;

    const S: u64 = 1_000_000_000;

    /// Calls of two seconds, of which so many are slow, in so many seconds of all requests.
    fn called(calls: u64, slow: u64, all: u64) -> Seen {
        let mut seen = server(all);
        let one = host(&mut seen);
        (one.calls, one.slow_heads) = (calls, slow);
        *one.part_mut(Op::UpstreamFirstByte) =
            crate::signals::hosts::CallPart { runs: calls, nanos: 2 * calls * S, ..Default::default() };
        one.wait("central", Op::UpstreamFirstByte, 2 * calls * S);
        seen
    }

    #[test]
    fn without_a_baseline_one_head_in_twenty_beyond_a_second_is_slow() {
        let found = |seen: &Seen| found(look(seen));
        let told = found(&called(100, 6, 200));
        assert!(
            told[0].sentence.contains("a call takes 2.0 s") && told[0].sentence.contains("the head of its response")
        );
        assert_eq!(told[0].lost.recent_s.round(), 180.0);
        for quiet in [called(100, 5, 200), called(19, 19, 200), called(100, 6, 4000)] {
            assert_eq!(found(&quiet), []);
        }
    }

    #[test]
    fn what_was_always_so_is_no_news_and_what_is_slower_than_usual_is() {
        let mut seen = called(100, 100, 200);
        let key = Key::Upstream(HOST.into());
        let mut normal = |median: f64| {
            let usual = Normal { median, p95: median, mean: median, spread: 0.1, n: 1000.0 };
            let minute = HashMap::from([(key.clone(), MinuteOf { n: 20, median: 2e9, sum: 4e10 })]);
            seen.normal = Arc::new(NormalView {
                hours: 100,
                normal: HashMap::from([(key.clone(), usual)]),
                minutes: vec![minute; 3],
            });
            found(look(&seen))
        };
        assert_eq!(normal(1.6e9), []);
        let told = normal(1.0e9);
        assert!(told[0].sentence.contains("usual at this hour are 1.0 s"), "{told:?}");
        assert_eq!(told[0].lost.recent_s.round(), 100.0);
    }
}
