//! Requests through a group by kind, so that times with other requests can be compared: what was cached waits for no upstream.

use super::waits::{WaitedFor, Waits, called, has};
use telemetry::MemberRecord;

/// Requests, and how long they waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) requests: u64,
    /// In nanoseconds.
    pub(crate) nanos: u64,
}

impl Waited {
    fn add(&mut self, requests: u64, nanos: u64) {
        (self.requests, self.nanos) = (self.requests + requests, self.nanos + nanos);
    }
}

/// The kinds of requests that found something or nothing.
const FOUND: [&str; 4] = ["cached file", "fetched file", "document", "missing"];
/// The kinds of requests that asked many members.
const WIDE: [&str; 2] = ["cached", "fetched"];

/// Requests by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    found: [Waited; FOUND.len()],
    wide: [Waited; WIDE.len()],
}

impl Kinds {
    /// Counts a request that asked members.
    pub(super) fn see(&mut self, members: &[MemberRecord], waits: &Waits) {
        let (place, requests) = match waits.what {
            WaitedFor::Order => (usize::from(members.iter().find(|member| has(member)).is_some_and(called)), 1),
            WaitedFor::Document => (2, 1),
            // The repository counts these.
            WaitedFor::Nobody => (3, 0),
        };
        self.found[place].add(requests, waits.in_vain());
    }

    /// Counts a request that asked three members or more for so long.
    pub(super) fn asked_many(&mut self, members: &[MemberRecord], nanos: u64) {
        self.wide[usize::from(members.iter().any(called))].add(1, nanos);
    }

    /// By what was found.
    pub(super) fn in_vain(&self) -> impl Iterator<Item = (&'static str, Waited)> {
        FOUND.into_iter().zip(self.found)
    }

    /// Requests that asked three members or more.
    pub(super) fn wide(&self) -> impl Iterator<Item = (&'static str, Waited)> {
        WIDE.into_iter().zip(self.wide)
    }

    pub(super) fn add(&mut self, other: &Self) {
        let mine = self.found.iter_mut().chain(&mut self.wide);
        let theirs = other.found.iter().chain(&other.wide);
        mine.zip(theirs).for_each(|(mine, theirs)| mine.add(theirs.requests, theirs.nanos));
    }
}
