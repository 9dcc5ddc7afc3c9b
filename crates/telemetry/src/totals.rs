//! Exact counts of events, by outcome, reason, layer, status class and op.

use crate::durations::Durations;
use crate::repository_counts::{FormatOf, Place, Repositories};
use crate::{Event, Histogram, Kind, Layer, Op, Outcome, Reason, Tally};
use std::collections::HashMap;

/// Things that are counted and have no event of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Counter {
    /// Requests and jobs that began, and rejected connections. The outcomes sum to this.
    Attempts,
    /// Connections accepted.
    Connections,
    /// Files for which a group queried members other than the hosted ones.
    GroupFiles,
    /// Files among them whose folder's facts were in memory.
    FoldersKnown,
    /// Remote members that were queried for those files.
    MembersAsked,
}

impl Counter {
    /// All of them, in the order of declaration.
    pub const ALL: &'static [Counter] =
        &[Counter::Attempts, Counter::Connections, Counter::GroupFiles, Counter::FoldersKnown, Counter::MembersAsked];
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The name used in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Counter::Attempts => "attempts",
            Counter::Connections => "connections",
            Counter::GroupFiles => "group_files",
            Counter::FoldersKnown => "group_folders_known",
            Counter::MembersAsked => "group_members_asked",
        }
    }

    /// What it is, for people.
    pub fn doc(self) -> &'static str {
        match self {
            Counter::Attempts => "Requests started, connections rejected and jobs started: the sum of all outcomes",
            Counter::Connections => "Connections accepted",
            Counter::GroupFiles => "Files for which a group queried members other than the hosted ones",
            Counter::FoldersKnown => "Files among them whose folder's facts were in memory",
            Counter::MembersAsked => "Remote members that were queried for those files",
        }
    }
}

/// The properties by which requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RequestKind {
    /// The format of the repository; empty if the request is for none.
    pub(crate) format: &'static str,
    pub(crate) layer: Layer,
    /// Empty if no request was read.
    pub(crate) protocol: &'static str,
    /// 0 if there was no reply.
    pub(crate) status: u16,
}

/// The counts of finished events: of one shard, or of all.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    pub(crate) outcomes: [u64; Outcome::COUNT],
    pub(crate) reasons: [u64; Reason::COUNT],
    pub(crate) requests: HashMap<RequestKind, u64>,
    pub(crate) received_bytes: [u64; Layer::COUNT],
    pub(crate) sent_bytes: [u64; Layer::COUNT],
    pub(crate) repositories: Repositories,
    pub(crate) ops: Vec<Durations>,
    pub(crate) durations: Vec<Durations>,
    pub(crate) first_bytes: Vec<Durations>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            outcomes: [0; Outcome::COUNT],
            reasons: [0; Reason::COUNT],
            requests: HashMap::new(),
            received_bytes: [0; Layer::COUNT],
            sent_bytes: [0; Layer::COUNT],
            repositories: Repositories::default(),
            ops: vec![Durations::default(); Op::COUNT],
            durations: vec![Durations::default(); Layer::COUNT],
            first_bytes: vec![Durations::default(); Layer::COUNT],
        }
    }
}

/// The part of a finished event that is counted.
#[derive(Debug)]
pub(crate) struct Figures<'a> {
    pub(crate) kind: Kind,
    pub(crate) layer: Layer,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) reason: Option<Reason>,
    pub(crate) method: &'static str,
    pub(crate) protocol: &'static str,
    pub(crate) status: u16,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) first_byte: u64,
    pub(crate) duration: u64,
    pub(crate) ops: &'a [(Op, Tally)],
}

impl<'a> From<&'a Event> for Figures<'a> {
    fn from(event: &'a Event) -> Self {
        Self {
            kind: event.kind,
            layer: event.layer,
            outcome: event.outcome,
            reason: event.reason,
            method: event.method,
            protocol: event.protocol,
            status: event.status,
            bytes_in: event.bytes_in,
            bytes_out: event.bytes_out,
            first_byte: event.first_byte,
            duration: event.duration,
            ops: &event.ops,
        }
    }
}

impl Figures<'_> {
    /// Whether the request was for content and waited for an upstream. `None`: it was a change, or was refused before any lookup.
    fn missed(&self) -> Option<bool> {
        if !matches!(self.method, "GET" | "HEAD") {
            return None;
        }
        let waits =
            |op: Op| matches!(op, Op::FlightWait | Op::UpstreamWait | Op::UpstreamConnect | Op::UpstreamFirstByte);
        let waited = self.ops.iter().any(|(op, _)| waits(*op));
        let answered = matches!(self.status, 200..=399 | 404 | 410);
        (waited || answered).then_some(waited)
    }
}

impl Counts {
    /// Counts an event that does not reach the collector.
    pub(crate) fn add_event(&mut self, event: &Event, format_of: Option<&FormatOf>) {
        let place = self.repositories.place(&event.subject.repository, format_of);
        self.add(&Figures::from(event), place);
    }

    /// Counts a finished event. An event without an outcome is a bug and counts as [`Outcome::Failed`].
    pub(crate) fn add(&mut self, event: &Figures<'_>, place: Place) {
        self.outcomes[event.outcome.unwrap_or(Outcome::Failed) as usize] += 1;
        if let Some(reason) = event.reason {
            self.reasons[reason as usize] += 1;
        }
        for (op, tally) in event.ops {
            self.ops[*op as usize].record_sum(tally.nanos, u64::from(tally.count));
        }
        if event.kind == Kind::Request {
            self.add_request(event, place);
        }
    }

    fn add_request(&mut self, event: &Figures<'_>, place: Place) {
        let layer = event.layer as usize;
        let (layer_name, protocol, status) = (event.layer, event.protocol, event.status);
        let kind = RequestKind { format: self.repositories.format(place), layer: layer_name, protocol, status };
        *self.requests.entry(kind).or_default() += 1;
        self.received_bytes[layer] += event.bytes_in;
        self.sent_bytes[layer] += event.bytes_out;
        self.durations[layer].record(event.duration);
        if event.status != 0 {
            self.first_bytes[layer].record(event.first_byte);
        }
        if place != Place::NONE {
            let missed = event.missed();
            let counts = self.repositories.counts_mut(place);
            counts.requests += 1;
            counts.received_bytes += event.bytes_in;
            counts.sent_bytes += event.bytes_out;
            counts.hits += u64::from(missed == Some(false));
            counts.misses += u64::from(missed == Some(true));
        }
    }

    /// Adds the counts of another shard.
    pub(crate) fn merge(&mut self, other: &Counts) {
        add_each(&mut self.outcomes, &other.outcomes);
        add_each(&mut self.reasons, &other.reasons);
        for (kind, theirs) in &other.requests {
            *self.requests.entry(*kind).or_default() += theirs;
        }
        add_each(&mut self.received_bytes, &other.received_bytes);
        add_each(&mut self.sent_bytes, &other.sent_bytes);
        self.repositories.merge(&other.repositories);
        merge_each(&mut self.ops, &other.ops);
        merge_each(&mut self.durations, &other.durations);
        merge_each(&mut self.first_bytes, &other.first_bytes);
    }
}

fn add_each(mine: &mut [u64], theirs: &[u64]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
}

fn merge_each(mine: &mut [Durations], theirs: &[Durations]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.merge(theirs));
}

/// The figures of one sink.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SinkTotals {
    /// The sink's name.
    pub name: &'static str,
    /// Events that it took.
    pub taken: u64,
    /// Events that were dropped because its queue was full.
    pub dropped: u64,
    /// Batches for which it returned an error.
    pub errors: u64,
    /// Batches for which it panicked.
    pub panics: u64,
}

/// The counts of all shards. The outcomes and [`Totals::in_flight`] sum to the attempts.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    pub(crate) counts: Counts,
    pub(crate) counters: [u64; Counter::COUNT],
    pub(crate) sinks: Vec<SinkTotals>,
    pub(crate) unbuffered: u64,
}

impl Totals {
    /// Attempts that began.
    pub fn attempts(&self) -> u64 {
        self.counter(Counter::Attempts)
    }

    /// Attempts that began and are not released yet.
    pub fn in_flight(&self) -> u64 {
        self.attempts().saturating_sub(self.counts.outcomes.iter().sum())
    }

    /// The value of `counter`.
    pub fn counter(&self, counter: Counter) -> u64 {
        self.counters[counter as usize]
    }

    /// Attempts with this outcome.
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.counts.outcomes[outcome as usize]
    }

    /// Attempts with this reason.
    pub fn reason(&self, reason: Reason) -> u64 {
        self.counts.reasons[reason as usize]
    }

    /// Requests that `layer` answered with a status of `class`: 2 for 2xx; 0 for no reply.
    pub fn replies(&self, layer: Layer, class: u16) -> u64 {
        let of = |kind: &RequestKind| kind.layer == layer && kind.status / 100 == class;
        self.counts.requests.iter().filter(|(kind, _)| of(kind)).map(|(_, count)| count).sum()
    }

    /// The times of `op`, in nanoseconds. If an event ran it several times, each run counts with their mean.
    pub fn op(&self, op: Op) -> &Histogram {
        self.counts.ops[op as usize].histogram()
    }

    /// The times from the first byte of a request to the end of its reply, in nanoseconds, for requests that `layer` answered.
    pub fn duration(&self, layer: Layer) -> &Histogram {
        self.counts.durations[layer as usize].histogram()
    }

    /// The times from the first byte of a request to the first byte of its reply, in nanoseconds, for requests that `layer` answered.
    pub fn first_byte(&self, layer: Layer) -> &Histogram {
        self.counts.first_bytes[layer as usize].histogram()
    }

    /// The totals of each sink of events: received, lost and failed.
    pub fn sinks(&self) -> &[SinkTotals] {
        &self.sinks
    }

    /// The figures of the sink of that name.
    pub fn sink(&self, name: &str) -> Option<&SinkTotals> {
        self.sinks.iter().find(|sink| sink.name == name)
    }

    /// Events that were counted but not passed to any sink, because the buffers were full.
    pub fn unbuffered(&self) -> u64 {
        self.unbuffered
    }
}
