//! Figures of background jobs, by name.

use super::worst::Worst;
use std::collections::{BTreeMap, VecDeque};
use telemetry::{EventId, Glance, JobMemory, Kind, Outcome, Reason};

/// The figures of the jobs of one name.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobSeen {
    /// Jobs that ended.
    pub(crate) runs: u64,
    /// The failed ones among them.
    pub(crate) failed: u64,
    /// The ones among them that panicked.
    pub(crate) panicked: u64,
    /// The failed one that took longest.
    pub(crate) failure: Worst,
    /// Their durations, in nanoseconds.
    pub(crate) nanos: u64,
    /// The memory of the last long ones.
    pub(crate) memory: JobMemoryRuns,
}

/// The memory of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobRun {
    /// Its event.
    pub(crate) event: EventId,
    /// The resident bytes of the process when it began.
    pub(crate) before: u64,
    /// How much more there were at the highest.
    pub(crate) gained: u64,
}

/// The memory of the last jobs of a name that took a second or longer, the newest last.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobMemoryRuns(VecDeque<JobRun>);

impl JobMemoryRuns {
    /// The most runs.
    const MAX: usize = 24;
    /// A shorter job hardly needs memory of its own.
    const LEAST_NANOS: u64 = 1_000_000_000;

    /// All of them.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &JobRun> {
        self.0.iter()
    }

    /// Adds a run. If there are too many, the oldest one is forgotten.
    pub(crate) fn push(&mut self, run: JobRun) {
        if self.0.len() == Self::MAX {
            self.0.pop_front();
        }
        self.0.push_back(run);
    }

    fn see(&mut self, event: &Glance<'_>) {
        if event.figures.duration < Self::LEAST_NANOS {
            return;
        }
        if let Some(JobMemory { before, highest, .. }) = event.more.and_then(|more| more.memory) {
            self.push(JobRun { event: event.figures.id, before, gained: highest.saturating_sub(before) });
        }
    }
}

/// The jobs that ended, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobsSeen(pub(crate) BTreeMap<&'static str, JobSeen>);

impl JobsSeen {
    pub(crate) fn see(&mut self, event: &Glance<'_>) {
        if event.figures.kind != Kind::Job {
            return;
        }
        let seen = self.0.entry(event.figures.method).or_default();
        seen.runs += 1;
        if event.figures.outcome == Some(Outcome::Failed) {
            seen.failed += 1;
            // Every job is stored.
            seen.failure.see(event.figures.duration, event.figures.id);
        }
        seen.panicked += u64::from(event.figures.reason == Some(Reason::Panicked));
        seen.nanos += event.figures.duration;
        seen.memory.see(event);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (name, theirs) in &other.0 {
            let mine = self.0.entry(name).or_default();
            mine.runs += theirs.runs;
            mine.failed += theirs.failed;
            mine.failure.add(&theirs.failure);
            mine.panicked += theirs.panicked;
            mine.nanos += theirs.nanos;
            theirs.memory.runs().for_each(|run| mine.memory.push(*run));
        }
    }
}
