//! Requests wait for many downloads from upstreams, one after another.

use super::cost;
use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::wording::{count, length, seconds};
use crate::signals::seen::Seen;
use crate::signals::serial::{DOWNLOADS_MIN, SerialSeen};
use serde_json::json;

/// Such requests in five minutes, at least.
const REQUESTS: u64 = 5;
/// The setting of how many are made at once where they are.
const WIDTH: &str = "upstream.max_concurrent";

pub(super) const CHECK: Check = Check {
    key: "serial-calls",
    kind: FindingKind::Cause,
    about: "Requests wait for many downloads from upstreams, one after another.",
    when: "in five minutes at least five requests of a repository for files of one kind spent 80 % of their time waiting for eight downloads or more, one \
           after another",
    unless: "as many at once as `upstream.max_concurrent` would save less than 1 % of the time of all requests, or less than 5 s",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let all = seen.recent.serials.0.iter();
    let mut found: Vec<Problem> = all.filter_map(|((name, file), serial)| problem(seen, name, file, serial)).collect();
    // One for each repository: the kind that costs most.
    found.sort_by(|one, other| other.lost.recent_s.total_cmp(&one.lost.recent_s));
    let mut names = Vec::new();
    found.retain(|problem| {
        !names.contains(&problem.subject) && {
            names.push(problem.subject.clone());
            true
        }
    });
    Verdict::Looked(found)
}

fn problem(seen: &Seen, name: &str, file: &str, serial: &SerialSeen) -> Option<Problem> {
    if serial.requests < REQUESTS {
        return None;
    }
    let each = serial.downloads / serial.requests;
    let width = seen.facts.setting(WIDTH).and_then(|setting| setting.number).unwrap_or(1).clamp(1, each);
    let waited = serial.nanos as f64 / 1e9;
    let lost = Lost::of([(name, waited * (1.0 - 1.0 / width as f64))]);
    let share = cost::share(seen, &lost)?;
    let what = if file.is_empty() { String::new() } else { format!(" for `{file}`") };
    let sentence = format!(
        "{}{what} in `{name}` waited for {each} downloads each, one after another, {} in {}; {width} at a time would take {}. Ask for less at once, \
         or have the files fetched before",
        count(serial.requests, "request"),
        seconds(waited),
        length(&seen.recent),
        seconds(waited / width as f64),
    );
    Some(Problem {
        subject: format!("repository:{name}"),
        lost,
        confidence: 0.8,
        sentence,
        evidence: json!({
            "measures": ["count", "sum(flight_wait_ms)", "max(flight_wait_ms)"], "by": ["file", "client"],
            "where": [["kind", "=", "request"], ["repository", "=", name], ["file", "=", file], ["flight_wait_ms", ">", 0]],
        }),
        event: serial.worst.event,
        guards: vec![
            Guard::passed("downloads of a request, one after another", each.max(u64::from(DOWNLOADS_MIN))),
            Guard::passed("share of the time of all requests", (share * 1000.0).round() / 1000.0),
        ],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, server};
    use super::*;

    fn waited(requests: u64, seconds: u64) -> Vec<Problem> {
        let mut seen = server(100);
        let serial =
            SerialSeen { requests, downloads: requests * 20, nanos: seconds * 1_000_000_000, ..SerialSeen::default() };
        seen.recent.serials.0.insert(("central".into(), "dependencies"), serial);
        seen.recent.serials.0.insert(("central".into(), "info"), SerialSeen { nanos: serial.nanos / 2, ..serial });
        found(look(&seen))
    }

    #[test]
    fn requests_that_wait_for_one_download_after_another_are_told_once_for_each_repository() {
        let told = waited(5, 16);
        assert_eq!((told.len(), told[0].lost.recent_s), (1, 14.0));
        assert!(
            told[0].sentence.contains("`dependencies`") && told[0].sentence.contains("8 at a time would take 2.0 s")
        );
        assert_eq!((waited(4, 16), waited(5, 5)), (vec![], vec![]));
    }
}
