//! An event with the values that several columns are taken from.

use std::fmt::Write;
use telemetry::{Agent, AppUse, Arrival, Because, Event, MemberSaid, More, Op, OpPlace, UpstreamUse};

/// The operations of each column of the line, in the order of the columns. All are on the line; the others of the line are in
/// [`Row::other_line`].
const IN_COLUMNS: [&[Op]; 17] = [
    &[Op::HeadRead, Op::HeadParse],
    &[Op::BodyReceive],
    &[Op::TruthWait, Op::CacheWait, Op::BlobWait, Op::WorkWait, Op::CommitWait],
    &[Op::TurnWait, Op::ViewWait, Op::EventsWait, Op::MetricsWrite, Op::AppCacheWait],
    &[Op::LoopWait],
    &[Op::TruthRead, Op::Commit, Op::FactsRead],
    &[Op::CacheRead, Op::CacheWrite],
    &[Op::BlobWrite, Op::BlobSync, Op::BlobOpen, Op::BlobRead],
    &[Op::IndexRender, Op::IndexExtend, Op::IndexRead, Op::PackageRead, Op::Merge, Op::Hash, Op::DigestsMake],
    &[Op::MembersAsk],
    &[Op::FlightWait],
    &[
        Op::UpstreamWait,
        Op::UpstreamPause,
        Op::UpstreamResolve,
        Op::UpstreamTcp,
        Op::UpstreamProxy,
        Op::UpstreamTls,
        Op::UpstreamFirstByte,
        Op::UpstreamBody,
        Op::BodyDecode,
    ],
    &[Op::AppWait],
    &[Op::AppPagesRead, Op::AppPagesMake],
    &[Op::AppConnect, Op::AppAnswer],
    &[Op::ReplyWrite],
    &[Op::BodySend],
];

/// The kind and the format of a repository, which an event does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// `hosted`, `remote` or `group`; empty: unknown.
    pub kind: &'static str,
    /// `gem`, `maven` or `raw`; empty: unknown.
    pub format: &'static str,
}

/// An event with the values that several columns are taken from.
#[derive(Debug)]
pub struct Row<'e> {
    pub(crate) event: &'e Event,
    pub(crate) agent: Agent<'e>,
    pub(crate) repository_kind: &'static str,
    pub(crate) format: &'static str,
    pub(crate) queried: i64,
    pub(crate) answered_by: &'e str,
    pub(crate) answered_place: i64,
    pub(crate) members_said: String,
    pub(crate) slowest_member: &'e str,
    pub(crate) slowest_nanos: u64,
    pub(crate) trace: String,
    pub(crate) more: String,
    /// The nanoseconds of each operation of the event itself.
    nanos: [u64; Op::COUNT],
    /// The nanoseconds of the operations on the line that have no column.
    other_nanos: u64,
}

impl<'e> Row<'e> {
    /// The row of an event for a repository.
    pub fn of(event: &'e Event, repository: RepositoryFacts) -> Self {
        let queried = || event.members.iter().filter(|member| member.said != MemberSaid::NotAsked);
        let answered = event.members.iter().position(|member| member.said == MemberSaid::Hit);
        let slowest = queried().max_by_key(|member| member.nanos);
        let mut members_said = String::new();
        for member in &event.members {
            let space = if members_said.is_empty() { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(members_said, "{space}{}:{}", member.member, member.said.as_str());
        }
        let (mut nanos, mut line) = ([0; Op::COUNT], 0);
        for (op, tally) in event.tallies() {
            nanos[op as usize] = tally.nanos;
            line += if op.place() == OpPlace::Line { tally.nanos } else { 0 };
        }
        let in_columns: u64 = IN_COLUMNS.iter().copied().flatten().map(|op| nanos[*op as usize]).sum();
        let trace = event.more.as_ref().and_then(|more| more.trace);
        // A sampled event was answered from memory or is one of many.
        let whole =
            matches!(event.because, Because::Failed | Because::Member | Because::Slow | Because::Traced | Because::Job);
        Self {
            event,
            agent: Agent::read(&event.agent),
            repository_kind: repository.kind,
            format: repository.format,
            queried: queried().count() as i64,
            answered_by: answered.map_or("", |place| &event.members[place].member),
            answered_place: answered.map_or(0, |place| place as i64 + 1),
            members_said,
            slowest_member: slowest.map_or("", |member| &member.member),
            slowest_nanos: slowest.map_or(0, |member| member.nanos),
            trace: trace.map(|trace| format!("{:032x}", trace.id)).unwrap_or_default(),
            more: if whole { more(event) } else { String::new() },
            nanos,
            other_nanos: line - in_columns,
        }
    }

    pub(crate) fn more(&self, take: impl Fn(&More) -> i64) -> i64 {
        self.event.more.as_deref().map_or(0, take)
    }

    pub(crate) fn arrival(&self, take: impl Fn(&Arrival) -> i64) -> i64 {
        self.event.more.as_deref().and_then(|more| more.arrival.as_ref()).map_or(0, take)
    }

    pub(crate) fn upstream(&self, take: impl Fn(&UpstreamUse) -> i64) -> i64 {
        self.event.more.as_deref().and_then(|more| more.upstream.as_ref()).map_or(0, take)
    }

    pub(crate) fn upstream_text<'a>(&'a self, take: impl Fn(&'a UpstreamUse) -> &'a str) -> &'a str {
        self.event.more.as_deref().and_then(|more| more.upstream.as_ref()).map_or("", take)
    }

    pub(crate) fn app(&self, take: impl Fn(&AppUse) -> i64) -> i64 {
        self.event.more.as_deref().and_then(|more| more.app.as_deref()).map_or(0, take)
    }

    pub(crate) fn app_text<'a>(&'a self, take: impl Fn(&'a AppUse) -> &'a str) -> &'a str {
        self.event.more.as_deref().and_then(|more| more.app.as_deref()).map_or("", take)
    }

    /// The time of one operation of the event itself, in microseconds.
    pub(crate) fn nanos(&self, op: Op) -> i64 {
        (self.nanos[op as usize] / 1000).cast_signed()
    }

    /// The time of the operations of a column of the line, by its place, of the event itself, in microseconds.
    pub(crate) fn line(&self, place: usize) -> i64 {
        let nanos: u64 = IN_COLUMNS[place].iter().map(|op| self.nanos[*op as usize]).sum();
        (nanos / 1000).cast_signed()
    }

    /// The time of the operations on the line that have no column, in microseconds.
    pub(crate) fn other_line(&self) -> i64 {
        (self.other_nanos / 1000).cast_signed()
    }

    /// How often an operation ran, for the event and for its members.
    pub(crate) fn runs(&self, op: Op) -> i64 {
        let members = self.event.members.iter().flat_map(|member| &member.ops);
        let members: u64 = members.filter(|(ran, _)| *ran == op).map(|(_, tally)| u64::from(tally.count)).sum();
        (u64::from(self.event.tally(op).count) + members).cast_signed()
    }
}

/// The keys of the event's JSON that no column has.
fn more(event: &Event) -> String {
    const PARTS: [&str; 8] = ["agent", "detail", "ops", "members", "upstream", "memory", "beside", "trace_parent"];
    let mut json = event.json();
    let Some(object) = json.as_object_mut() else { return String::new() };
    object.retain(|key, _| PARTS.contains(&key.as_str()));
    json.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{Cell, Column, LINE};

    #[test]
    fn the_operations_on_the_line_add_up_to_the_duration() {
        let mut event = Event::default();
        for (op, nanos) in Op::ALL.iter().zip((1..).map(|number| number * 1000)) {
            event.add(*op, nanos);
        }
        event.duration = 10_000_000;
        let row = Row::of(&event, RepositoryFacts::default());
        let cell = |column: &Column| match column.cell(&row) {
            Cell::Number(number) => number,
            Cell::Text(_) => 0,
        };
        assert_eq!(LINE.iter().map(cell).sum::<i64>(), 10_000);
        assert!(IN_COLUMNS.iter().copied().flatten().all(|op| op.place() == OpPlace::Line));
        let other =
            Op::ALL.iter().filter(|op| op.place() == OpPlace::Line && !IN_COLUMNS.iter().any(|ops| ops.contains(op)));
        let other: u64 = other.map(|op| event.tally(*op).nanos / 1000).sum();
        assert_eq!(cell(&Column::Other), other.cast_signed());
    }
}
