//! An event as a JSON object. The names are a promise to whoever reads the file.

use crate::{Event, MemberRecord, Op, Reason, Tally};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io;

#[derive(serde::Serialize)]
struct Record<'a> {
    id: String,
    at: String,
    kind: &'static str,
    method: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    protocol: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    path: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    repository: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    package: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    file: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    client: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    agent: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    token: &'a str,
    status: u16,
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
    layer: &'static str,
    bytes_in: u64,
    bytes_out: u64,
    first_byte_ms: f64,
    duration_ms: f64,
    ops: Ops<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<Member<'a>>,
    weight: u32,
}

#[derive(serde::Serialize)]
struct Member<'a> {
    member: &'a str,
    said: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    ms: f64,
    ops: Ops<'a>,
}

#[derive(serde::Serialize)]
struct Cost {
    count: u32,
    ms: f64,
}

/// `{"truth.read": {"count": 2, "ms": 0.13}}`, with the ops that ran.
enum Ops<'a> {
    Event(&'a Event),
    Member(&'a [(Op, Tally)]),
}

impl Serialize for Ops<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut entry = |(op, tally): (Op, Tally)| {
            map.serialize_entry(op.as_str(), &Cost { count: tally.count, ms: millis(tally.nanos) })
        };
        match self {
            Ops::Event(event) => event.tallies().try_for_each(&mut entry)?,
            Ops::Member(ops) => ops.iter().copied().try_for_each(&mut entry)?,
        }
        map.end()
    }
}

/// Milliseconds, to a microsecond.
fn millis(nanos: u64) -> f64 {
    (nanos as f64 / 1e3).round() / 1e3
}

fn member(record: &MemberRecord) -> Member<'_> {
    Member {
        member: &record.member,
        said: record.said.as_str(),
        reason: record.reason.map(Reason::as_str),
        ms: millis(record.nanos),
        ops: Ops::Member(&record.ops),
    }
}

/// Appends the event to `lines` as one line with its end. What is empty is left out, but for numbers and the outcome.
pub(crate) fn write(event: &Event, lines: &mut Vec<u8>) -> io::Result<()> {
    let record = Record {
        id: event.id.to_string(),
        at: event.at.to_string(),
        kind: event.kind.as_str(),
        method: event.method,
        protocol: event.protocol,
        path: &event.path,
        repository: &event.subject.repository,
        package: &event.subject.package,
        version: &event.subject.version,
        file: event.subject.kind,
        client: &event.client,
        agent: &event.agent,
        token: &event.token,
        status: event.status,
        outcome: event.outcome.map(|outcome| outcome.as_str()),
        reason: event.reason.map(Reason::as_str),
        detail: &event.detail,
        layer: event.layer.as_str(),
        bytes_in: event.bytes_in,
        bytes_out: event.bytes_out,
        first_byte_ms: millis(event.first_byte),
        duration_ms: millis(event.duration),
        ops: Ops::Event(event),
        members: event.members.iter().map(member).collect(),
        weight: event.weight,
    };
    serde_json::to_writer(&mut *lines, &record)?;
    lines.push(b'\n');
    Ok(())
}
