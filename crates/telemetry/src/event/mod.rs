//! The wide event: one for every request and every background job. The code that starts the work owns it.
//!
//! For a request the exchange owns `Box<Event>`, and `answer` borrows it. Parallel branches *return* a [`MemberRecord`],
//! which the event absorbs in the order of the members. The event is released at the first completed flush after the end
//! of the body.

pub(crate) mod agent;
pub(crate) mod class;
pub(crate) mod client_addresses;
pub(crate) mod id;
pub(crate) mod json;
pub(crate) mod member;
pub(crate) mod more;
pub(crate) mod outcome;
pub(crate) mod page_outcome;
pub(crate) mod sampling;
pub(crate) mod text;
mod texts;
pub(crate) mod upstream_use;

use crate::log::scrub::scrub_into;
use crate::threads::register;
use crate::{
    Because, Class, EventId, MemberRecord, Millis, More, Op, OpPlace, Outcome, PageOutcome, Reason, Tally, Text, Tick,
};
use smallvec::SmallVec;
use std::cell::Cell;

crate::closed_list! {
    /// The kind of work that an event is about.
    #[derive(Hash)]
    pub enum Kind {
        /// A request of a client.
        Request = "request",
        /// A background job.
        Job = "job",
        /// A request of the server to itself, which asks whether it answers. It is in no figure of requests, and no sink gets it.
        Probe = "probe",
    }
}

crate::closed_list! {
    /// The layer that gave the answer.
    #[derive(Hash, PartialOrd, Ord)]
    #[repr(u8)]
    pub enum Layer {
        /// None yet, or the connection itself.
        None = "none",
        /// The cache of complete answers in memory.
        Page = "page",
        /// The cache of open files.
        Open = "open",
        /// A hosted repository.
        Hosted = "hosted",
        /// A remote repository.
        Remote = "remote",
        /// A group.
        Group = "group",
        /// The cache of an application in front of which the server stands.
        AppCache = "app_cache",
        /// A page that an application wrote into memcached or Valkey.
        AppPages = "app_pages",
        /// An application in front of which the server stands.
        App = "app",
        /// The admin API, health, metrics.
        Admin = "admin",
    }
}

/// What was requested, in the terms of its format. Parts that a request does not have are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// The name of the repository, or of the application in front of which the server stands.
    pub repository: Text,
    /// The package: a gem's name, a Maven `G:A`.
    pub package: Text,
    /// The version, with its platform or classifier.
    pub version: Text,
    /// The kind of file or operation: `gem`, `info`, `versions`, `push`.
    pub kind: &'static str,
}

/// Everything that is recorded about one request or job.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its id, sent in the header `Daylight-Event`.
    pub id: EventId,
    /// Request or job.
    pub kind: Kind,
    /// When it began, by the time of day.
    pub at: Millis,
    /// When its first byte had arrived, or the job began.
    pub began: Tick,
    /// The method of a request, or the name of a job.
    pub method: &'static str,
    /// `HTTP/1.1` or `HTTP/2`; empty for jobs, and if nothing was read.
    pub protocol: &'static str,
    /// The requested path without the query, at most [`Event::TEXT_MAX`] bytes.
    pub path: String,
    /// What was requested.
    pub subject: Subject,
    /// The client's address; empty for jobs.
    pub client: Text,
    /// The user agent without credentials, at most [`Event::TEXT_MAX`] bytes.
    pub agent: Text,
    /// The name of the token that was used. Never the token itself.
    pub token: String,
    /// The status that was sent; 0 if none was.
    pub status: u16,
    /// How it ended. `None` until it has.
    pub outcome: Option<Outcome>,
    /// Why it ended so.
    pub reason: Option<Reason>,
    /// Details that only operators may see: the cause of a failure.
    pub detail: String,
    /// The layer that gave the answer.
    pub layer: Layer,
    /// The cost class in which the request had a place.
    pub class: Option<Class>,
    /// Bytes of the body that were received.
    pub bytes_in: u64,
    /// Bytes of the body that were passed to the kernel.
    pub bytes_out: u64,
    /// Nanoseconds from `began` to the first byte of the reply.
    pub first_byte: u64,
    /// Nanoseconds from `began` to the first completed flush after the end of the body.
    pub duration: u64,
    /// The members that were queried, in order.
    pub members: Vec<MemberRecord>,
    /// How many events this one stands for when it is stored.
    pub weight: u32,
    /// Why it is stored.
    pub because: Because,
    /// What an answer from memory does not have.
    pub more: Option<Box<More>>,
    /// The ops that ran. Those of a page hit fit without an allocation.
    pub(crate) ops: SmallVec<[(Op, Tally); 3]>,
}

/// Room for the ops of a request that is no page hit.
const OPS: usize = 12;

// The memory of an event that has ended, for the next one of this thread. Most events end before the next one begins.
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
            class: None,
            bytes_in: 0,
            bytes_out: 0,
            first_byte: 0,
            duration: 0,
            members: Vec::new(),
            weight: 1,
            because: Because::All,
            more: None,
            ops: SmallVec::new(),
        }
    }
}

impl Event {
    /// The longest text of a client that is recorded, in bytes.
    pub const TEXT_MAX: usize = 512;

    /// An event for a request whose first byte arrived at `began`.
    pub fn request(at: Millis, began: Tick) -> Box<Self> {
        Self::new(Kind::Request, "", at, began)
    }

    /// An event for a background job that begins now.
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

    /// Keeps the memory for the next event of this thread: an allocation costs as much as filling the event.
    pub(crate) fn spare(self: Box<Self>) {
        // Fails on a thread that is ending.
        let _ = SPARE.try_with(|spare| spare.set(Some(self)));
    }

    /// Sets the requested path, cleaned like [`Event::text`].
    pub fn asked(&mut self, path: &str) {
        self.path.clear();
        scrub_into(path, Self::TEXT_MAX, &mut self.path);
    }

    /// Adds one run of `op` that took `nanos`.
    pub fn add(&mut self, op: Op, nanos: u64) {
        self.add_all(op, Tally { count: 1, vain: 0, nanos });
    }

    /// Adds several runs of `op`.
    pub fn add_all(&mut self, op: Op, tally: Tally) {
        match self.ops.iter_mut().find(|(ran, _)| *ran == op) {
            Some((_, mine)) => mine.join(tally),
            None if tally.count > 0 => {
                if self.ops.len() == self.ops.inline_size() {
                    // A request that is no page hit runs about ten.
                    self.ops.reserve(OPS);
                }
                self.ops.push((op, tally));
            }
            None => {}
        }
    }

    /// Runs `work` and adds its time as `op`, also to the monitor of the event loop that it blocked ([`crate::LoopMonitor`]).
    pub fn time<T>(&mut self, op: Op, work: impl FnOnce() -> T) -> T {
        let (began, before) = (Tick::now(), register::begin(op));
        let done = work();
        register::resume(before);
        let nanos = Tick::now().since(began);
        self.add(op, nanos);
        crate::threads::loop_monitor::ran(op, nanos);
        done
    }

    /// The runs of `op` so far.
    pub fn tally(&self, op: Op) -> Tally {
        self.tallies().find(|(ran, _)| *ran == op).map(|(_, tally)| tally).unwrap_or_default()
    }

    /// All ops that ran, in the order of their first runs.
    pub fn tallies(&self) -> impl Iterator<Item = (Op, Tally)> + '_ {
        self.ops.iter().copied()
    }

    /// The part that an answer from memory does not have, made now if there is none.
    pub fn more_mut(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    /// The state of the cache of an application, as [`crate::AppUse::cache`] has it. A hit from memory carries nothing but its layer.
    pub fn app_cache(&self) -> &'static str {
        app_cache(self.layer, self.more.as_deref())
    }

    /// What became of the page that the application wrote, as [`crate::AppUse::page`] has it.
    pub fn app_page(&self) -> &'static str {
        app_page(self.layer, self.more.as_deref())
    }

    /// Adds the record of a member. The ops of the member stay in its record: members run at the same time, so their times do not add up
    /// to the time of the event. On the line of the event all members together are [`Op::MembersAsk`].
    pub fn absorb(&mut self, record: MemberRecord) {
        if let Some(used) = &record.upstream {
            self.upstream_mut().add(used);
        }
        self.members.push(record);
    }

    /// The nanoseconds before the first byte of the reply, or until the end if there was no reply, in which no op ran on the line. Negative
    /// if ops on the line overlapped, which is an error in this program.
    pub fn unaccounted(&self) -> i64 {
        let sending = self.tally(Op::BodySend).nanos;
        let line = self.tallies().filter(|(op, _)| op.place() == OpPlace::Line && *op != Op::BodySend);
        let line: u64 = line.map(|(_, tally)| tally.nanos).sum();
        self.duration.saturating_sub(sending).cast_signed() - line.cast_signed()
    }
}

/// The state of the cache of an application for an event with these parts; empty for other events.
pub(crate) fn app_cache(layer: Layer, more: Option<&More>) -> &'static str {
    match more.and_then(|more| more.app.as_deref()) {
        Some(used) if !used.cache.is_empty() => used.cache,
        _ if matches!(layer, Layer::AppCache | Layer::AppPages) => "hit",
        _ => "",
    }
}

/// What became of the page that an application wrote, for an event with these parts; empty: there is none for this request.
pub(crate) fn app_page(layer: Layer, more: Option<&More>) -> &'static str {
    match more.and_then(|more| more.app.as_deref()) {
        Some(used) if !used.page.is_empty() => used.page,
        _ if layer == Layer::AppPages => PageOutcome::Hit.as_str(),
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemberSaid;

    #[test]
    fn members_that_ran_at_the_same_time_do_not_add_up_to_more_than_the_event() {
        let mut event = Event::request(Millis(1), Tick(0));
        event.add(Op::Route, 5);
        event.add(Op::MembersAsk, 10);
        for name in ["a", "b"] {
            let ops = vec![(Op::TruthRead, Tally { count: 2, vain: 0, nanos: 9 })];
            event.absorb(MemberRecord { nanos: 9, ops, ..MemberRecord::new(name, MemberSaid::Hit, None) });
        }
        event.add(Op::BlobRead, 0);
        event.add(Op::TlsHandshake, 1000);
        event.add(Op::BodySend, 100);
        (event.first_byte, event.duration) = (18, 118);
        assert_eq!((event.unaccounted(), event.tally(Op::TruthRead)), (3, Tally::default()));
    }

    #[test]
    fn runs_that_changed_nothing_are_counted_among_the_others() {
        let mut event = Event::job("test", Millis(1));
        event.add_all(Op::TruthRead, Tally { count: 1, vain: 1, nanos: 5 });
        event.add(Op::TruthRead, 2);
        assert_eq!(event.tally(Op::TruthRead), Tally { count: 2, vain: 1, nanos: 7 });
    }
}
