//! The TTL of cached files and negative answers, shortened by hints.

use crate::repository::Repository;
use crate::tree::file::File;
use crate::upstream::Remote;
use crate::upstream::proof::Proof;
use crate::upstream::ttl::{Ttl, TtlState};
use store::CachedFile;
use telemetry::Millis;

impl Remote {
    /// The state of a cached file now, given the hints.
    pub(crate) fn ttl_state(&self, file: &File<'_>, proof: Proof<'_>, known: &CachedFile, now: Millis) -> TtlState {
        let ttl = Ttl::of(&self.repository, file);
        let hinted = || self.repository.shared.due.since(file.path).is_some_and(|since| known.checked < since);
        if proof == Proof::Age && !ttl.lasting() && hinted() { TtlState::Stale } else { proof.state(ttl, known, now) }
    }
}

impl Repository {
    /// Whether a negative answer with this TTL is still valid, given the hints.
    pub(crate) fn counts_as_missing(&self, file: &File<'_>, until: Millis, now: Millis) -> bool {
        let since = Ttl::of(self, file).missing_since(until);
        // The clock was set back after an answer of the future.
        since <= now
            && now < until
            && self.shared.due.since(file.path).is_none_or(|since| Ttl::of(self, file).missing_since(until) >= since)
    }
}
