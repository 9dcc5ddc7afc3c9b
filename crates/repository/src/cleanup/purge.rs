//! The files that a purge removes.

use crate::cleanup::CleanupPlan;
use crate::group::kept_names::KeptName;
use std::collections::BTreeSet;
use store::{Entry, Frees, State, Withdrawal};
use telemetry::Millis;

/// Maximum length of the reason, in bytes.
pub(crate) const WHY_MAX: usize = 1_000;

/// What a purge removes or removed.
#[derive(Debug)]
pub struct PurgePlan {
    /// The files, under the rule `purge`.
    pub plan: CleanupPlan,
    /// Other repositories with some of the same blobs. These blobs stay.
    pub also_in: BTreeSet<String>,
    /// The space that becomes free, and when.
    pub frees: Frees,
    /// The names that stay with the repository although nothing of them is left.
    pub kept_names: Vec<KeptName>,
}

/// The entry after a purge; `None`: it was purged already.
pub(crate) fn purged(entry: &Entry, why: &str, at: Millis) -> Option<Entry> {
    let before = entry.state == State::Withdrawn && matches!(entry.withdrawal, Some(Withdrawal::Purged { .. }));
    (!before).then(|| entry.withdrawn(Withdrawal::Purged { why: why.to_owned() }, at))
}
