//! What the server asks itself through its public socket. Such a request is in no figure of requests.

use crate::histogram::durations::Durations;
use crate::lock;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

/// The probes of a server, and how it knows them.
#[derive(Debug, Default)]
pub struct Probes {
    mark: OnceLock<String>,
    /// From the first byte of a request to the last one of its answer, as the server measures it.
    inside: Mutex<Durations>,
    last_inside: AtomicU64,
    /// From the connection to the last byte of the answer, as its client measures it.
    outside: Mutex<Durations>,
    unanswered: AtomicU64,
}

impl Probes {
    /// The header of a probe.
    pub const HEADER: &'static str = "daylight-probe";
    /// The path of a probe.
    pub const PATH: &'static str = "/health/live";

    /// The value of the header: 32 hexadecimal digits that only this process knows, so that no client can hide a request.
    pub fn mark(&self) -> &str {
        self.mark.get_or_init(|| {
            // The keys of each are random numbers of the operating system.
            let [high, low] = [1, 2].map(|number: u8| RandomState::new().hash_one(number));
            format!("{high:016x}{low:016x}")
        })
    }

    /// Whether a request with this path and header is a probe.
    pub fn is_probe(&self, path: &str, header: impl FnOnce(&'static str) -> Option<Vec<u8>>) -> bool {
        path == Self::PATH
            && self.mark.get().is_some_and(|mark| header(Self::HEADER).is_some_and(|it| it == mark.as_bytes()))
    }

    pub(crate) fn inside(&self, nanos: u64) {
        self.last_inside.store(nanos, Relaxed);
        lock(&self.inside).record(nanos);
    }

    /// The last probe took this many nanoseconds, as the server measured it.
    pub fn last_inside(&self) -> u64 {
        self.last_inside.load(Relaxed)
    }

    /// A probe took this many nanoseconds, as its client measured it.
    pub fn answered(&self, nanos: u64) {
        lock(&self.outside).record(nanos);
    }

    /// A probe had no answer in time.
    pub fn unanswered(&self) {
        self.unanswered.fetch_add(1, Relaxed);
    }

    pub(crate) fn figures(&self) -> (Durations, Durations, u64) {
        (lock(&self.inside).clone(), lock(&self.outside).clone(), self.unanswered.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_with_the_mark_of_this_process_is_a_probe() {
        let (probes, others) = (Probes::default(), Probes::default());
        let (mark, wrong) = (probes.mark().as_bytes().to_vec(), others.mark().as_bytes().to_vec());
        assert_ne!(mark, wrong);
        assert!(probes.is_probe("/health/live", |_| Some(mark.clone())));
        assert!(!probes.is_probe("/health/ready", |_| Some(mark.clone())));
        assert!(!probes.is_probe("/health/live", |_| Some(wrong)));
        assert!(!probes.is_probe("/health/live", |_| None));
        assert!(!Probes::default().is_probe("/health/live", |_| Some(Vec::new())), "nobody has asked for a mark");
    }
}
