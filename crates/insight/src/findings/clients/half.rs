//! A client that takes half of the server's time while others wait or are refused.

use super::super::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use super::{agent, confidence, costs};
use crate::signals::clients::client::ClientSeen;
use crate::signals::seen::Seen;
use serde_json::json;

/// The share of the server's work for one client, at least.
const SHARE: f64 = 0.5;
/// A refused request waits as long as its `Retry-After` says, at least: seconds.
const REFUSED_S: f64 = 1.0;
/// The advised part of each limit for one client, in percent.
const ADVISED: u64 = 25;
const SETTING: &str = "server.client_share_percent";

pub(super) const CHECK: Check = Check {
    key: "one-client-takes-half",
    kind: FindingKind::Cause,
    about: "One client takes half of the server's time while others wait or are refused",
    when: "in five minutes it took at least 50 % of the time in which the server worked, and others waited for threads or were refused for 5 s or \
           more",
    unless: "nobody else waits, or the others lost less than 1 % of the time of all clients",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.recent.clients.iter().filter_map(|client| problem(seen, client)).collect())
}

fn problem(seen: &Seen, client: &ClientSeen) -> Option<Problem> {
    let (all, mine) = (&seen.recent.clients.all, &client.time);
    let share = mine.work as f64 / all.work.max(1) as f64;
    let (waited, refused) = (client.blamed.0 as f64 / 1e9, client.blamed.1);
    let lost = waited + refused as f64 * REFUSED_S;
    if share < SHARE || !costs(lost, all.nanos) {
        return None;
    }
    let sentence = format!(
        "{} ({}) takes {:.0} % of the server's time; meanwhile other clients waited {waited:.0} s in five minutes, and {refused} of their requests \
         were refused",
        client.name(),
        agent(client),
        share * 100.0,
    );
    let setting = seen.facts.setting(SETTING).and_then(|setting| setting.number).filter(|now| *now > ADVISED);
    Some(Problem {
        subject: client.subject(),
        lost: Lost::recent(lost),
        confidence: confidence(seen),
        sentence,
        changes: setting.and_then(|_| Change::of_setting(seen, SETTING, ADVISED)).into_iter().collect(),
        evidence: json!({
            "where": [["kind", "=", "request"]], "by": ["client", "token"],
            "measures": ["sum(duration_ms)", "sum(queue_wait_ms)", "count", "share(outcome = shed)"], "order": "-sum(duration_ms)",
        }),
        event: client.worst.event,
        guards: vec![
            Guard::passed("others that waited, in seconds", waited.round()),
            Guard::passed("requests of others that were refused", refused),
        ],
        ..Problem::default()
    })
}
