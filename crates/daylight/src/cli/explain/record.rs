//! Shows the record of an answer: the request, the result and its reason, the members that were asked, and the time spent.

use crate::cli::{failure, table};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use telemetry::{PageOutcome, Reason};

/// The answer of the API. Fields that it leaves out are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    at: String,
    pub(super) method: String,
    path: String,
    client: String,
    agent: String,
    package: String,
    version: String,
    token: String,
    status: u16,
    outcome: Option<String>,
    reason: String,
    detail: String,
    hint: String,
    layer: String,
    pub(super) duration_ms: Option<f64>,
    pub(super) unaccounted_ms: Option<f64>,
    pub(super) upstream: Upstream,
    app: App,
    pub(super) members: Vec<Member>,
    pub(super) ops: BTreeMap<String, Cost>,
    findings: Vec<Related>,
    /// The node that has it; empty: there is one server.
    node: String,
    /// The other keys: the times of groups of operations, for example.
    #[serde(flatten)]
    pub(super) others: BTreeMap<String, Value>,
}

/// The answer of a repository that was asked.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Member {
    pub(super) member: String,
    pub(super) said: String,
    reason: String,
    detail: String,
    until: String,
    pub(super) ms: f64,
    pub(super) flight: String,
    pub(super) ops: BTreeMap<String, Cost>,
}

/// An open finding about the repository.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Related {
    id: String,
    sentence: String,
}

/// The calls to upstreams, as far as they are shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Upstream {
    pub(super) flight: String,
    host: String,
    status: u16,
    bytes: u64,
}

/// The work of an application in front of which the server stands.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct App {
    lane: String,
    backend: String,
    cache: String,
    page: String,
    ahead: u64,
    server_timing: String,
}

/// How often an operation ran, and how long.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cost {
    pub(super) count: u64,
    pub(super) vain: u64,
    pub(super) ms: f64,
    pub(super) inside: bool,
}

impl Record {
    /// Prints the request, the result and the members.
    pub(super) fn show(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let found = self.findings.iter().map(|one| ("finding", format!("{} ({})", one.sentence, one.id)));
        for (name, text) in self.lines().into_iter().chain(found) {
            writeln!(out, "{name:8} {}", failure::plain(&text).replace('\n', " "))?;
        }
        if !self.members.is_empty() {
            writeln!(out)?;
            let rows = self.members.iter().map(Member::row).collect();
            let asked = if self.app.cache.is_empty() && self.app.backend.is_empty() { "MEMBER" } else { "BACKEND" };
            table::write(out, [asked, "SAID", "UNTIL", "WHY", "MS", "FETCH"], rows)?;
        }
        Ok(())
    }

    /// The lines above the tables, each with its name.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let about = [self.package.as_str(), &self.version].join(" ");
        let at = self.duration_ms.map_or_else(|| self.at.clone(), |ms| format!("{}, in {ms:.3} ms", self.at));
        let ended = match self.outcome.as_deref() {
            // A job has no status.
            Some(outcome) if self.status == 0 => format!("{outcome}, by: {}", self.layer),
            Some(outcome) => format!("{} {outcome}, by: {}", self.status, self.layer),
            None => "depends on an upstream".to_owned(),
        };
        let all = [
            ("asked", [self.method.as_str(), &self.path].join(" ").trim().to_owned()),
            ("about", about.trim().to_owned()),
            ("client", [self.client.as_str(), &self.agent].join(" ").trim().to_owned()),
            ("token", self.token.clone()),
            ("at", at),
            ("node", self.node.clone()),
            ("answer", ended),
            ("upstream", self.upstream.line()),
            ("cache", self.app.cache.clone()),
            ("page", page(&self.app.page)),
            ("lane", self.app.lane()),
            ("backend", self.app.backend.clone()),
            ("timing", self.app.server_timing.clone()),
            ("why", why(&self.reason)),
            ("detail", self.detail.clone()),
            ("hint", self.hint.clone()),
        ];
        all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
    }
}

impl Upstream {
    /// Its last host, what that answered, and how much of it came.
    fn line(&self) -> String {
        match (self.host.as_str(), self.bytes) {
            ("", _) => String::new(),
            (host, _) if self.status == 0 => format!("{host} did not answer"),
            (host, 0) => format!("{host} answered {}", self.status),
            (host, bytes) => format!("{host} answered {}, {bytes} bytes came", self.status),
        }
    }
}

impl App {
    /// The lane, and how many requests waited for its slots before.
    fn lane(&self) -> String {
        match (self.lane.as_str(), self.ahead) {
            (lane, 0) => lane.to_owned(),
            ("", ahead) => format!("that of all other paths, {ahead} ahead"),
            (lane, ahead) => format!("{lane}, {ahead} ahead"),
        }
    }
}

impl Member {
    fn row(&self) -> [String; 6] {
        // Details about a policy name the rule, and say more than the reason.
        let hidden = self.reason == Reason::HiddenByPolicy.as_str() && !self.detail.is_empty();
        let reason = if hidden { String::new() } else { why(&self.reason) };
        let why = [reason, self.detail.clone()].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
        let Self { member, said, until, flight, .. } = self.clone();
        [member, said, until, why.join(": "), format!("{:.3}", self.ms), flight]
    }
}

/// What became of the page that the application wrote, with its meaning.
fn page(outcome: &str) -> String {
    match PageOutcome::read(outcome) {
        Some(known) => format!("{outcome}: {}", known.doc()),
        None => outcome.to_owned(),
    }
}

/// The text of a reason. A reason that only a newer server knows is shown by its name.
fn why(reason: &str) -> String {
    let known = Reason::ALL.iter().find(|known| known.as_str() == reason);
    known.map_or(reason, |known| known.doc()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_event_that_called_an_upstream_tells_what_it_said_and_a_job_has_no_status() {
        let lines = |status: u16, upstream: Value| -> Vec<String> {
            let record = json!({ "method": "fetch", "status": status, "outcome": "done", "layer": "remote", "upstream": upstream });
            let record: Record = serde_json::from_value(record).unwrap();
            record
                .lines()
                .into_iter()
                .filter(|(name, _)| ["answer", "upstream"].contains(name))
                .map(|(_, text)| text)
                .collect()
        };
        let came = json!({ "host": "127.0.0.1:80", "status": 200, "bytes": 4096 });
        assert_eq!(lines(0, came), ["done, by: remote", "127.0.0.1:80 answered 200, 4096 bytes came"]);
        let lacked = json!({ "host": "127.0.0.1:80", "status": 404 });
        assert_eq!(lines(404, lacked), ["404 done, by: remote", "127.0.0.1:80 answered 404"]);
        assert_eq!(lines(0, json!({ "host": "127.0.0.1:80" }))[1], "127.0.0.1:80 did not answer");
        assert_eq!(lines(0, json!({})), ["done, by: remote"]);
    }

    #[test]
    fn an_event_of_an_application_has_its_lane_its_backend_and_what_both_said() {
        let record = |app: Value| -> Record {
            serde_json::from_value(json!({
                "method": "GET", "path": "/", "at": "2026-11-01T12:00:00.000Z", "status": 200, "outcome": "answered", "layer": "app", "app": app,
            }))
            .unwrap()
        };
        let lines = |app: Value| -> Vec<String> {
            record(app).lines().into_iter().skip(3).map(|(name, text)| format!("{name}: {text}")).collect()
        };
        let whole = json!({
            "lane": "/reports/**", "backend": "http://127.0.0.1:3000", "cache": "fwd=miss", "page": "miss", "ahead": 2, "server_timing": "db;dur=5",
        });
        let expected = [
            "cache: fwd=miss",
            "page: miss: The server has no page",
            "lane: /reports/**, 2 ahead",
            "backend: http://127.0.0.1:3000",
            "timing: db;dur=5",
        ];
        assert_eq!(lines(whole), expected);
        assert_eq!(lines(json!({"ahead": 1})), ["lane: that of all other paths, 1 ahead"]);
        assert_eq!(lines(json!({"cache": "hit"})), ["cache: hit"]);
        assert_eq!(lines(json!({"page": "newer"})), ["page: newer"]);
        assert_eq!(lines(json!({})), [""; 0]);
    }
}
