//! Connections to an upstream take exactly as long as a timer for lost packets.

use super::cost;
use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::wording::{count, length, seconds};
use crate::signals::facts::HostFact;
use crate::signals::lost_packets::TIMERS;
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::Op;

/// Runs after one timer in five minutes, at least.
const RUNS: u64 = 5;
/// How many times as many there are as other long runs.
const PEAK: u64 = 5;
/// Among all calls, at least.
const SHARE: f64 = 0.005;

pub(super) const CHECK: Check = Check {
    key: "timeout-shaped-latency",
    kind: FindingKind::Cause,
    about: "Connections to an upstream take exactly as long as a timer for lost packets: 1, 3 or 7 s for connecting, 5 or 10 s for its name.",
    when: "in five minutes at least five, and 0.5 % of the calls, ended within 20 % after one of these timers, and five times as many as at other \
           times beyond half a second",
    unless: "requests waited for them less than 1 % of their time or less than 5 s; the timer is our own timeout, which is then named",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.facts.hosts.iter().filter_map(|host| problem(seen, host)).collect())
}

fn problem(seen: &Seen, fact: &HostFact) -> Option<Problem> {
    let (host, name) = (seen.recent.hosts.of(&fact.host)?, &fact.host);
    let (packets, mut found) = (&host.lost_packets, Vec::new());
    for (place, (op, timer)) in TIMERS.into_iter().enumerate() {
        let others = packets.others[usize::from(op == Op::UpstreamResolve)];
        let runs = packets.runs[place];
        if runs >= RUNS && runs >= PEAK * others && runs as f64 >= SHARE * host.calls as f64 {
            found.push((op, timer, runs, packets.waited[place]));
        }
    }
    let (op, timer, ..) = *found.iter().max_by_key(|(.., waited)| *waited)?;
    let runs: u64 = found.iter().map(|(_, _, runs, _)| runs).sum();
    let waited = found.iter().map(|(.., waited)| *waited).sum::<u64>() as f64 / 1e9;
    let all = cost::of_host(seen, host, &[op]);
    let part = (waited / all.recent_s.max(f64::MIN_POSITIVE)).min(1.0);
    let lost = Lost::of(all.by_repository.iter().map(|(name, seconds)| (&**name, seconds * part)));
    let share = cost::share(seen, &lost)?;
    let timeout = seen.facts.setting("upstream.connect_timeout_s").and_then(|setting| setting.number);
    let why = match op {
        _ if timeout == Some(timer) => "that is `upstream.connect_timeout_s`: the upstream does not answer at all".to_owned(),
        Op::UpstreamResolve => format!("a resolver asks again after {timer} s: a name server of this machine does not answer"),
        _ => "that is when Linux repeats the first packet of a connection: packets are lost on the way, or the upstream's queue of new connections is \
              full"
            .to_owned(),
    };
    let sentence = format!(
        "{} to upstream `{name}` took {timer} s and a little in {}; requests waited {} for them; {why}",
        count(runs, if op == Op::UpstreamResolve { "lookup" } else { "connection" }),
        length(&seen.recent),
        seconds(lost.recent_s),
    );
    Some(Problem {
        subject: format!("upstream:{name}"),
        lost,
        confidence: 0.8,
        sentence,
        evidence: json!({
            "measures": ["count", "p50(upstream_ms)", "max(upstream_ms)"], "by": ["repository"],
            "where": [["kind", "=", "job"], ["upstream_host", "=", name], ["upstream_ms", ">=", timer * 1000]],
        }),
        event: host.part(op).worst.event,
        guards: vec![
            Guard::passed("connections and lookups that took as long as the timer", runs),
            Guard::passed("share of the time of all requests", (share * 1000.0).round() / 1000.0),
        ],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::staged::{facts, found, host, server};
    use super::*;

    /// Connections that took so long, in milliseconds.
    fn took(times: &[(u64, usize)]) -> Seen {
        let mut seen = server(100);
        for (ms, count) in times {
            for _ in 0..*count {
                let one = host(&mut seen);
                one.calls += 1;
                one.lost_packets.see(Op::UpstreamTcp, ms * 1_000_000, 1);
                one.wait("central", Op::UpstreamTcp, ms * 1_000_000);
            }
        }
        seen
    }

    #[test]
    fn connections_after_a_timer_are_told_and_scattered_ones_are_not() {
        let told = found(look(&took(&[(1030, 5), (20, 100)])));
        assert!(told[0].sentence.contains("5 connections") && told[0].sentence.contains("Linux repeats"), "{told:?}");
        for quiet in [&[(1030, 4), (20, 100)][..], &[(1030, 9), (700, 2)], &[(1030, 5), (20, 1000)]] {
            assert_eq!(found(look(&took(quiet))), []);
        }
    }

    #[test]
    fn our_own_timeout_is_named() {
        let mut seen = took(&[(3010, 9)]);
        facts(&mut seen)
            .settings
            .iter_mut()
            .filter(|setting| setting.key.contains("connect"))
            .for_each(|setting| setting.number = Some(3));
        assert!(found(look(&seen))[0].sentence.contains("that is `upstream.connect_timeout_s`"));
    }
}
