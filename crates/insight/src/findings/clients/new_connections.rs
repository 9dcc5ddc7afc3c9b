//! A client that opens a TLS connection for each request.

use super::super::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use super::{agent, confidence, costs, is_one};
use crate::signals::clients::client::ClientSeen;
use crate::signals::seen::Seen;
use serde_json::json;

/// Requests with a handshake in five minutes, at least.
const HANDSHAKES: u64 = 100;
/// The share of its requests that had a connection of their own, at least.
const SHARE: f64 = 0.8;

pub(super) const CHECK: Check = Check {
    key: "new-connection-each-request",
    kind: FindingKind::Cause,
    about: "A client opens a TLS connection for each request",
    when: "in five minutes at least 100 of its requests, and at least 80 % of them, came on a connection of their own, and the handshakes took 5 s or \
           more and 1 % of the time of all clients",
    unless: "several programs share the address",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.recent.clients.iter().filter_map(|client| problem(seen, client)).collect())
}

fn problem(seen: &Seen, client: &ClientSeen) -> Option<Problem> {
    let (handshakes, nanos) = client.handshakes;
    let share = handshakes as f64 / client.requests.max(1) as f64;
    let seconds = nanos as f64 / 1e9;
    if handshakes < HANDSHAKES || share < SHARE || !costs(seconds, seen.recent.clients.all.nanos + nanos) {
        return None;
    }
    let one = is_one(client)?;
    let filter = client.filter();
    Some(Problem {
        subject: client.subject(),
        lost: Lost::recent(seconds),
        confidence: confidence(seen),
        sentence: format!(
            "{} ({}) opened a connection for each of {handshakes} of its {} requests; the handshakes took {seconds:.0} s in five minutes. Let it \
             keep its connections, or use HTTP/2",
            client.name(),
            agent(client),
            client.requests,
        ),
        changes: Vec::new(),
        evidence: json!({ "where": [filter[0], filter[1]], "by": ["client_product", "protocol"], "measures": ["count", "sum(duration_ms)"] }),
        event: client.worst.event,
        guards: vec![one, Guard::passed("share of its requests on a new connection", (share * 100.0).round() / 100.0)],
        ..Problem::default()
    })
}
