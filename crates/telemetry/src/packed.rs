//! Finished events on their way from the threads that made them to the collector: figures in rows, texts one behind the other.
//!
//! An event never leaves its thread. Were it handed over whole and freed by another, the next to be made there would wait for
//! each line of its memory, and each count of a text that many share, to come back from the other processor's caches. What
//! it says is copied here instead, one write behind the other, and made an event again by the collector, whom nobody waits for.

use crate::totals::{Counts, Figures};
use crate::{Event, EventId, Kind, Layer, MemberRecord, Millis, Op, Outcome, Reason, Subject, Tally, Text, Tick};
use std::ops::Range;

/// Events that the collector has made again, as the sinks get them.
pub(crate) type Events = Vec<Event>;

/// Texts of an event that events rarely share, and those that many say like the one before: who asks, with what, and where.
const OWN: usize = 3;
const ALIKE: usize = 5;
/// The length of a text that is the same as that of the event before.
const AS_BEFORE: u32 = u32::MAX;

/// Finished events in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    rows: Vec<Row>,
    texts: String,
    /// Where the last texts that were written out are.
    last: [Range<usize>; ALIKE],
    ops: Vec<(Op, Tally)>,
    members: Vec<MemberRecord>,
}

/// What is not of varying length, and how long the rest is.
#[derive(Debug)]
struct Row {
    id: EventId,
    kind: Kind,
    layer: Layer,
    outcome: Option<Outcome>,
    reason: Option<Reason>,
    status: u16,
    weight: u32,
    at: Millis,
    began: Tick,
    method: &'static str,
    protocol: &'static str,
    file: &'static str,
    bytes_in: u64,
    bytes_out: u64,
    first_byte: u64,
    duration: u64,
    own: [u32; OWN],
    alike: [u32; ALIKE],
    ops: u32,
    members: u32,
}

impl Packed {
    /// Room for more rows than this, and for their texts, is given back.
    const KEPT: usize = 1024;
    /// Bytes that the texts of an event take, about.
    const TEXT: usize = 256;

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn push(&mut self, event: &mut Event) {
        let Event { id, kind, at, began, method, protocol, path, subject, client, agent, token, .. } = event;
        let own = [&*path, &*token, &*event.detail].map(|text| self.write(text));
        let Subject { repository, package, version, .. } = subject;
        let alike = [&*repository, &*package, &*version, &*client, &*agent];
        let alike = std::array::from_fn(|which| self.write_alike(which, alike[which]));
        self.ops.extend_from_slice(&event.ops);
        self.rows.push(Row {
            id: *id,
            kind: *kind,
            layer: event.layer,
            outcome: event.outcome,
            reason: event.reason,
            status: event.status,
            weight: event.weight,
            at: *at,
            began: *began,
            method,
            protocol,
            file: subject.kind,
            bytes_in: event.bytes_in,
            bytes_out: event.bytes_out,
            first_byte: event.first_byte,
            duration: event.duration,
            own,
            alike,
            ops: event.ops.len() as u32,
            members: event.members.len() as u32,
        });
        self.members.append(&mut event.members);
    }

    /// Adds a text. Returns its length.
    fn write(&mut self, text: &str) -> u32 {
        self.texts.push_str(text);
        text.len() as u32
    }

    /// Adds a text, unless it is that of the event before.
    fn write_alike(&mut self, which: usize, text: &str) -> u32 {
        if self.texts[self.last[which].clone()] == *text {
            return AS_BEFORE;
        }
        let from = self.texts.len();
        self.last[which] = from..from + text.len();
        self.write(text)
    }

    /// Counts all of them.
    pub(crate) fn count(&self, counts: &mut Counts) {
        let mut from = 0;
        for row in &self.rows {
            let ops = &self.ops[from..from + row.ops as usize];
            from += ops.len();
            let Row { kind, layer, outcome, reason, status, first_byte, duration, .. } = *row;
            counts.add(&Figures { kind, layer, outcome, reason, status, first_byte, duration, ops });
        }
    }

    /// The events, and room for others.
    pub(crate) fn unpack(&mut self) -> Events {
        let mut texts = Texts { rest: &self.texts, before: Default::default() };
        let (mut ops, mut members) = (self.ops.drain(..), self.members.drain(..));
        let events = self.rows.drain(..).map(|row| {
            let [path, token, detail] = row.own.map(|len| texts.next(len).to_owned());
            let [repository, package, version, client, agent] =
                std::array::from_fn(|which| texts.shared(which, row.alike[which]));
            Event {
                id: row.id,
                kind: row.kind,
                at: row.at,
                began: row.began,
                method: row.method,
                protocol: row.protocol,
                path,
                subject: Subject { repository, package, version, kind: row.file },
                client,
                agent,
                token,
                status: row.status,
                outcome: row.outcome,
                reason: row.reason,
                detail,
                layer: row.layer,
                bytes_in: row.bytes_in,
                bytes_out: row.bytes_out,
                first_byte: row.first_byte,
                duration: row.duration,
                members: members.by_ref().take(row.members as usize).collect(),
                weight: row.weight,
                ops: ops.by_ref().take(row.ops as usize).collect(),
            }
        });
        let events = events.collect();
        drop((ops, members));
        self.texts.clear();
        self.last = Default::default();
        self.rows.shrink_to(Self::KEPT);
        self.ops.shrink_to(Self::KEPT * 4);
        self.members.shrink_to(Self::KEPT);
        self.texts.shrink_to(Self::KEPT * Self::TEXT);
        events
    }
}

/// The texts of the events that are made again.
struct Texts<'a> {
    rest: &'a str,
    before: [Text; ALIKE],
}

impl<'a> Texts<'a> {
    fn next(&mut self, len: u32) -> &'a str {
        let (text, rest) = self.rest.split_at(len as usize);
        self.rest = rest;
        text
    }

    fn shared(&mut self, which: usize, len: u32) -> Text {
        if len != AS_BEFORE {
            self.before[which] = self.next(len).into();
        }
        self.before[which].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemberSaid;

    /// One that says something in every place, and now and then what the one before has said.
    fn talkative(number: u64) -> Event {
        let text = |what: &str| format!("{what} é {number}");
        let mut event = *Event::job("sweep", Millis(7));
        (event.kind, event.began, event.protocol) = (Kind::Request, Tick(number), "HTTP/2");
        (event.path, event.token, event.detail) = (text("path"), text("token"), text("detail"));
        event.subject = Subject {
            repository: format!("repository {}", number / 3).into(),
            package: text("package").into(),
            version: text("version").into(),
            kind: "info",
        };
        let agent = if number.is_multiple_of(4) { String::new() } else { text("agent") };
        (event.client, event.agent) = ("127.0.0.1".into(), agent.into());
        (event.status, event.outcome, event.reason) = (503, Some(Outcome::Shed), Some(Reason::Io));
        (event.layer, event.weight) = (Layer::Hosted, 9);
        (event.bytes_in, event.bytes_out, event.first_byte, event.duration) = (1, 2, 3, number);
        for op in &Op::ALL[..(number % 5) as usize] {
            event.add(*op, number);
        }
        event.members = (0..number % 3)
            .map(|member| MemberRecord {
                detail: text("detail"),
                until: Some(Millis(3)),
                nanos: number,
                ops: vec![(Op::TruthRead, Tally { count: 1, nanos: 2 })],
                flight: Some(EventId(number)),
                ..MemberRecord::new(format!("m{member}"), MemberSaid::Hit, None)
            })
            .collect();
        event
    }

    #[test]
    fn events_come_out_as_they_went_in_and_in_their_order() {
        let mut packed = Packed::default();
        for round in 0..3 {
            let mut events: Vec<Event> = (0..20).map(|number| talkative(round * 7 + number)).collect();
            events.push(*Event::job("", Millis(-1)));
            let told: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
            events.iter_mut().for_each(|event| packed.push(event));
            assert_eq!(packed.len(), told.len());
            let again: Vec<String> = packed.unpack().iter().map(|event| format!("{event:?}")).collect();
            assert_eq!(again, told);
            assert_eq!(packed.len(), 0);
        }
    }

    #[test]
    fn the_room_that_a_crowd_took_is_given_back() {
        let mut packed = Packed::default();
        let crowd = 9 * Packed::KEPT;
        for number in 0..crowd as u64 {
            packed.push(&mut talkative(number));
        }
        assert_eq!(packed.unpack().len(), crowd);
        assert_eq!(packed.rows.capacity(), Packed::KEPT);
        assert_eq!(packed.texts.capacity(), Packed::KEPT * Packed::TEXT);
    }
}
