//! A client that asks for the same path again and again without a pause.

use super::super::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use super::{FLOOR_SHARE, agent, confidence, is_one};
use crate::signals::clients::client::ClientSeen;
use crate::signals::seen::Seen;
use serde_json::json;

/// Requests without a pause in five minutes, at least: ten a second for a minute.
const EARLY: u64 = 600;
/// The share of the client's requests that are for this path, at least.
const OF_CLIENT: f64 = 0.5;
/// The share of all requests of the server that costs little but is told all the same.
const OF_ALL: f64 = 0.1;

pub(super) const CHECK: Check = Check {
    key: "tight-loop",
    kind: FindingKind::Cause,
    about: "A client asks for the same path again and again without a pause",
    when: "it asked for one path at least 600 times in five minutes within a second after the answer before, and these are at least 10 % of all \
           requests or 1 % of the time of all clients",
    unless: "most of its requests are for other paths, or several programs share the address, or most of the answers were failures",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.recent.clients.iter().filter_map(|client| problem(seen, client)).collect())
}

fn problem(seen: &Seen, client: &ClientSeen) -> Option<Problem> {
    let asked = client.loops.fastest().filter(|asked| asked.early >= EARLY)?;
    let failed = client.failing.fastest().map_or(0, |failing| failing.early);
    let (all, share) = (&seen.recent.clients.all, asked.count() as f64 / client.requests.max(1) as f64);
    let of_all = asked.early as f64 / all.requests.max(1) as f64;
    let of_time = asked.early_nanos as f64 / all.nanos.max(1) as f64;
    if failed * 2 > asked.early || share < OF_CLIENT || (of_all < OF_ALL && of_time < FLOOR_SHARE) {
        return None;
    }
    let one = is_one(client)?;
    let seconds = asked.early_nanos as f64 / 1e9;
    let lost = Lost::of([(&*asked.repository, seconds)]);
    let sentence = format!(
        "{} ({}) asked for `{}` {} times in {:.0} s without a pause, which is {:.0} % of all requests and took {seconds:.1} s; it has to wait \
         between two requests",
        client.name(),
        agent(client),
        asked.path,
        asked.count(),
        seen.recent.seconds(),
        of_all * 100.0,
    );
    let filter = client.filter();
    Some(Problem {
        subject: client.subject(),
        lost,
        confidence: confidence(seen),
        sentence,
        changes: Vec::new(),
        evidence: json!({
            "where": [filter[0], filter[1], ["path", "=", asked.path]], "by": ["client_product", "status"],
            "measures": ["count", "rate", "sum(duration_ms)"],
        }),
        event: asked.worst.event,
        guards: vec![one, Guard::passed("share of its requests for this path", (share * 100.0).round() / 100.0)],
        ..Problem::default()
    })
}
