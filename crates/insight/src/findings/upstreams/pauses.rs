//! Requests wait for pauses that an upstream asked for.

use super::cost;
use crate::findings::check::{Check, FindingKind, Guard, Problem, Verdict};
use crate::findings::wording::{count, length, percent, seconds};
use crate::signals::facts::HostFact;
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::Op;

pub(super) const CHECK: Check = Check {
    key: "requests-pause",
    kind: FindingKind::Failure,
    about: "Requests wait for pauses that an upstream asked for (429, or 503 with `Retry-After`).",
    when: "requests waited for pauses at least 5 s in five minutes and 1 % of their time",
    unless: "",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.facts.hosts.iter().filter_map(|host| problem(seen, host)).collect())
}

fn problem(seen: &Seen, fact: &HostFact) -> Option<Problem> {
    let (host, name) = (seen.recent.hosts.of(&fact.host)?, &fact.host);
    let pauses = host.part(Op::UpstreamPause);
    let lost = cost::of_host(seen, host, &[Op::UpstreamPause]);
    let share = cost::share(seen, &lost)?;
    let most = host.causes.top().first().map_or_else(String::new, |cause| {
        let who =
            if cause.token.is_empty() { cause.client.to_string() } else { format!("the token `{}`", cause.token) };
        format!(
            "; most of its calls are caused by {who} ({})",
            percent(cause.calls as f64 / host.causes.calls.max(1) as f64)
        )
    });
    let sentence = format!(
        "upstream `{name}` asked for {} in {}, and requests waited {} for their ends{most}; `upstream.wait_for_retry` is how long a request waits at most",
        count(pauses.runs, "pause"),
        length(&seen.recent),
        seconds(lost.recent_s),
    );
    Some(Problem {
        subject: format!("upstream:{name}"),
        lost,
        confidence: 0.9,
        sentence,
        evidence: json!({
            "measures": ["count", "sum(upstream_ms)"], "by": ["repository", "upstream_status"],
            "where": [["kind", "=", "job"], ["upstream_host", "=", name]],
        }),
        event: pauses.worst.event,
        guards: vec![Guard::passed("share of the time of all requests", (share * 1000.0).round() / 1000.0)],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, host, server};
    use super::*;

    #[test]
    fn pauses_that_requests_waited_for_are_told_from_five_seconds_on() {
        let paused = |seconds: u64| {
            let mut seen = server(100);
            let one = host(&mut seen);
            one.part_mut(Op::UpstreamPause).runs = 3;
            one.wait("central", Op::UpstreamPause, seconds * 1_000_000_000);
            one.causes.see("10.0.0.7", "ci", 9);
            found(look(&seen))
        };
        let told = paused(5);
        assert!(
            told[0].sentence.contains("asked for 3 pauses") && told[0].sentence.contains("`ci` (100 %)"),
            "{told:?}"
        );
        assert_eq!(paused(4), []);
    }
}
