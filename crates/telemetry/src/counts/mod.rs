//! Exact counts of events, by outcome, reason, layer, status class and op.

pub(crate) mod apps;
pub(crate) mod class_counts;
pub(crate) mod koji_calls;
pub(crate) mod repository_counts;
pub(crate) mod repository_times;
pub(crate) mod request_counts;
pub(crate) mod upstream_calls;
mod upstream_waits;

use crate::counts::apps::Apps;
use crate::counts::class_counts::Classes;
use crate::counts::repository_counts::{FormatOf, Repositories, RepositoryIndex};
use crate::counts::repository_times::RepositoryTimes;
use crate::counts::request_counts::{RequestKind, Requests, Route};
use crate::counts::upstream_waits::UpstreamWaits;
use crate::histogram::durations::Durations;
use crate::recorder::glance::{Figures, Glance};
use crate::{Class, Event, Histogram, Kind, Layer, Op, Outcome, Reason, Tally};

crate::closed_list! {
    /// Things that are counted and have no event of their own.
    #[repr(u8)]
    pub enum Counter {
        /// Requests and jobs that began, and rejected connections. The outcomes sum to this.
        Attempts = "attempts",
        /// Jobs that began.
        Jobs = "jobs",
        /// Connections accepted.
        Connections = "connections",
        /// Files for which a group queried members other than the hosted ones.
        GroupFiles = "group_files",
        /// Files among them whose folder's facts were in memory.
        FoldersKnown = "group_folders_known",
        /// Remote members that were queried for those files.
        MembersAsked = "group_members_asked",
    }
}

impl Counter {
    /// What it is, for people.
    pub fn doc(self) -> &'static str {
        match self {
            Counter::Attempts => "Requests started, connections rejected and jobs started: the sum of all outcomes",
            Counter::Jobs => "Jobs started",
            Counter::Connections => "Connections accepted",
            Counter::GroupFiles => "Files for which a group queried members other than the hosted ones",
            Counter::FoldersKnown => "Files among them whose folder's facts were in memory",
            Counter::MembersAsked => "Remote members that were queried for those files",
        }
    }
}

/// The counts of finished events: of one shard, or of all.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    pub(crate) outcomes: [u64; Outcome::COUNT],
    /// The jobs among them.
    pub(crate) jobs: u64,
    pub(crate) reasons: [u64; Reason::COUNT],
    pub(crate) requests: Requests,
    pub(crate) received_bytes: [u64; Layer::COUNT],
    pub(crate) sent_bytes: [u64; Layer::COUNT],
    pub(crate) repositories: Repositories,
    pub(crate) repository_times: RepositoryTimes,
    pub(crate) upstream_waits: UpstreamWaits,
    pub(crate) apps: Apps,
    pub(crate) classes: Classes,
    pub(crate) ops: Vec<Durations>,
    /// The runs of each op that changed nothing.
    pub(crate) vain: Vec<u64>,
    pub(crate) durations: Vec<Durations>,
    pub(crate) first_bytes: Vec<Durations>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            outcomes: [0; Outcome::COUNT],
            jobs: 0,
            reasons: [0; Reason::COUNT],
            requests: Requests::default(),
            received_bytes: [0; Layer::COUNT],
            sent_bytes: [0; Layer::COUNT],
            repositories: Repositories::default(),
            repository_times: RepositoryTimes::default(),
            upstream_waits: UpstreamWaits::default(),
            apps: Apps::default(),
            classes: Classes::default(),
            ops: vec![Durations::default(); Op::COUNT],
            vain: vec![0; Op::COUNT],
            durations: vec![Durations::default(); Layer::COUNT],
            first_bytes: vec![Durations::default(); Layer::COUNT],
        }
    }
}

/// Whether the request was for content and waited for an upstream. `None`: it was a change, or was refused before any lookup.
fn missed(event: &Glance<'_>) -> Option<bool> {
    if !matches!(event.figures.method, "GET" | "HEAD") {
        return None;
    }
    // A call over a new connection that gets no further than its set-up has one of the first parts.
    let waits = |op: Op| {
        matches!(
            op,
            Op::FlightWait
                | Op::UpstreamWait
                | Op::UpstreamPause
                | Op::UpstreamResolve
                | Op::UpstreamTcp
                | Op::UpstreamFirstByte
        )
    };
    let mut ops = event.ops.iter().chain(event.members.iter().flat_map(|member| &member.ops));
    let waited = ops.any(|(op, _)| waits(*op));
    let answered = matches!(event.figures.status, 200..=399 | 404 | 410);
    (waited || answered).then_some(waited)
}

impl Counts {
    /// Counts an event that does not reach the collector.
    pub(crate) fn add_event(&mut self, event: &Event, format_of: Option<&FormatOf>) {
        let index = self.repositories.index(&event.subject.repository, format_of);
        self.add(&Glance::of(event, &Figures::of(event)), index);
    }

    /// Counts a finished event. An event without an outcome is a bug and counts as [`Outcome::Failed`].
    pub(crate) fn add(&mut self, event: &Glance<'_>, index: RepositoryIndex) {
        let figures = event.figures;
        self.outcomes[figures.outcome.unwrap_or(Outcome::Failed) as usize] += 1;
        if let Some(reason) = figures.reason {
            self.reasons[reason as usize] += 1;
        }
        self.add_ops(event.ops);
        self.add_ops(event.more.map_or(&[], |more| &more.beside));
        event.members.iter().for_each(|member| self.add_ops(&member.ops));
        match figures.kind {
            Kind::Request => self.add_request(event, index),
            Kind::Job => self.jobs += 1,
            Kind::Probe => {}
        }
    }

    /// Counts the ops of an event or of one of its members.
    fn add_ops(&mut self, ops: &[(Op, Tally)]) {
        for (op, tally) in ops {
            self.ops[*op as usize].record_sum(tally.nanos, u64::from(tally.count));
            self.vain[*op as usize] += u64::from(tally.vain);
        }
    }

    fn add_request(&mut self, event: &Glance<'_>, index: RepositoryIndex) {
        let figures = event.figures;
        let layer = figures.layer as usize;
        let for_app = event.is_for_app();
        // An application may have the name of a repository.
        let index = if for_app { RepositoryIndex::NONE } else { index };
        let format = self.repositories.format(index);
        let kind = RequestKind {
            format,
            layer: figures.layer,
            protocol: figures.protocol,
            status: figures.status,
            method: figures.method,
            route: Route::of(format, if for_app { Some(Class::Apps) } else { figures.class }),
        };
        self.received_bytes[layer] += figures.bytes_in;
        self.sent_bytes[layer] += figures.bytes_out;
        let limit = self.durations[layer].record(figures.duration);
        self.requests.add(kind, limit, figures.duration, figures.bytes_in, figures.bytes_out);
        if let Some(class) = figures.class {
            let outcome = figures.outcome.unwrap_or(Outcome::Failed);
            self.classes.add(class, outcome, figures.duration, limit);
        }
        self.upstream_waits.add(event);
        if for_app && !event.repository.is_empty() {
            self.apps.add(event);
        }
        if figures.status != 0 {
            self.first_bytes[layer].record(figures.first_byte);
        }
        if index != RepositoryIndex::NONE && figures.status != 0 {
            self.repository_times.add(event, index);
        }
        if index != RepositoryIndex::NONE {
            let missed = missed(event);
            let counts = self.repositories.counts_mut(index);
            counts.requests += 1;
            counts.received_bytes += figures.bytes_in;
            counts.sent_bytes += figures.bytes_out;
            counts.hits += u64::from(missed == Some(false));
            counts.misses += u64::from(missed == Some(true));
            counts.outcomes[figures.outcome.unwrap_or(Outcome::Failed) as usize] += 1;
        }
    }

    /// Adds the counts of another shard.
    pub(crate) fn merge(&mut self, other: &Counts) {
        add_each(&mut self.outcomes, &other.outcomes);
        self.jobs += other.jobs;
        add_each(&mut self.reasons, &other.reasons);
        self.requests.merge(&other.requests);
        add_each(&mut self.received_bytes, &other.received_bytes);
        add_each(&mut self.sent_bytes, &other.sent_bytes);
        self.repositories.merge(&other.repositories);
        self.repository_times.merge(&other.repository_times, &mut self.repositories);
        self.upstream_waits.merge(&other.upstream_waits);
        self.apps.merge(&other.apps);
        self.classes.merge(&other.classes);
        merge_each(&mut self.ops, &other.ops);
        add_each(&mut self.vain, &other.vain);
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

/// The figures of one census.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CensusTotals {
    /// Its name.
    pub name: &'static str,
    /// Events that it saw.
    pub seen: u64,
    /// Events that it did not see, because it panicked at one of them or before.
    pub missed: u64,
}

/// The events that sinks and censuses did not get.
#[derive(Debug, Clone, Default)]
pub struct LostEvents {
    /// The figures of each sink.
    pub sinks: Vec<SinkTotals>,
    /// The figures of each census.
    pub censuses: Vec<CensusTotals>,
    /// Events that found no place in the buffers.
    pub unbuffered: u64,
}

/// The counts of all shards. The outcomes and [`Totals::in_flight`] sum to the attempts.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    pub(crate) counts: Counts,
    pub(crate) counters: [u64; Counter::COUNT],
    pub(crate) sinks: Vec<SinkTotals>,
    pub(crate) censuses: Vec<CensusTotals>,
    pub(crate) unpacked: u64,
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

    /// The requests among them.
    pub(crate) fn requests_in_flight(&self) -> u64 {
        let jobs = self.counter(Counter::Jobs).saturating_sub(self.counts.jobs);
        self.in_flight().saturating_sub(jobs)
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
        self.counts.requests.iter().filter(|(kind, _)| of(kind)).map(|(_, counts)| counts.durations.count).sum()
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

    /// The totals of each census.
    pub fn censuses(&self) -> &[CensusTotals] {
        &self.censuses
    }

    /// Events that were unpacked for sinks.
    pub fn unpacked(&self) -> u64 {
        self.unpacked
    }

    /// Events that were counted but not passed to any sink, because the buffers were full.
    pub fn unbuffered(&self) -> u64 {
        self.unbuffered
    }
}
