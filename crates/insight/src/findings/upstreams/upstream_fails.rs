//! An upstream fails, and requests with it.

use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::wording::{count, length, percent};
use crate::signals::facts::HostFact;
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::Reason;

/// Requests that failed or got an older file in five minutes, at least.
const TROUBLED: u64 = 10;
/// Among the requests that needed the host, at least.
const SHARE: f64 = 0.05;
/// After so many requests without trouble, and three times as many as usual between two with trouble, it is over.
const WELL: u64 = 10;
/// What a request that got an older file loses, in seconds: nobody waits for it, and somebody may need the newer one.
const STALE_S: f64 = 0.1;
/// What a failed request loses besides the time that it took, in seconds.
const FAILED_S: f64 = 1.0;

pub(super) const CHECK: Check = Check {
    key: "upstream-fails",
    kind: FindingKind::Cause,
    about: "An upstream fails, so requests fail or get older files.",
    when: "in five minutes at least 10 and 5 % of the requests that needed it failed or got an older file because of it",
    unless: "it answers again, or asked for a pause",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.facts.hosts.iter().filter_map(|host| problem(seen, host)).collect())
}

fn problem(seen: &Seen, fact: &HostFact) -> Option<Problem> {
    let (host, name) = (seen.recent.hosts.of(&fact.host)?, &fact.host);
    let paused = host.reasons.get(&Reason::UpstreamPaused).copied().unwrap_or_default();
    let troubled = (host.failed + host.stale).saturating_sub(paused);
    let share = troubled as f64 / host.asked.max(1) as f64;
    let usual = 3 * host.asked / troubled.max(1);
    let is_over = fact.open.is_none() && host.well >= WELL.max(usual);
    if troubled < TROUBLED || share < SHARE || is_over {
        return None;
    }
    let mut reasons: Vec<(&Reason, &u64)> = host.reasons.iter().collect();
    reasons.sort_by(|one, other| other.1.cmp(one.1).then(one.0.as_str().cmp(other.0.as_str())));
    let why: Vec<String> =
        reasons.iter().take(3).map(|(reason, times)| format!("{} {times} times", reason.as_str())).collect();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(", ")) };
    let state = match &fact.open {
        Some(last) if last.is_empty() => "; its circuit is open".to_owned(),
        Some(last) => format!("; its circuit is open: {last}"),
        None => String::new(),
    };
    let sentence = format!(
        "upstream `{name}` fails: in {} {} failed and {} got an older file, {} of the requests that needed it{why}{state}; ask its operators, \
         or add a mirror to `urls` of {}",
        length(&seen.recent),
        count(host.failed, "request"),
        host.stale,
        percent(share),
        fact.repositories.iter().take(3).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    );
    let lost = host.failed_nanos as f64 / 1e9 + host.failed as f64 * FAILED_S + host.stale as f64 * STALE_S;
    Some(Problem {
        subject: format!("upstream:{name}"),
        // It is told after five minutes: upstreams restart.
        lost: Lost { recent_s: lost.min(60.0), hourly_s: lost * 12.0, ..by_repository(seen, fact, lost) },
        confidence: 0.9,
        sentence,
        evidence: json!({
            "measures": ["count"], "by": ["kind", "repository", "reason", "upstream_status"],
            "where": [["upstream_host", "=", name]],
        }),
        event: host.worst_failed.event,
        guards: vec![
            Guard::passed("requests with trouble", troubled),
            Guard::passed("requests without trouble since the last one", host.well),
        ],
        ..Problem::default()
    })
}

/// The loss by the repositories that call the host, and the groups with them, in proportion to their requests that failed.
fn by_repository(seen: &Seen, fact: &HostFact, lost: f64) -> Lost {
    let calls = |name: &str, leaves: &[String]| {
        fact.repositories.iter().any(|own| own == name) || leaves.iter().any(|leaf| fact.repositories.contains(leaf))
    };
    let failed = |name: &str| seen.recent.repositories.of(name).map_or(0, |of| of.requests.failed + of.requests.shed);
    let own: Vec<(&str, u64)> = seen
        .facts
        .repositories
        .iter()
        .filter(|one| calls(&one.name, &one.leaves))
        .map(|one| (&*one.name, failed(&one.name)))
        .filter(|(_, failed)| *failed > 0)
        .collect();
    let all: u64 = own.iter().map(|(_, failed)| failed).sum();
    Lost::of(own.into_iter().map(|(name, failed)| (name, lost * failed as f64 / all.max(1) as f64)))
}

#[cfg(test)]
mod tests {
    use super::super::staged::{facts, found, host, server};
    use super::*;

    fn troubled(asked: u64, failed: u64, well: u64) -> Seen {
        let mut seen = server(100);
        let one = host(&mut seen);
        (one.asked, one.failed, one.well) = (asked, failed, well);
        one.failed_nanos = failed * 1_000_000_000;
        one.reasons.insert(Reason::UpstreamFailed, failed);
        seen
    }

    #[test]
    fn one_request_of_twenty_is_told_and_fewer_or_those_of_the_past_are_not() {
        let found = |seen: &Seen| found(look(seen));
        let told = found(&troubled(200, 10, 0));
        assert!(
            told[0].sentence.contains("10 requests failed") && told[0].sentence.contains("upstream_failed 10 times")
        );
        assert_eq!(told[0].lost.recent_s, 20.0);
        assert_eq!(found(&troubled(201, 10, 0)), []);
        assert_eq!(found(&troubled(100, 9, 0)), []);
        assert_eq!(found(&troubled(200, 10, 60)), [], "it answers again");
        assert_eq!(found(&troubled(200, 10, 59)).len(), 1);
        let mut open = troubled(200, 10, 60);
        facts(&mut open).hosts[0].open = Some("it responded with 500".to_owned());
        assert!(found(&open)[0].sentence.contains("its circuit is open: it responded with 500"));
    }

    #[test]
    fn pauses_are_no_failures_and_a_short_gap_never_opens_at_once() {
        let mut seen = troubled(200, 100, 0);
        assert_eq!(found(look(&seen))[0].lost.recent_s, 60.0);
        host(&mut seen).reasons.insert(Reason::UpstreamPaused, 95);
        assert_eq!(found(look(&seen)), []);
    }
}
