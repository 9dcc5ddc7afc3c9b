//! Clients that ask again for what has just failed, without a pause.

use super::super::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use super::{agent, confidence};
use crate::signals::clients::client::ClientSeen;
use crate::signals::clients::loops::Loop;
use crate::signals::seen::Seen;
use serde_json::json;
use std::collections::BTreeMap;

/// Attempts of one client for one path without a pause in five minutes, at least. Maven, Bundler and Gradle try three or four times.
const EARLY: u64 = 50;
/// Attempts of each of many clients, at least.
const EARLY_OF_MANY: u64 = 10;
/// So many clients are many.
const MANY: usize = 5;

pub(super) const CHECK: Check = Check {
    key: "retry-storm",
    kind: FindingKind::Failure,
    about: "Clients ask again for what has just failed, without a pause",
    when: "one client asked for one failing path at least 50 times in five minutes within a second after the failure, or five clients at least 10 \
           times each in the same repository",
    unless: "they wait a second or more before they ask again, as `Retry-After` says",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let early = |client: &ClientSeen, least| client.failing.fastest().filter(|asked| asked.early >= least).cloned();
    let mut many: BTreeMap<Box<str>, Vec<(&ClientSeen, Loop)>> = BTreeMap::new();
    for client in seen.recent.clients.iter() {
        if let Some(asked) = early(client, EARLY_OF_MANY).filter(|asked| !asked.repository.is_empty()) {
            many.entry(asked.repository.clone()).or_default().push((client, asked));
        }
    }
    let mut problems = Vec::new();
    for (repository, clients) in many {
        if clients.len() >= MANY {
            problems.push(of_many(&repository, &clients));
        } else {
            let alone = clients.iter().filter(|(_, asked)| asked.early >= EARLY);
            problems.extend(alone.map(|(client, asked)| of_one(seen, client, asked)));
        }
    }
    Verdict::Looked(problems)
}

fn of_one(seen: &Seen, client: &ClientSeen, asked: &Loop) -> Problem {
    let seconds = asked.early_nanos as f64 / 1e9;
    let filter = client.filter();
    Problem {
        subject: client.subject(),
        lost: Lost::of([(&*asked.repository, seconds)]),
        confidence: confidence(seen),
        sentence: format!(
            "{} ({}) asked for `{}` again {} times within a second after it had failed, which took {seconds:.1} s; let it wait as long as \
             `Retry-After` says, and twice as long after each failure",
            client.name(),
            agent(client),
            asked.path,
            asked.early,
        ),
        changes: Vec::new(),
        evidence: json!({
            "where": [filter[0], filter[1], ["path", "=", asked.path]], "by": ["status", "reason"], "measures": ["count", "sum(duration_ms)"],
        }),
        event: asked.worst.event,
        guards: vec![Guard::passed("failures in a row without a pause", asked.early)],
        ..Problem::default()
    }
}

fn of_many(repository: &str, clients: &[(&ClientSeen, Loop)]) -> Problem {
    let early: u64 = clients.iter().map(|(_, asked)| asked.early).sum();
    let seconds = clients.iter().map(|(_, asked)| asked.early_nanos).sum::<u64>() as f64 / 1e9;
    let worst = clients.iter().max_by_key(|(_, asked)| asked.worst.nanos);
    Problem {
        subject: format!("repository:{repository}"),
        lost: Lost::of([(repository, seconds)]),
        confidence: 0.9,
        sentence: format!(
            "{} clients asked in `{repository}` again {early} times within a second after a failure, which took {seconds:.1} s; let them wait as \
             long as `Retry-After` says, and twice as long after each failure",
            clients.len(),
        ),
        changes: Vec::new(),
        evidence: json!({
            "where": [["repository", "=", repository], ["status", ">=", 500]], "by": ["client", "path", "reason"],
            "measures": ["count", "sum(duration_ms)"],
        }),
        event: worst.and_then(|(_, asked)| asked.worst.event),
        guards: vec![Guard::passed("clients that did not wait", clients.len() as u64)],
        ..Problem::default()
    }
}
