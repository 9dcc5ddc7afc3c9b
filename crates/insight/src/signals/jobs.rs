//! Figures of background jobs, by name.

use std::collections::BTreeMap;
use telemetry::{Glance, Kind, Outcome, Reason};

/// The figures of the jobs of one name.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobSeen {
    /// Jobs that ended.
    pub(crate) runs: u64,
    /// Those that failed.
    pub(crate) failed: u64,
    /// Those that panicked.
    pub(crate) panicked: u64,
    /// Their durations, in nanoseconds.
    pub(crate) nanos: u64,
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
        seen.failed += u64::from(event.figures.outcome == Some(Outcome::Failed));
        seen.panicked += u64::from(event.figures.reason == Some(Reason::Panicked));
        seen.nanos += event.figures.duration;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (name, theirs) in &other.0 {
            let mine = self.0.entry(name).or_default();
            mine.runs += theirs.runs;
            mine.failed += theirs.failed;
            mine.panicked += theirs.panicked;
            mine.nanos += theirs.nanos;
        }
    }
}
