//! The wide event: one for every request and every background job, owned by whoever started it.
//!
//! Ownership (decision 5 of the design): the exchange owns `Box<Event>`; `answer` borrows it; parallel
//! branches *return* a [`MemberRecord`] that is absorbed in member order; the event is released at the
//! first completed flush after the body's end.

use crate::scrub::{scrub, scrub_into};
use crate::{EventId, Millis, Op, Outcome, Reason, Text, Tick};
use smallvec::SmallVec;
use std::cell::Cell;

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A request that a client made.
    Request,
    /// Work of our own.
    Job,
}

impl Kind {
    /// The name used in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Request => "request",
            Kind::Job => "job",
        }
    }
}

/// Which part of the line gave the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Layer {
    /// Nobody yet, or the connection itself.
    None,
    /// A complete answer in memory.
    Page,
    /// A file that was still open.
    Open,
    /// A hosted repository.
    Hosted,
    /// A remote repository.
    Remote,
    /// A group.
    Group,
    /// The admin API, health, metrics.
    Admin,
}

impl Layer {
    /// All of them, in the order of declaration.
    pub const ALL: &'static [Layer] =
        &[Layer::None, Layer::Page, Layer::Open, Layer::Hosted, Layer::Remote, Layer::Group, Layer::Admin];
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The name used in events and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::None => "none",
            Layer::Page => "page",
            Layer::Open => "open",
            Layer::Hosted => "hosted",
            Layer::Remote => "remote",
            Layer::Group => "group",
            Layer::Admin => "admin",
        }
    }
}

/// The thing asked for, in the words of the format. Empty strings where a request has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// The repository's name.
    pub repository: Text,
    /// The package: a gem's name, a Maven `G:A`.
    pub package: Text,
    /// The version, with its platform or classifier.
    pub version: Text,
    /// The kind of file or operation: `gem`, `info`, `versions`, `push`.
    pub kind: &'static str,
}

/// How often an [`Op`] ran for an event, and how long in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Times.
    pub count: u32,
    /// Nanoseconds in all.
    pub nanos: u64,
}

/// What one member of a group, or a repository asked alone, said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberSaid {
    /// It has it.
    Hit,
    /// It proved that it has not.
    NotFound,
    /// A policy hides it there.
    Blocked,
    /// It gave its last known answer, as its upstream failed.
    Stale,
    /// It did not answer in time.
    Timeout,
    /// It failed.
    Failed,
    /// The question was dropped before it answered.
    Cancelled,
    /// Nothing is known of it there: to explain an answer nobody is asked.
    Unknown,
    /// It was not asked, as what is known says that it has not, or that another is to be asked.
    NotAsked,
}

impl MemberSaid {
    /// The name used in events.
    pub fn as_str(self) -> &'static str {
        match self {
            MemberSaid::Hit => "hit",
            MemberSaid::NotFound => "not_found",
            MemberSaid::Blocked => "blocked",
            MemberSaid::Stale => "stale",
            MemberSaid::Timeout => "timeout",
            MemberSaid::Failed => "failed",
            MemberSaid::Cancelled => "cancelled",
            MemberSaid::Unknown => "unknown",
            MemberSaid::NotAsked => "not_asked",
        }
    }
}

/// One member's part in an answer. A branch returns it; the event absorbs it in member order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRecord {
    /// The member's name.
    pub member: String,
    /// What it said.
    pub said: MemberSaid,
    /// Why, where there is more to say.
    pub reason: Option<Reason>,
    /// More of that, for operators: the cause behind a failure, the rule that hides a version or lets it through.
    pub detail: String,
    /// Until when that is known, where that is.
    pub until: Option<Millis>,
    /// Nanoseconds it took.
    pub nanos: u64,
    /// What it did: how often, how long.
    pub ops: Vec<(Op, Tally)>,
    /// The event of the fetch from its upstream that was waited for, or begun.
    pub flight: Option<EventId>,
}

impl MemberRecord {
    /// One that has cost nothing so far.
    pub fn new(member: impl Into<String>, said: MemberSaid, reason: Option<Reason>) -> Self {
        let (member, detail, ops) = (member.into(), String::new(), Vec::new());
        Self { member, said, reason, detail, until: None, nanos: 0, ops, flight: None }
    }
}

/// Everything worth knowing about one request or job.
#[derive(Debug, Clone)]
pub struct Event {
    /// Identity, sent as `Daylight-Event`.
    pub id: EventId,
    /// Request or job.
    pub kind: Kind,
    /// When it began, by the clock on the wall.
    pub at: Millis,
    /// When its first byte was there (a job: when it began).
    pub began: Tick,
    /// `GET`; a job's name.
    pub method: &'static str,
    /// `HTTP/1.1`, `HTTP/2`; empty for jobs, and where nothing was read.
    pub protocol: &'static str,
    /// Path as asked, without the query, at most [`Event::TEXT_MAX`] bytes.
    pub path: String,
    /// What was asked for.
    pub subject: Subject,
    /// The client's address; empty for jobs.
    pub client: Text,
    /// User agent, scrubbed of credentials, at most [`Event::TEXT_MAX`] bytes.
    pub agent: Text,
    /// Name of the token that was used; never the token.
    pub token: String,
    /// Status sent; 0 when none was.
    pub status: u16,
    /// How it ended. `None` until it has.
    pub outcome: Option<Outcome>,
    /// Why it ended so.
    pub reason: Option<Reason>,
    /// What only operators may know: the cause behind a failure.
    pub detail: String,
    /// Who gave the answer.
    pub layer: Layer,
    /// Bytes of body received.
    pub bytes_in: u64,
    /// Bytes of body handed to the kernel.
    pub bytes_out: u64,
    /// Nanoseconds from `began` to the first byte of the reply.
    pub first_byte: u64,
    /// Nanoseconds from `began` to the first completed flush after the body's end.
    pub duration: u64,
    /// Members asked, in order.
    pub members: Vec<MemberRecord>,
    /// How many events this one stands for once stored.
    pub weight: u32,
    /// Few run for one event, and those of a page hit have room in it.
    pub(crate) ops: SmallVec<[(Op, Tally); 3]>,
}

// The event whose memory waits for the next of this thread: most end before another begins.
thread_local!(static SPARE: Cell<Option<Box<Event>>> = const { Cell::new(None) });

impl Default for Event {
    fn default() -> Self {
        Self {
            id: EventId::default(),
            kind: Kind::Job,
            at: Millis::default(),
            began: Tick::default(),
            method: "",
            protocol: "",
            path: String::new(),
            subject: Subject::default(),
            client: Text::default(),
            agent: Text::default(),
            token: String::new(),
            status: 0,
            outcome: None,
            reason: None,
            detail: String::new(),
            layer: Layer::None,
            bytes_in: 0,
            bytes_out: 0,
            first_byte: 0,
            duration: 0,
            members: Vec::new(),
            weight: 1,
            ops: SmallVec::new(),
        }
    }
}

impl Event {
    /// Longest text taken over from a client, in bytes.
    pub const TEXT_MAX: usize = 512;

    /// A request whose first byte was there at `began`.
    pub fn request(at: Millis, began: Tick) -> Box<Self> {
        Self::new(Kind::Request, "", at, began)
    }

    /// A job of our own that begins now.
    pub fn job(name: &'static str, at: Millis) -> Box<Self> {
        Self::new(Kind::Job, name, at, Tick::now())
    }

    fn new(kind: Kind, method: &'static str, at: Millis, began: Tick) -> Box<Self> {
        let mut event = SPARE.try_with(Cell::take).ok().flatten().unwrap_or_default();
        let mut path = std::mem::take(&mut event.path);
        path.clear();
        *event = Self { id: EventId::next(at), kind, at, began, method, path, ..Self::default() };
        event
    }

    /// Its memory is for the next event of this thread: making room for one costs as much as filling it.
    pub(crate) fn spare(self: Box<Self>) {
        // A thread that ends has no more.
        let _ = SPARE.try_with(|spare| spare.set(Some(self)));
    }

    /// The path that was asked for, as [`Event::text`] leaves it.
    pub fn asked(&mut self, path: &str) {
        self.path.clear();
        scrub_into(path, Self::TEXT_MAX, &mut self.path);
    }

    /// Notes that `op` ran once more and took `nanos`.
    pub fn add(&mut self, op: Op, nanos: u64) {
        self.add_all(op, Tally { count: 1, nanos });
    }

    /// Notes several runs of `op` that were tallied elsewhere.
    pub fn add_all(&mut self, op: Op, tally: Tally) {
        match self.ops.iter_mut().find(|(ran, _)| *ran == op) {
            Some((_, mine)) => {
                mine.count = mine.count.saturating_add(tally.count);
                mine.nanos = mine.nanos.saturating_add(tally.nanos);
            }
            None if tally.count > 0 => self.ops.push((op, tally)),
            None => {}
        }
    }

    /// Runs `work` and notes how long it took: here, and for the loop that could do nothing else ([`crate::Pulse`]).
    pub fn time<T>(&mut self, op: Op, work: impl FnOnce() -> T) -> T {
        let began = Tick::now();
        let done = work();
        let nanos = Tick::now().since(began);
        self.add(op, nanos);
        crate::pulse::ran(op, nanos);
        done
    }

    /// What `op` has cost so far.
    pub fn tally(&self, op: Op) -> Tally {
        self.tallies().find(|(ran, _)| *ran == op).map(|(_, tally)| tally).unwrap_or_default()
    }

    /// Every op that ran, in the order in which they first did.
    pub fn tallies(&self) -> impl Iterator<Item = (Op, Tally)> + '_ {
        self.ops.iter().copied()
    }

    /// Takes over a member's part: its record, and its costs into this event's.
    pub fn absorb(&mut self, record: MemberRecord) {
        for (op, tally) in &record.ops {
            self.add_all(*op, *tally);
        }
        self.members.push(record);
    }

    /// It as an object: what a line of the stored events says.
    pub fn json(&self) -> serde_json::Value {
        let mut line = Vec::new();
        let written = crate::json::write(self, &mut line).ok();
        written.and_then(|()| serde_json::from_slice(&line).ok()).unwrap_or_default()
    }

    /// At most [`Event::TEXT_MAX`] bytes of `text`, cut at a character, control characters replaced, and secrets hidden:
    /// what stands before an `@` in a URL, and tokens of ours.
    pub fn text(text: &str) -> String {
        scrub(text, Self::TEXT_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_s_costs_become_the_event_s() {
        let mut event = Event::job("test", Millis(1));
        event.add(Op::TruthRead, 5);
        let ops = vec![(Op::TruthRead, Tally { count: 2, nanos: 7 })];
        event.absorb(MemberRecord { nanos: 9, ops, ..MemberRecord::new("a", MemberSaid::Hit, None) });
        assert_eq!(event.tally(Op::TruthRead), Tally { count: 3, nanos: 12 });
        assert_eq!(event.tallies().count(), 1);
        assert_eq!(event.members.len(), 1);
    }
}
