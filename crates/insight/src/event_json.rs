//! One event by its id, with the keys that events have as JSON, made from its columns.

use crate::ask::Figure;
use crate::column::Column;
use crate::part::{Part, Unreadable};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use telemetry::EventId;

/// Keys that are inside another object.
const INSIDE: &[(&str, &[(Column, &str)])] = &[
    ("arrival", &[(Column::InFlight, "in_flight"), (Column::Late, "late_ms"), (Column::ClassUsed, "class_used")]),
    (
        "upstream",
        &[
            (Column::UpstreamHost, "host"),
            (Column::UpstreamStatus, "status"),
            (Column::UpstreamCalls, "calls"),
            (Column::UpstreamConnects, "connects"),
            (Column::UpstreamBytes, "bytes"),
            (Column::Flight, "flight"),
        ],
    ),
    (
        "app",
        &[
            (Column::Lane, "lane"),
            (Column::Backend, "backend"),
            (Column::AppCache, "cache"),
            (Column::AppPage, "page"),
            (Column::Ahead, "ahead"),
            (Column::ServerTiming, "server_timing"),
        ],
    ),
];

/// Numbers that an event has also if they are 0.
const ALWAYS: &[Column] = &[
    Column::Status,
    Column::BytesIn,
    Column::BytesOut,
    Column::FirstByte,
    Column::Duration,
    Column::Unaccounted,
    Column::Weight,
];

/// Columns that repeat other parts of the event, or describe its repository.
const DERIVED: &[Column] = &[
    Column::RepositoryKind,
    Column::Format,
    Column::Members,
    Column::AnsweredBy,
    Column::AnsweredPlace,
    Column::MembersSaid,
    Column::SlowestMember,
    Column::SlowestMemberTime,
    Column::TruthReads,
    Column::CacheReads,
    Column::BlobReads,
    Column::More,
];

/// The columns of operations on the line, which repeat `ops` of an event that was stored whole, as [`Column::AppBody`] does.
const OPERATIONS: std::ops::Range<u8> = Column::HeadRead as u8..Column::Unaccounted as u8;

/// The event with this id, if one of the parts has it. An error means that it may be in a part that cannot be read.
pub(crate) fn find(parts: &[Arc<dyn Part>], id: EventId) -> Result<Option<Value>, Unreadable> {
    let mut unreadable = None;
    for part in parts {
        match part.numbers(Column::Id) {
            Ok(ids) => {
                if let Some(row) = ids.iter().position(|found| found.cast_unsigned() == id.0) {
                    return Ok(Some(event(&**part, row)?));
                }
            }
            Err(error) => unreadable = Some(error),
        }
    }
    unreadable.map_or(Ok(None), Err)
}

/// The event of a row.
fn event(part: &dyn Part, row: usize) -> Result<Value, Unreadable> {
    let mut event = Map::new();
    let whole = more(&part.text(Column::More, row)?);
    for column in Column::ALL.iter().copied().filter(|column| !DERIVED.contains(column)) {
        let is_operation = OPERATIONS.contains(&(column as u8)) || column == Column::AppBody;
        if whole.contains_key("ops") && is_operation {
            continue;
        }
        let inside = INSIDE.iter().find_map(|(object, keys)| {
            let (_, key) = keys.iter().find(|(inside, _)| *inside == column)?;
            Some((*object, *key))
        });
        let Some(value) = value(part, column, row)? else { continue };
        match inside {
            None => drop(event.insert(column.as_str().to_owned(), value)),
            Some((object, key)) => {
                let object = event.entry(object).or_insert_with(|| Map::new().into());
                object.as_object_mut().map(|object| object.insert(key.to_owned(), value));
            }
        }
    }
    if !event.contains_key("outcome") {
        event.insert("outcome".to_owned(), Value::Null);
    }
    let members = members(part, row)?;
    if !members.is_empty() {
        event.insert("members".to_owned(), members.into());
    }
    // The parts of an event that was stored whole are more exact than its columns.
    event.extend(whole);
    Ok(event.into())
}

/// The parts that have no column.
fn more(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

/// The cell as the event has it; `None`: the event does not have that key.
fn value(part: &dyn Part, column: Column, row: usize) -> Result<Option<Value>, Unreadable> {
    if column.is_text() {
        let text = part.text(column, row)?;
        return Ok((!text.is_empty() || column == Column::Method).then(|| text.into()));
    }
    let number = part.number(column, row)?;
    if number == 0 && !ALWAYS.contains(&column) {
        return Ok(None);
    }
    Ok(serde_json::to_value(Figure::cell(column, number)).ok())
}

/// The members with their results. The time of the slowest one is known.
fn members(part: &dyn Part, row: usize) -> Result<Vec<Value>, Unreadable> {
    let said = part.text(Column::MembersSaid, row)?;
    if said.is_empty() {
        return Ok(Vec::new());
    }
    let slowest = part.text(Column::SlowestMember, row)?;
    let slowest_ms = part.number(Column::SlowestMemberTime, row)? as f64 / 1000.0;
    let member = |(member, said): (&str, &str)| match member == slowest {
        true => json!({ "member": member, "said": said, "ms": slowest_ms }),
        false => json!({ "member": member, "said": said }),
    };
    Ok(said.split(' ').filter_map(|member| member.rsplit_once(':')).map(member).collect())
}

#[cfg(test)]
mod tests;
