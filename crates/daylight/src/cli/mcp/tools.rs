//! The tools: what each takes, which call of the API it makes, and how it tells the answer. None of them changes anything.

use super::arguments::Form::{Number, Text, Words};
use super::arguments::{self, Argument};
use super::told::{self, FOREIGN, ROWS_MAX, Told};
use crate::cli::api::Api;
use crate::cli::ask::Answered;
use crate::cli::{explain, failure, findings, upstreams};
use format::percent::segment;
use serde_json::{Map, Value, json};

/// The longest question, in characters. The server takes 16 KiB.
const QUESTION_MAX: usize = 4_000;
/// The longest path, in characters.
const PATH_MAX: usize = 2_000;
/// The longest moment, in characters.
const MOMENT_MAX: usize = 40;
/// The most findings, and how many there are without a limit.
const FINDINGS_MAX: u64 = 50;
const FINDINGS: u64 = 20;
/// How many partial answers of a second each a question gets.
const ROUNDS: u32 = 30;

/// A tool.
pub(super) struct Tool {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    arguments: &'static [Argument],
    call: fn(&Api, &Map<String, Value>) -> anyhow::Result<Told>,
}

/// All tools, in the order of their list.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "findings",
        title: "Faults and what they cost",
        about: "Lists the faults of this Daylight package server, now or at an earlier time, the most expensive first: the cause, the \
                seconds that clients lose to it, the setting or command that helps, and the id of the event that shows it best. Begin here \
                when builds are slow or fail.",
        arguments: &[
            Argument::free(
                "state",
                Words(&["unknown", "pending", "open", "closed", "muted"]),
                "Findings in these states; without it pending and open ones, or with `from` those of any state",
            ),
            Argument::free(
                "from",
                Text(MOMENT_MAX),
                "The begin of an earlier time: -2h, -7d, 2026-11-01 or 2026-11-01T12:00:00Z",
            ),
            Argument::free("to", Text(MOMENT_MAX), "Its end; without it now. It needs `from`"),
            Argument::free("limit", Number(FINDINGS_MAX), "The most findings, 20 without it"),
        ],
        call: list_findings,
    },
    Tool {
        name: "ask",
        title: "Ask about requests and jobs",
        about: "Answers a question about the stored events of requests and jobs: how many, how fast, how large, by any column. Form: MEASURES by \
                COLUMNS where FILTER from MOMENT to MOMENT per LENGTH order MEASURE top N; each part may be left out. Measures: count, rate, \
                sum(c), mean(c), min(c), max(c), p95(c), distinct(c), share(FILTER). Examples: `count, p95(duration_ms) by repository from -1d`; \
                `max(duration_ms) by id, path, slowest_member where kind = request from -1h top 5` (ids of the slowest requests); \
                `count by reason where status >= 500`; `where run = '0123456789abcdef' compare rest` (what makes the requests of one \
                `bundle install` different). The resource `daylight://columns` has all columns; important ones are id, kind, repository, package, \
                version, path, client, client_product, run, token, status, outcome, reason, layer, bytes_out, duration_ms, answered_by, \
                slowest_member, slowest_member_ms, upstream_host, upstream_ms, members_ask_ms, flight_wait_ms.",
        arguments: &[Argument::needed("question", Text(QUESTION_MAX), "The question in its text form")],
        call: ask,
    },
    Tool {
        name: "explain_event",
        title: "Explain a past answer",
        about: "Explains one past answer by the id of its event: the request, the reason of its result, the members of the group that were \
                asked with what each said and how long it took, and the operations on which the time was spent. The header `Daylight-Event` \
                of an answer has the id, and so have findings and the column `id` of questions.",
        arguments: &[Argument::needed("event", Text(16), "The id: 16 hexadecimal digits")],
        call: explain_event,
    },
    Tool {
        name: "explain",
        title: "Explain a path",
        about: "Explains which answer the server would give to a path of a repository now, and why: which members have it, which policy hides \
                it, until when. It calls no upstream.",
        arguments: &[
            Argument::needed("repository", Text(200), "The name of the repository"),
            Argument::needed(
                "path",
                Text(PATH_MAX),
                "The path below the repository, or a package or version: `rack`, `rack:3.0`, `org.example:lamp`",
            ),
            Argument::free(
                "as_of",
                Text(MOMENT_MAX),
                "The repository at an earlier moment: a day, a time, a change `seq-N` of the journal, or an event `koji-N` of Koji",
            ),
        ],
        call: explain_path,
    },
    Tool {
        name: "upstreams",
        title: "The state of upstreams",
        about: "Lists the upstream hosts that the server calls: whether each is called, how long its responses take, which part fails, how many \
                calls are under way and wait, and the last error.",
        arguments: &[],
        call: list_upstreams,
    },
];

impl Tool {
    /// The tool of this name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// The names of all tools.
    pub(super) fn names() -> Vec<&'static str> {
        TOOLS.iter().map(|tool| tool.name).collect()
    }

    /// Its entry in the list.
    pub(super) fn listed(&self) -> Value {
        json!({
            "name": self.name, "title": self.title, "description": format!("{} {FOREIGN}", self.about),
            "inputSchema": arguments::schema(self.arguments), "outputSchema": told::schema(),
            "annotations": { "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false },
        })
    }

    /// Calls it. A failure is a result, too, so that the model can read the hint.
    pub(super) fn call(&self, api: &Api, given: Option<&Value>) -> Value {
        let given = match arguments::check(self.arguments, given) {
            Ok(given) => given,
            Err(wrong) => return told::failed(&wrong, "`tools/list` has the schema of the arguments"),
        };
        match (self.call)(api, &given) {
            Ok(found) => told::result(found).unwrap_or_else(|| told::failed("the machine gives no random numbers", "")),
            Err(error) => {
                let (text, hint) = failure::told(&error);
                told::failed(&text, &hint)
            }
        }
    }
}

fn text<'a>(given: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    given.get(name).and_then(Value::as_str)
}

/// What `write` writes, as a text.
fn shown(write: impl FnOnce(&mut Vec<u8>) -> anyhow::Result<()>) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn list_findings(api: &Api, given: &Map<String, Value>) -> anyhow::Result<Told> {
    let states = given.get("state").and_then(Value::as_array).filter(|states| !states.is_empty());
    let states = states.map(|states| states.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","));
    let parts = [("state", states.as_deref()), ("from", text(given, "from")), ("to", text(given, "to"))];
    let set = parts.iter().filter_map(|(name, value)| value.map(|value| format!("{name}={}", segment(value))));
    let query = set.collect::<Vec<_>>().join("&");
    let mut value = api.get(&format!("{}?{query}", findings::FINDINGS))?;
    let most = given.get("limit").and_then(Value::as_u64).unwrap_or(FINDINGS).min(FINDINGS_MAX);
    let (mut notes, mut all) = (Vec::new(), 0);
    if let Some(list) = value.get_mut("findings").and_then(Value::as_array_mut) {
        all = list.len();
        list.truncate(usize::try_from(most)?);
        if list.len() < all {
            notes.push(format!("the first {} of {all} findings: a higher `limit` shows more", list.len()));
        }
    }
    let text = shown(|out| findings::write(api, value.clone(), !query.is_empty(), out))?;
    let summary = format!("Findings of the server: {all}, the most expensive first.");
    Ok(Told { summary, text, value, notes })
}

fn ask(api: &Api, given: &Map<String, Value>) -> anyhow::Result<Told> {
    let mut rounds = 0;
    let answered = Answered::to(api, text(given, "question").unwrap_or_default().into(), |_| {
        rounds += 1;
        rounds < ROUNDS
    })?;
    let (mut value, text) = (answered.json()?, shown(|out| answered.write(out))?);
    let (rows, mut notes) = (value["rows"].as_array().map_or(0, Vec::len), Vec::new());
    if rows > ROWS_MAX {
        notes.push(format!(
            "the structured answer has the first {ROWS_MAX} of {rows} rows: ask with `top`, or group by less"
        ));
    }
    if value["exact"] == false {
        notes.push("the values are estimates: some stored events stand for several".to_owned());
    }
    let complete = value["complete"].as_f64().unwrap_or(1.0);
    if complete < 1.0 {
        notes.push(format!(
            "{:.0} % of the stored events were seen in {ROUNDS} seconds: ask about a shorter time",
            complete * 100.0
        ));
    }
    // The handle to go on is of this call alone.
    value.as_object_mut().map(|value| value.remove("next"));
    Ok(Told { summary: format!("Rows of the answer: {rows}. Durations are in milliseconds."), text, value, notes })
}

fn explain_event(api: &Api, given: &Map<String, Value>) -> anyhow::Result<Told> {
    let mut value = api.get(&explain::event(text(given, "event").unwrap_or_default()))?;
    let text = shown(|out| explain::write(api, value.clone(), out))?;
    if let Some(slowest) = slowest(&value) {
        value["slowest_member"] = slowest;
    }
    Ok(Told {
        summary: "The event of one past answer, with its members and its times.".to_owned(),
        text,
        value,
        notes: Vec::new(),
    })
}

/// The member of an event that took longest.
fn slowest(event: &Value) -> Option<Value> {
    let members = event["members"].as_array()?;
    let took = |member: &Value| member["ms"].as_f64().unwrap_or(0.0);
    let slowest = members.iter().max_by(|one, other| took(one).total_cmp(&took(other)))?;
    Some(json!({ "member": slowest["member"], "said": slowest["said"], "ms": slowest["ms"] }))
}

fn explain_path(api: &Api, given: &Map<String, Value>) -> anyhow::Result<Told> {
    let of = |name: &str| text(given, name).unwrap_or_default();
    let value = api.get(&explain::about(of("repository"), of("path"), text(given, "as_of")))?;
    let text = shown(|out| explain::write(api, value.clone(), out))?;
    Ok(Told { summary: "The answer that the server would give.".to_owned(), text, value, notes: Vec::new() })
}

fn list_upstreams(api: &Api, _given: &Map<String, Value>) -> anyhow::Result<Told> {
    let value = api.get(upstreams::UPSTREAMS)?;
    let hosts = value["upstreams"].as_array().map_or(0, Vec::len);
    let text = shown(|out| upstreams::write(value.clone(), out))?;
    let mut notes = Vec::new();
    if hosts > ROWS_MAX {
        notes.push(format!("the structured answer has the first {ROWS_MAX} of {hosts} hosts"));
    }
    Ok(Told { summary: format!("Upstream hosts: {hosts}."), text, value, notes })
}
