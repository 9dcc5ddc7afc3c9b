//! The results of the calls to one host of upstreams.

use crate::histogram::durations::{Durations, RoundDurations};
use crate::histogram::recent::Recent;
use crate::lock;
use crate::{Histogram, Reason, Tick};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The figures of the calls to one host, counted by the task of each call.
#[derive(Debug)]
pub struct UpstreamCalls {
    host: String,
    received_bytes: AtomicU64,
    counts: Mutex<CallCounts>,
    recent: Mutex<Recent<CallsOfMinute>>,
    /// The longest pause that the host asked for last, in milliseconds.
    pause_ms: AtomicU64,
}

/// Sums of the calls to one host since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallSums {
    /// Calls that ended with a response or without one.
    pub calls: u64,
    /// The time from a connection to the heads of their responses, in nanoseconds.
    pub nanos: u64,
    /// The sum of the squares of these times, in square microseconds; it wraps around.
    pub squares: u64,
    /// Calls that were answered with 429: there were too many.
    pub limited: u64,
    /// The last pause that the host asked for, in milliseconds; 0: it asked for none.
    pub pause_ms: u64,
}

/// The calls to a host that ended in one minute, or in several.
#[derive(Debug, Default)]
pub(crate) struct CallsOfMinute {
    calls: u64,
    failed: u64,
    /// The times until the heads of responses. A refused connection tells nothing about the speed of a host.
    pub(crate) durations: Histogram,
}

impl CallsOfMinute {
    /// The part of the calls that failed, 0 to 1. `None`: there were no calls.
    pub(crate) fn failed_share(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.failed.min(self.calls) as f64 / self.calls as f64)
    }
}

/// The calls to a host in the last quarter of an hour, and what requests waited for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecentCalls {
    /// Half of the responses took no longer until their head, in nanoseconds. `None`: there were no responses.
    pub p50: Option<u64>,
    /// 95 % of the responses took no longer.
    pub p95: Option<u64>,
    /// The part of the calls that failed, 0 to 1: without a complete response, or with a status that is an error. `None`: there were no calls.
    pub failed_share: Option<f64>,
    /// The part of the time of all requests that they waited for this host, 0 to 1; more than 1 for all hosts together where members of a
    /// group are asked at the same time. `None`: there were no requests.
    pub wait_share: Option<f64>,
}

/// The counts of calls.
#[derive(Debug, Clone)]
pub(crate) struct CallCounts {
    /// Responses, by the first digit of the status; at 0, calls without a response.
    pub(crate) statuses: [u64; 6],
    pub(crate) errors: [u64; Reason::COUNT],
    /// From the wait for a connection to the head of the response.
    pub(crate) durations: Durations,
    /// The sum of their squares, in square microseconds; it wraps around.
    squares: u64,
    /// These durations by the status of the response; at 0, calls without a response.
    pub(crate) by_status: BTreeMap<u16, RoundDurations>,
}

impl Default for CallCounts {
    fn default() -> Self {
        let durations = Durations::default();
        Self { statuses: [0; 6], errors: [0; Reason::COUNT], durations, squares: 0, by_status: BTreeMap::new() }
    }
}

impl CallCounts {
    /// The most statuses that are told apart. All others count as [`CallCounts::OTHER`].
    const STATUSES_MAX: usize = 16;
    /// No upstream has this status: statuses are below 1000.
    pub(crate) const OTHER: u16 = 1000;

    fn record(&mut self, status: u16, nanos: u64) {
        let limit = self.durations.record(nanos);
        // A call ends within hours, so its square fits.
        let micros = (nanos / 1000).min(u64::from(u32::MAX));
        self.squares = self.squares.wrapping_add(micros * micros);
        self.of_status(status).record(nanos, limit);
    }

    fn of_status(&mut self, status: u16) -> &mut RoundDurations {
        let fits = self.by_status.len() < Self::STATUSES_MAX || self.by_status.contains_key(&status);
        self.by_status.entry(if fits { status } else { Self::OTHER }).or_default()
    }

    pub(crate) fn merge(&mut self, other: &CallCounts) {
        self.statuses.iter_mut().zip(&other.statuses).for_each(|(mine, theirs)| *mine += theirs);
        self.errors.iter_mut().zip(&other.errors).for_each(|(mine, theirs)| *mine += theirs);
        self.durations.merge(&other.durations);
        self.squares = self.squares.wrapping_add(other.squares);
        for (status, theirs) in &other.by_status {
            self.of_status(*status).merge(theirs);
        }
    }
}

impl UpstreamCalls {
    pub(crate) fn new(host: &str) -> Self {
        Self {
            host: host.to_owned(),
            received_bytes: AtomicU64::new(0),
            counts: Mutex::default(),
            recent: Mutex::default(),
            pause_ms: AtomicU64::new(0),
        }
    }

    /// The host, as `name:port`.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The call that started at `began` has got the head of a response.
    pub fn answered(&self, status: u16, began: Tick) {
        let nanos = Tick::now().since(began);
        let reason = match status {
            404 | 410 => None,
            429 => Some(Reason::UpstreamPaused),
            400..=499 => Some(Reason::UpstreamRefused),
            500.. => Some(Reason::UpstreamFailed),
            _ => None,
        };
        self.count(|minute| {
            minute.calls += 1;
            minute.failed += u64::from(reason.is_some());
            minute.durations.record(nanos);
        });
        self.change(|counts| {
            counts.statuses[usize::from(status / 100).clamp(1, 5)] += 1;
            counts.record(status, nanos);
            reason.into_iter().for_each(|reason| counts.errors[reason as usize] += 1);
        });
    }

    /// The response asked for a pause of so many milliseconds.
    pub fn paused(&self, millis: u64) {
        self.pause_ms.store(millis, Relaxed);
    }

    /// The sums so far. They take constant time.
    pub fn sums(&self) -> CallSums {
        let counts = lock(&self.counts);
        let limited = counts.by_status.get(&429).map_or(0, |of| of.count);
        let all = counts.durations.histogram();
        let (calls, nanos, squares) = (all.count(), all.sum(), counts.squares);
        CallSums { calls, nanos, squares, limited, pause_ms: self.pause_ms.load(Relaxed) }
    }

    /// The call that started at `began` got no response.
    pub fn failed(&self, reason: Reason, began: Tick) {
        let nanos = Tick::now().since(began);
        self.count(|minute| (minute.calls, minute.failed) = (minute.calls + 1, minute.failed + 1));
        self.change(|counts| {
            counts.statuses[0] += 1;
            counts.record(0, nanos);
            counts.errors[reason as usize] += 1;
        });
    }

    /// The body of a response was incomplete.
    pub fn broke_off(&self, reason: Reason) {
        self.count(|minute| minute.failed += 1);
        self.erred(reason);
    }

    /// No call was made.
    pub fn erred(&self, reason: Reason) {
        self.change(|counts| counts.errors[reason as usize] += 1);
    }

    /// Bytes of a response have arrived.
    pub fn received(&self, bytes: usize) {
        self.received_bytes.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn received_bytes(&self) -> u64 {
        self.received_bytes.load(Relaxed)
    }

    pub(crate) fn counts(&self) -> CallCounts {
        lock(&self.counts).clone()
    }

    /// The calls of the last quarter of an hour.
    pub(crate) fn recent(&self, now: Tick) -> CallsOfMinute {
        let mut all = CallsOfMinute::default();
        let recent = lock(&self.recent);
        for minute in recent.until(now) {
            (all.calls, all.failed) = (all.calls + minute.calls, all.failed + minute.failed);
            all.durations.merge(&minute.durations);
        }
        all
    }

    /// Counts in the present minute.
    fn count(&self, count: impl FnOnce(&mut CallsOfMinute)) {
        let mut recent = lock(&self.recent);
        recent.at(Tick::now()).map(count);
    }

    fn change(&self, change: impl FnOnce(&mut CallCounts)) {
        change(&mut lock(&self.counts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_tells_of_trouble_is_an_error_and_a_proof_of_absence_is_none() {
        let calls = UpstreamCalls::new("example.org:443");
        for status in [200, 304, 404, 410, 403, 429, 500, 999] {
            calls.answered(status, Tick::now());
        }
        calls.failed(Reason::UpstreamTimeout, Tick::now());
        calls.erred(Reason::UpstreamPaused);
        let counts = calls.counts();
        assert_eq!(counts.statuses, [1, 0, 1, 1, 4, 2]);
        let errors = |reason: Reason| counts.errors[reason as usize];
        assert_eq!(errors(Reason::UpstreamRefused), 1);
        assert_eq!(errors(Reason::UpstreamPaused), 2);
        assert_eq!(errors(Reason::UpstreamFailed), 2);
        assert_eq!(errors(Reason::UpstreamTimeout), 1);
        assert_eq!(counts.durations.histogram().count(), 9);
        calls.paused(2000);
        let sums = calls.sums();
        assert_eq!((sums.calls, sums.limited, sums.pause_ms), (9, 1, 2000));
        // Of nine calls one had no response, and four had a status that is an error.
        let recent = calls.recent(Tick::now());
        assert_eq!((recent.durations.count(), recent.failed_share()), (8, Some(5.0 / 9.0)));
        calls.broke_off(Reason::UpstreamCut);
        assert_eq!(calls.recent(Tick::now()).failed_share(), Some(6.0 / 9.0));
        assert_eq!(UpstreamCalls::new("example.org:80").recent(Tick::now()).failed_share(), None);
    }

    #[test]
    fn durations_are_told_apart_by_status_up_to_a_limit() {
        let calls = UpstreamCalls::new("example.org:443");
        calls.failed(Reason::UpstreamTimeout, Tick::now());
        (200..230).for_each(|status| calls.answered(status, Tick::now()));
        calls.answered(200, Tick::now());
        let counts = |of: &CallCounts| of.by_status.iter().map(|(status, of)| (*status, of.count)).collect::<Vec<_>>();
        let mut both = calls.counts();
        let single = counts(&both);
        assert_eq!((single.len(), single[0], single[1], single[16]), (17, (0, 1), (200, 2), (CallCounts::OTHER, 15)));
        both.merge(&calls.counts());
        assert_eq!(counts(&both), single.iter().map(|(status, count)| (*status, 2 * count)).collect::<Vec<_>>());
    }
}
