//! Finished events on their way to the collector, packed: figures in rows, and all texts in one buffer.
//!
//! The memory of an event never leaves its thread. If another thread freed it, the next event of this thread would wait for its
//! cache lines, and for the reference counts of shared texts, to return from another processor. So the event is copied
//! here in sequential writes, and the collector, for which nobody waits, makes an event of it again.

use crate::counts::Counts;
use crate::counts::repository_counts::{FormatOf, RepositoryIndex};
use crate::recorder::glance::{Figures, Glance};
use crate::{Event, EventId, MemberRecord, More, Op, SamplingDecision, Subject, Tally, Text};
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
    /// One for each row with `has_more`.
    more: Vec<More>,
}

/// The fields of fixed size, and the lengths of the others.
#[derive(Debug)]
struct Row {
    figures: Figures,
    has_more: bool,
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

    /// Copies an event, but takes its members and what an answer from memory does not have.
    pub(crate) fn push(&mut self, event: &mut Event) {
        let own = [self.write(&event.path), self.write(&event.token), self.write(&event.detail)];
        let Subject { repository, package, version, .. } = &event.subject;
        let shared = [&**repository, package, version, &event.client, &event.agent];
        let shared = std::array::from_fn(|which| self.write_shared(which, shared[which]));
        self.ops.extend_from_slice(&event.ops);
        self.rows.push(Row {
            figures: Figures::of(event),
            has_more: event.more.is_some(),
            own,
            shared,
            ops: event.ops.len() as u32,
            members: event.members.len() as u32,
        });
        self.members.append(&mut event.members);
        self.more.extend(event.more.take().map(|more| *more));
    }

    /// Copies an event of another buffer.
    pub(crate) fn copy(&mut self, event: &Glance<'_>) {
        let own = [self.write(event.path), self.write(event.token), self.write(event.detail)];
        let shared = [event.repository, event.package, event.version, event.client, event.agent];
        let shared = std::array::from_fn(|which| self.write_shared(which, shared[which]));
        self.ops.extend_from_slice(event.ops);
        self.members.extend_from_slice(event.members);
        self.more.extend(event.more.cloned());
        let (ops, members) = (event.ops.len() as u32, event.members.len() as u32);
        self.rows.push(Row { figures: *event.figures, has_more: event.more.is_some(), own, shared, ops, members });
    }

    /// Appends a text. Returns its length.
    fn write(&mut self, text: &str) -> u32 {
        self.texts.push_str(text);
        text.len() as u32
    }

    /// Appends a text, unless it equals that of the event before.
    fn write_shared(&mut self, which: usize, text: &str) -> u32 {
        // Compared as bytes: slicing a text looks for the edges of characters.
        if self.texts.as_bytes()[self.last[which].clone()] == *text.as_bytes() {
            return AS_BEFORE;
        }
        let from = self.texts.len();
        self.last[which] = from..from + text.len();
        self.write(text)
    }

    /// The events, in place.
    pub(crate) fn glances(&self) -> Glances<'_> {
        Glances {
            rows: self.rows.iter(),
            texts: Texts { rest: &self.texts },
            shared: [""; SHARED],
            ops: &self.ops,
            members: &self.members,
            more: self.more.iter(),
        }
    }

    /// Counts all events.
    pub(crate) fn count(&self, counts: &mut Counts, format_of: Option<&FormatOf>) {
        let mut index = RepositoryIndex::NONE;
        for event in self.glances() {
            if !event.same_repository {
                index = counts.repositories.index(event.repository, format_of);
            }
            counts.add(&event, index);
        }
    }

    /// Unpacks the events that are stored, and removes all. `decisions` has an entry for each event.
    pub(crate) fn unpack(&mut self, decisions: &[SamplingDecision]) -> Events {
        let mut events = Vec::with_capacity(decisions.iter().filter(|decision| decision.weight > 0).count());
        let mut texts = Texts { rest: &self.texts };
        // The last texts, and copies of the texts that an event needed.
        let mut shared: [(&str, Option<Text>); SHARED] = Default::default();
        let (mut ops, mut members, mut more) = (&*self.ops, self.members.drain(..), self.more.drain(..));
        for (row, decision) in self.rows.drain(..).zip(decisions) {
            let own = row.own.map(|len| texts.next(len));
            for (last, len) in shared.iter_mut().zip(row.shared) {
                if len != AS_BEFORE {
                    *last = (texts.next(len), None);
                }
            }
            let (mine, others) = ops.split_at(row.ops as usize);
            ops = others;
            let more = if row.has_more { more.next() } else { None };
            let members = members.by_ref().take(row.members as usize);
            if decision.weight == 0 {
                members.for_each(drop);
                continue;
            }
            let [path, token, detail] = own.map(str::to_owned);
            let [repository, package, version, client, agent] =
                shared.each_mut().map(|(text, copy)| copy.get_or_insert_with(|| Text::from(*text)).clone());
            let figures = row.figures;
            let mut event = Event {
                path,
                subject: Subject { repository, package, version, kind: figures.file },
                client,
                agent,
                token,
                detail,
                members: members.collect(),
                weight: decision.weight,
                because: decision.because,
                more: more.map(Box::new),
                ops: mine.into(),
                ..figures.event()
            };
            event.hide_secrets();
            events.push(event);
        }
        drop((members, more));
        self.clear();
        events
    }

    /// Removes all events, and gives back the memory of a crowd.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.ops.clear();
        self.members.clear();
        self.more.clear();
        self.texts.clear();
        self.last = Default::default();
        self.rows.shrink_to(Self::KEPT);
        self.ops.shrink_to(Self::KEPT * 4);
        self.members.shrink_to(Self::KEPT);
        self.more.shrink_to(Self::KEPT);
        self.texts.shrink_to(Self::KEPT * Self::TEXT);
    }

    /// The same events without memory for more.
    pub(crate) fn shrunk(mut self) -> Self {
        self.rows.shrink_to_fit();
        self.ops.shrink_to_fit();
        self.members.shrink_to_fit();
        self.more.shrink_to_fit();
        self.texts.shrink_to_fit();
        self
    }

    /// The bytes of the events. What members and the part beside hits have elsewhere in memory is left out: hits have none.
    pub(crate) fn bytes(&self) -> u64 {
        let rows = size_of_val(&*self.rows) + size_of_val(&*self.ops) + self.texts.len();
        (size_of::<Self>() + rows + size_of_val(&*self.members) + size_of_val(&*self.more)) as u64
    }

    /// The event with this id. It stays here.
    pub(crate) fn find(&self, id: EventId) -> Option<Event> {
        self.glances().find(|event| event.figures.id == id).map(|event| event.to_event())
    }
}

/// The events of a buffer, in place.
pub(crate) struct Glances<'a> {
    rows: std::slice::Iter<'a, Row>,
    texts: Texts<'a>,
    /// The last shared texts.
    shared: [&'a str; SHARED],
    ops: &'a [(Op, Tally)],
    members: &'a [MemberRecord],
    more: std::slice::Iter<'a, More>,
}

impl<'a> Iterator for Glances<'a> {
    type Item = Glance<'a>;

    #[inline]
    fn next(&mut self) -> Option<Glance<'a>> {
        let row = self.rows.next()?;
        let [path, token, detail] = row.own.map(|len| self.texts.next(len));
        for (last, len) in self.shared.iter_mut().zip(row.shared) {
            if len != AS_BEFORE {
                *last = self.texts.next(len);
            }
        }
        let (ops, other_ops) = self.ops.split_at(row.ops as usize);
        let (members, other_members) = self.members.split_at(row.members as usize);
        (self.ops, self.members) = (other_ops, other_members);
        let [repository, package, version, client, agent] = self.shared;
        Some(Glance {
            figures: &row.figures,
            path,
            token,
            detail,
            repository,
            package,
            version,
            client,
            agent,
            ops,
            members,
            more: if row.has_more { self.more.next() } else { None },
            same_repository: row.shared[0] == AS_BEFORE,
        })
    }
}

/// The texts of a buffer that were not read yet.
struct Texts<'a> {
    rest: &'a str,
}

impl<'a> Texts<'a> {
    fn next(&mut self, len: u32) -> &'a str {
        let (text, rest) = self.rest.split_at(len as usize);
        self.rest = rest;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AppUse, Because, Class, Kind, Layer, MemberSaid, Millis, Outcome, Reason, Tick};

    fn app() -> Box<AppUse> {
        Box::new(AppUse { lane: "lane".into(), cache: "fwd=miss", ahead: 3, ..AppUse::default() })
    }

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
        (event.layer, event.class, event.weight) = (Layer::Hosted, Some(Class::Uploads), 9);
        event.because = Because::Slow;
        event.more = number.is_multiple_of(2).then(|| Box::new(More { size: 7, app: Some(app()), ..More::default() }));
        (event.bytes_in, event.bytes_out, event.first_byte, event.duration) = (1, 2, 3, number);
        for op in &Op::ALL[..(number % 5) as usize] {
            event.add(*op, number);
        }
        event.members = (0..number % 3)
            .map(|member| MemberRecord {
                detail: text("detail"),
                until: Some(Millis(3)),
                nanos: number,
                ops: vec![(Op::TruthRead, Tally { count: 1, vain: 1, nanos: 2 })],
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
            events.push(Event { weight: 9, because: Because::Slow, ..*Event::job("", Millis(-1)) });
            let told: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
            events.iter_mut().for_each(|event| packed.push(event));
            assert_eq!(packed.len(), told.len());
            let again: Vec<String> = packed
                .unpack(&vec![SamplingDecision::store(9, Because::Slow); told.len()])
                .iter()
                .map(|event| format!("{event:?}"))
                .collect();
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
        assert_eq!(packed.unpack(&vec![SamplingDecision::store(1, Because::All); crowd]).len(), crowd);
        assert_eq!(packed.rows.capacity(), PackedEvents::KEPT);
        assert_eq!(packed.texts.capacity(), PackedEvents::KEPT * PackedEvents::TEXT);
    }
}
