//! Exact counts of events, by outcome, reason, layer, status class and op.

use crate::{Event, Histogram, Kind, Layer, Op, Outcome, Reason, Tally};

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

/// The names of status classes, by the first digit of the status; 0 is for no reply.
pub(crate) const STATUS_CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/// The counts of finished events: of one shard, or of all.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    pub(crate) outcomes: [u64; Outcome::COUNT],
    pub(crate) reasons: [u64; Reason::COUNT],
    /// Requests by layer and status class.
    pub(crate) replies: [[u64; STATUS_CLASSES.len()]; Layer::COUNT],
    pub(crate) ops: Vec<Histogram>,
    pub(crate) durations: Vec<Histogram>,
    pub(crate) first_bytes: Vec<Histogram>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            outcomes: [0; Outcome::COUNT],
            reasons: [0; Reason::COUNT],
            replies: [[0; STATUS_CLASSES.len()]; Layer::COUNT],
            ops: vec![Histogram::default(); Op::COUNT],
            durations: vec![Histogram::default(); Layer::COUNT],
            first_bytes: vec![Histogram::default(); Layer::COUNT],
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
    pub(crate) status: u16,
    pub(crate) first_byte: u64,
    pub(crate) duration: u64,
    pub(crate) ops: &'a [(Op, Tally)],
}

impl<'a> From<&'a Event> for Figures<'a> {
    fn from(event: &'a Event) -> Self {
        let Event { kind, layer, outcome, reason, status, first_byte, duration, ops, .. } = event;
        let (kind, layer, outcome, reason) = (*kind, *layer, *outcome, *reason);
        Self { kind, layer, outcome, reason, status: *status, first_byte: *first_byte, duration: *duration, ops }
    }
}

impl Counts {
    /// Counts a finished event. An event without an outcome is a bug and counts as [`Outcome::Failed`].
    pub(crate) fn add(&mut self, event: &Figures<'_>) {
        self.outcomes[event.outcome.unwrap_or(Outcome::Failed) as usize] += 1;
        if let Some(reason) = event.reason {
            self.reasons[reason as usize] += 1;
        }
        for (op, tally) in event.ops {
            self.ops[*op as usize].record_sum(tally.nanos, u64::from(tally.count));
        }
        if event.kind == Kind::Request {
            let layer = event.layer as usize;
            let class = usize::from(event.status / 100);
            self.replies[layer][if class < STATUS_CLASSES.len() { class } else { 0 }] += 1;
            self.durations[layer].record(event.duration);
            if event.status != 0 {
                self.first_bytes[layer].record(event.first_byte);
            }
        }
    }

    /// Adds the counts of another shard.
    pub(crate) fn merge(&mut self, other: &Counts) {
        add_each(&mut self.outcomes, &other.outcomes);
        add_each(&mut self.reasons, &other.reasons);
        for (mine, theirs) in self.replies.iter_mut().zip(&other.replies) {
            add_each(mine, theirs);
        }
        merge_each(&mut self.ops, &other.ops);
        merge_each(&mut self.durations, &other.durations);
        merge_each(&mut self.first_bytes, &other.first_bytes);
    }
}

fn add_each(mine: &mut [u64], theirs: &[u64]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
}

fn merge_each(mine: &mut [Histogram], theirs: &[Histogram]) {
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
        self.counts.replies[layer as usize].get(usize::from(class)).copied().unwrap_or(0)
    }

    /// The times of `op`, in nanoseconds. If an event ran it several times, each run counts with their mean.
    pub fn op(&self, op: Op) -> &Histogram {
        &self.counts.ops[op as usize]
    }

    /// The times from the first byte of a request to the end of its reply, in nanoseconds, for requests that `layer` answered.
    pub fn duration(&self, layer: Layer) -> &Histogram {
        &self.counts.durations[layer as usize]
    }

    /// The times from the first byte of a request to the first byte of its reply, in nanoseconds, for requests that `layer` answered.
    pub fn first_byte(&self, layer: Layer) -> &Histogram {
        &self.counts.first_bytes[layer as usize]
    }

    /// The figures of each sink.
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
