//! Finished events on their way to the collector, packed: figures in rows, and all texts in one buffer.
//!
//! The memory of an event never leaves its thread. If another thread freed it, the next event of this thread would wait for its
//! cache lines, and for the reference counts of shared texts, to return from another processor. So the event is copied
//! here in sequential writes, and the collector, for which nobody waits, makes an event of it again.

use crate::repository_counts::{FormatOf, Place};
use crate::totals::{Counts, Figures};
use crate::{Event, EventId, Kind, Layer, MemberRecord, Millis, Op, Outcome, Reason, Subject, Tally, Text, Tick};
use std::ops::Range;

/// Unpacked events, as the sinks get them.
pub(crate) type Events = Vec<Event>;

/// The number of texts that differ between events: path, token, detail.
const OWN: usize = 3;
/// The number of texts that are often equal to those of the event before: repository, package, version, client, agent.
const SHARED: usize = 5;
/// Stands for the length of a text that equals that of the event before.
const AS_BEFORE: u32 = u32::MAX;

/// Finished events, in the order of their release.
#[derive(Debug, Default)]
pub(crate) struct PackedEvents {
    rows: Vec<Row>,
    texts: String,
    /// The positions of the last shared texts in `texts`.
    last: [Range<usize>; SHARED],
    ops: Vec<(Op, Tally)>,
    members: Vec<MemberRecord>,
}

/// The fields of fixed size, and the lengths of the others.
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
    shared: [u32; SHARED],
    ops: u32,
    members: u32,
}

impl PackedEvents {
    /// Memory for more rows than this, and for their texts, is given back.
    const KEPT: usize = 1024;
    /// Roughly the bytes of the texts of an event.
    const TEXT: usize = 256;

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn push(&mut self, event: &mut Event) {
        let Event { id, kind, at, began, method, protocol, path, subject, client, agent, token, .. } = event;
        let own = [&*path, &*token, &*event.detail].map(|text| self.write(text));
        let Subject { repository, package, version, .. } = subject;
        let shared = [&*repository, &*package, &*version, &*client, &*agent];
        let shared = std::array::from_fn(|which| self.write_shared(which, shared[which]));
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
            shared,
            ops: event.ops.len() as u32,
            members: event.members.len() as u32,
        });
        self.members.append(&mut event.members);
    }

    /// Appends a text. Returns its length.
    fn write(&mut self, text: &str) -> u32 {
        self.texts.push_str(text);
        text.len() as u32
    }

    /// Appends a text, unless it equals that of the event before.
    fn write_shared(&mut self, which: usize, text: &str) -> u32 {
        if self.texts[self.last[which].clone()] == *text {
            return AS_BEFORE;
        }
        let from = self.texts.len();
        self.last[which] = from..from + text.len();
        self.write(text)
    }

    /// Counts all events.
    pub(crate) fn count(&self, counts: &mut Counts, format_of: Option<&FormatOf>) {
        let (mut from, mut text, mut place) = (0, 0, Place::NONE);
        for row in &self.rows {
            let ops = &self.ops[from..from + row.ops as usize];
            from += ops.len();
            // The repository is the first of the shared texts, which are after the others.
            text += row.own.iter().sum::<u32>() as usize;
            if row.shared[0] != AS_BEFORE {
                place = counts.repositories.place(&self.texts[text..text + row.shared[0] as usize], format_of);
            }
            text += row.shared.iter().filter(|len| **len != AS_BEFORE).sum::<u32>() as usize;
            let Row { kind, layer, outcome, reason, method, protocol, status, .. } = *row;
            let Row { bytes_in, bytes_out, first_byte, duration, .. } = *row;
            let figures = Figures {
                kind,
                layer,
                outcome,
                reason,
                method,
                protocol,
                status,
                bytes_in,
                bytes_out,
                first_byte,
                duration,
                ops,
            };
            counts.add(&figures, place);
        }
    }

    /// Takes all events out.
    pub(crate) fn unpack(&mut self) -> Events {
        let mut texts = Texts { rest: &self.texts, before: Default::default() };
        let (mut ops, mut members) = (self.ops.drain(..), self.members.drain(..));
        let events = self.rows.drain(..).map(|row| {
            let [path, token, detail] = row.own.map(|len| texts.next(len).to_owned());
            let [repository, package, version, client, agent] =
                std::array::from_fn(|which| texts.shared(which, row.shared[which]));
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

/// The texts of the events that are being unpacked.
struct Texts<'a> {
    rest: &'a str,
    before: [Text; SHARED],
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

    /// An event with a value in every field. Some texts equal those of the event before.
    fn full(number: u64) -> Event {
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
        let mut packed = PackedEvents::default();
        for round in 0..3 {
            let mut events: Vec<Event> = (0..20).map(|number| full(round * 7 + number)).collect();
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
    fn the_memory_of_a_crowd_is_given_back() {
        let mut packed = PackedEvents::default();
        let crowd = 9 * PackedEvents::KEPT;
        for number in 0..crowd as u64 {
            packed.push(&mut full(number));
        }
        assert_eq!(packed.unpack().len(), crowd);
        assert_eq!(packed.rows.capacity(), PackedEvents::KEPT);
        assert_eq!(packed.texts.capacity(), PackedEvents::KEPT * PackedEvents::TEXT);
    }
}
