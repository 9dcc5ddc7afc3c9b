//! What came of a replay, beside what was recorded.

use super::recording::{Name, Recorded};
use crate::cli::open_loop::Made;
use std::collections::{BTreeMap, HashMap};
use telemetry::Histogram;

/// The most kinds of differences that are told apart.
const DIFFERENCES_MAX: usize = 10_000;
/// The most kinds of failures that are told apart.
const FAILURES_MAX: usize = 20;

/// Times, in nanoseconds: counts for quantiles, and the longest.
#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    counts: Histogram,
    longest: u64,
}

/// The requests of a group, recorded and sent again.
#[derive(Debug, Clone, Default)]
pub(super) struct Pair {
    pub(super) requests: u64,
    /// Those with another status than the recorded one.
    pub(super) different: u64,
    /// Without an answer.
    pub(super) failed: u64,
    pub(super) recorded: Times,
    pub(super) replayed: Times,
    pub(super) recorded_bytes: u64,
    pub(super) replayed_bytes: u64,
}

/// A path whose status is another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Difference {
    pub(super) path: Box<str>,
    pub(super) recorded: u16,
    pub(super) replayed: u16,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) all: Pair,
    /// By repository and kind of file.
    pub(super) groups: HashMap<(Name, Name), Pair>,
    differences: HashMap<Difference, u64>,
    /// Differences of further paths.
    pub(super) others: u64,
    /// Failures by their texts.
    pub(super) failures: BTreeMap<String, u64>,
    /// How late requests began.
    pub(super) late: Times,
    /// From the beginning of a request, late or not, to its last byte.
    pub(super) service: Times,
    /// Requests that made a connection.
    pub(super) connected: u64,
}

impl Times {
    pub(super) fn record(&mut self, nanos: u64) {
        self.counts.record(nanos);
        self.longest = self.longest.max(nanos);
    }

    /// The time that this part of them does not exceed, in milliseconds. Not longer than the longest.
    pub(super) fn quantile(&self, quantile: f64) -> f64 {
        millis(self.counts.quantile(quantile).min(self.longest))
    }

    /// The longest, in milliseconds.
    pub(super) fn longest(&self) -> f64 {
        millis(self.longest)
    }
}

/// Nanoseconds as milliseconds, rounded to a microsecond.
fn millis(nanos: u64) -> f64 {
    (nanos as f64 / 1e3).round() / 1e3
}

impl Pair {
    fn take(&mut self, recorded: &Recorded, made: &Made) {
        self.requests += 1;
        self.recorded.record(recorded.duration);
        self.recorded_bytes = self.recorded_bytes.saturating_add(recorded.bytes);
        self.replayed.record(made.latency);
        self.replayed_bytes = self.replayed_bytes.saturating_add(made.times.bytes);
        match &made.answer {
            Ok(answer) => self.different += u64::from(answer.status.as_u16() != recorded.status),
            Err(_) => self.failed += 1,
        }
    }
}

impl Outcome {
    /// Takes a request that was sent again.
    pub(super) fn take(&mut self, recorded: &Recorded, made: &Made) {
        self.all.take(recorded, made);
        self.groups.entry((recorded.repository, recorded.file)).or_default().take(recorded, made);
        self.late.record(made.late);
        self.service.record(made.latency.saturating_sub(made.late));
        self.connected += u64::from(!made.times.reused);
        match &made.answer {
            Ok(answer) if answer.status.as_u16() == recorded.status => {}
            Ok(answer) => {
                let (path, replayed) = (recorded.path.clone(), answer.status.as_u16());
                self.differs(Difference { path, recorded: recorded.status, replayed });
            }
            Err(error) => {
                let text = error.to_string();
                let is_known = self.failures.contains_key(&text) || self.failures.len() < FAILURES_MAX;
                *self.failures.entry(if is_known { text } else { "others".to_owned() }).or_default() += 1;
            }
        }
    }

    fn differs(&mut self, difference: Difference) {
        let has_room = self.differences.len() < DIFFERENCES_MAX;
        match self.differences.get_mut(&difference) {
            Some(count) => *count += 1,
            None if has_room => drop(self.differences.insert(difference, 1)),
            None => self.others += 1,
        }
    }

    /// The differences, those of most requests first.
    pub(super) fn differences(&self) -> Vec<(&Difference, u64)> {
        let mut all: Vec<(&Difference, u64)> = self.differences.iter().map(|(one, count)| (one, *count)).collect();
        all.sort_by(|(one, count), (other, more)| more.cmp(count).then_with(|| one.cmp(other)));
        all
    }

    /// Whether nothing was answered.
    pub(super) fn is_unanswered(&self) -> bool {
        self.all.failed == self.all.requests
    }
}
