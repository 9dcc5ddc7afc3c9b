//! The limit of an upstream is near: it will answer 429 soon, and block this server for a while.

use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::wording::{count, percent, time};
use crate::signals::facts::HostFact;
use crate::signals::hosts::HostSeen;
use crate::signals::seen::Seen;
use serde_json::json;
use std::time::Duration;
use telemetry::Op;

/// A block that is further away is not told, in seconds.
const AHEAD_S: f64 = 3600.0;
/// The clients that are named.
const NAMED: usize = 3;

pub(super) const CHECK: Check = Check {
    key: "upstream-limit-near",
    kind: FindingKind::Cause,
    about: "The limit of an upstream for calls will be reached soon, and then it blocks this server.",
    when: "it has answered 429 before, and at the present rate the calls since then come to the number at which it did, within an hour",
    unless: "the rate is below that number in the window of the limit",
    after: Duration::from_secs(60),
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.facts.hosts.iter().filter_map(|host| problem(seen, host)).collect())
}

fn problem(seen: &Seen, fact: &HostFact) -> Option<Problem> {
    let (host, name) = (seen.recent.hosts.of(&fact.host)?, &fact.host);
    let now = &host.limit;
    let (limit, left) = (now.limit?, now.reached_in_s().filter(|left| *left <= AHEAD_S && !now.blocked)?);
    let refused = seen.day.hosts.of(name).map_or(now.refused, |day| day.limit.refused.max(now.refused));
    let (who, part) = spenders(host)?;
    let sentence = format!(
        "at this rate upstream `{name}` blocks this server in {}: {:.1} calls a second, and it answered 429 after {} in {} ({} in the last day, with a \
         pause of {}). {who}: let them keep what they downloaded, ask less often, or get credentials with a larger limit",
        time(left),
        now.rate,
        count(limit.calls, "call"),
        time(limit.window_s as f64),
        count(refused, "time"),
        time(limit.pause_s),
    );
    Some(Problem {
        subject: format!("upstream:{name}"),
        lost: Lost::hourly(expected_s(host, left)),
        confidence: 0.7,
        sentence,
        evidence: json!({
            "measures": ["sum(upstream_calls)", "count"], "by": ["client", "token"], "order": "-sum(upstream_calls)",
            "where": [["kind", "=", "request"], ["upstream_host", "=", name]],
        }),
        event: host.part(Op::UpstreamPause).worst.event.or_else(|| host.part(Op::UpstreamFirstByte).worst.event),
        guards: vec![
            Guard::passed("calls until the block", limit.calls.saturating_sub(now.calls)),
            Guard::passed("share of the calls by the clients named", (part * 1000.0).round() / 1000.0),
        ],
        ..Problem::default()
    })
}

/// Who causes most calls, and their part of them.
fn spenders(host: &HostSeen) -> Option<(String, f64)> {
    let top = host.causes.top();
    let all = host.causes.calls.max(1) as f64;
    let named: Vec<&&crate::signals::causes::Cause> = top.iter().take(NAMED).collect();
    let part = named.iter().map(|cause| cause.calls).sum::<u64>() as f64 / all;
    let names: Vec<String> = named
        .iter()
        .map(|cause| match (&*cause.client, &*cause.token) {
            (client, "") => client.to_owned(),
            ("", token) => format!("the token `{token}`"),
            (client, token) => format!("the token `{token}` at {client}"),
        })
        .collect();
    let (last, before) = names.split_last()?;
    let names = if before.is_empty() { last.clone() } else { format!("{} and {last}", before.join(", ")) };
    let causes = if named.len() == 1 { "causes" } else { "cause" };
    Some((format!("{names} {causes} {} of the calls", percent(part.min(1.0))), part))
}

/// The client seconds that blocks would cost in an hour: the calls of each pause wait for half of it on average.
fn expected_s(host: &HostSeen, left: f64) -> f64 {
    let limit = host.limit.limit.unwrap_or_default();
    let blocks = 3600.0 / (left + limit.pause_s).max(1.0);
    let full = limit.calls as f64 / host.limit.rate.max(f64::MIN_POSITIVE);
    host.limit.rate * limit.pause_s * limit.pause_s / 2.0
        * blocks.min(3600.0 / (full + limit.pause_s).max(1.0)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, host, server};
    use super::*;
    use crate::signals::call_limits::{CallLimit, LimitSeen};

    fn limited(rate: f64, calls: u64, blocked: bool) -> Vec<Problem> {
        let mut seen = server(100);
        let one = host(&mut seen);
        let limit = Some(CallLimit { calls: 600, window_s: 60, pause_s: 40.0 });
        one.limit = LimitSeen { limit, calls, rate, blocked, ..LimitSeen::default() };
        for (token, calls) in [("ci", 60), ("nightly", 15), ("", 10), ("dev", 5), ("other", 10)] {
            one.causes.see("10.0.0.7", token, calls);
        }
        found(look(&seen))
    }

    #[test]
    fn the_block_is_told_before_it_comes_with_those_who_cause_it() {
        let told = limited(10.0, 480, false);
        let expected = "at this rate upstream `repo.example.org:443` blocks this server in 12 s: 10.0 calls a second, and it answered 429 after 600 calls \
                        in 60 s";
        assert!(told[0].sentence.starts_with(expected), "{told:?}");
        assert!(told[0].sentence.contains("the token `ci` at 10.0.0.7"), "{told:?}");
        assert!(told[0].sentence.contains("cause 85 % of the calls"), "{told:?}");
        assert_eq!(limited(9.9, 480, false), [], "that rate never reaches it");
        assert_eq!(limited(10.0, 0, true), [], "it is blocked now");
    }
}
