//! The results of the calls to one host of upstreams.

use crate::durations::Durations;
use crate::{Reason, Tick};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The figures of the calls to one host, counted by the task of each call.
#[derive(Debug)]
pub struct UpstreamCalls {
    host: String,
    received_bytes: AtomicU64,
    counts: Mutex<CallCounts>,
}

/// The counts of calls.
#[derive(Debug, Clone)]
pub(crate) struct CallCounts {
    /// Responses, by the first digit of the status; at 0, calls without a response.
    pub(crate) statuses: [u64; 6],
    pub(crate) errors: [u64; Reason::COUNT],
    /// From the wait for a connection to the head of the response.
    pub(crate) durations: Durations,
}

impl Default for CallCounts {
    fn default() -> Self {
        Self { statuses: [0; 6], errors: [0; Reason::COUNT], durations: Durations::default() }
    }
}

impl CallCounts {
    pub(crate) fn merge(&mut self, other: &CallCounts) {
        self.statuses.iter_mut().zip(&other.statuses).for_each(|(mine, theirs)| *mine += theirs);
        self.errors.iter_mut().zip(&other.errors).for_each(|(mine, theirs)| *mine += theirs);
        self.durations.merge(&other.durations);
    }
}

impl UpstreamCalls {
    pub(crate) fn new(host: &str) -> Self {
        Self { host: host.to_owned(), received_bytes: AtomicU64::new(0), counts: Mutex::default() }
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
        self.change(|counts| {
            counts.statuses[usize::from(status / 100).clamp(1, 5)] += 1;
            counts.durations.record(nanos);
            reason.into_iter().for_each(|reason| counts.errors[reason as usize] += 1);
        });
    }

    /// The call that started at `began` got no response.
    pub fn failed(&self, reason: Reason, began: Tick) {
        let nanos = Tick::now().since(began);
        self.change(|counts| {
            counts.statuses[0] += 1;
            counts.durations.record(nanos);
            counts.errors[reason as usize] += 1;
        });
    }

    /// No call was made, or the body of its response was incomplete.
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
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&mut CallCounts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
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
    }
}
