//! What a purge removes.

use crate::cleanup::CleanupPlan;
use std::collections::BTreeSet;
use store::{Entry, Frees, State, Withdrawal};
use telemetry::Millis;

/// Longest reason, in bytes.
pub(crate) const WHY_MAX: usize = 1_000;

/// What a purge removes, or removed.
#[derive(Debug)]
pub struct PurgePlan {
    /// The files, under the rule `purge`.
    pub plan: CleanupPlan,
    /// Other repositories that hold some of the same bytes, which therefore stay.
    pub also_in: BTreeSet<String>,
    /// How many bytes come free, and when.
    pub frees: Frees,
}

/// The entry as a purge changes it; `None`: it was purged before.
pub(crate) fn purged(entry: &Entry, why: &str, at: Millis) -> Option<Entry> {
    let before = entry.state == State::Withdrawn && matches!(entry.withdrawal, Some(Withdrawal::Purged { .. }));
    (!before).then(|| entry.withdrawn(Withdrawal::Purged { why: why.to_owned() }, at))
}
