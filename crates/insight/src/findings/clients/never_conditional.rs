//! A client that gets the same documents whole again, because it never asks whether its copy is current.

use super::super::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use super::{FLOOR_S, agent, bytes, confidence};
use crate::signals::clients::client::{ClientSeen, DOCUMENTS};
use crate::signals::seen::Seen;
use serde_json::json;

/// Documents of an hour that were the same as before, at least.
const AGAIN: f64 = 100.0;
/// Or bytes of these.
const AGAIN_BYTES: f64 = 10e6;
/// Documents that are few, however large.
const AGAIN_FEW: f64 = 20.0;
/// The share of the repeated answers that had the same size, at least.
const SAME: f64 = 0.9;

pub(super) const CHECK: Check = Check {
    key: "never-conditional",
    kind: FindingKind::Cause,
    about: "A client gets the same lists and metadata whole again and again, because it never asks whether its copy is current",
    when: "in an hour it got at least 100 documents again with the same size (or 20 that are 10 MB or 5 s together), and no answer 304",
    unless: "it got an answer 304, or more than 10 % of the repeated documents had changed",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.hour.clients.iter().filter_map(|client| problem(seen, client)).collect())
}

fn problem(seen: &Seen, client: &ClientSeen) -> Option<Problem> {
    if client.current > 0 || (client.documents.count as f64) < AGAIN_FEW {
        return None;
    }
    let paths = client.lists.paths();
    let all: u64 = paths.iter().map(|path| path.count).sum();
    let repeated = all.saturating_sub(paths.len() as u64) as f64;
    let same: u64 = paths.iter().map(|path| path.same).sum();
    if repeated < 1.0 || (same as f64) < SAME * repeated {
        return None;
    }
    let share = repeated / all as f64;
    let again = client.documents.count as f64 * share;
    let seconds = client.documents.nanos as f64 / 1e9 * share;
    let size = client.documents.bytes as f64 * share;
    if again < AGAIN && (again < AGAIN_FEW || (size < AGAIN_BYTES && seconds < FLOOR_S)) {
        return None;
    }
    let sentence = format!(
        "{} ({}) got {again:.0} documents again in an hour that had not changed, {} and {seconds:.1} s: it never sends `If-None-Match` or \
         `If-Modified-Since`; {}",
        client.name(),
        agent(client),
        bytes(size),
        advice(&client.agent),
    );
    let filter = client.filter();
    let lists = DOCUMENTS.map(|kind| json!(["file", "=", kind]));
    Some(Problem {
        subject: client.subject(),
        lost: Lost { recent_s: seconds / 12.0, ..Lost::hourly(seconds) },
        confidence: confidence(seen),
        sentence,
        changes: Vec::new(),
        evidence: json!({
            "where": [filter[0], filter[1], { "any": lists }], "by": ["client_product", "client_version", "path", "status"],
            "measures": ["count", "sum(bytes_out)"],
        }),
        event: client.lists.worst.event,
        guards: vec![
            Guard::passed("answers 304", client.current),
            Guard::passed("repeated documents of the same size", (same as f64 / repeated * 100.0).round() / 100.0),
        ],
        ..Problem::default()
    })
}

fn advice(agent: &str) -> &'static str {
    let advice = [
        ("Apache-Maven/", "let `updatePolicy` be `daily` and do not build with `-U`"),
        ("curl/", "use `curl --etag-compare FILE --etag-save FILE`"),
        ("Wget/", "use `wget --timestamping`"),
    ];
    let of = advice.into_iter().find(|(client, _)| agent.starts_with(client));
    of.map_or("let it keep its copy, and send the `ETag` of it", |(_, advice)| advice)
}
