//! Hints: hooks announce that an upstream has changed. A hint proves nothing, so the upstream is looked at until it
//! confirms the change.
//!
//! In reading order: [`announcement`] is the content of a hook, [`hint`] the change that a repository looks for,
//! [`schedule`] the times of the looks, [`waiting`] the hints that are not confirmed, [`lost`] the changes that no hint
//! announced, and [`figures`] the statistics.

pub(crate) mod announcement;
pub(crate) mod figures;
pub(crate) mod hint;
pub(crate) mod lost;
pub(crate) mod schedule;
pub(crate) mod waiting;

use std::sync::Arc;
use telemetry::{Bound, BoundName};
use tokio::sync::Notify;

/// Maximum number of unconfirmed hints of all repositories.
const HINTS_MAX: u64 = 4_096;

/// The state that the hints of all repositories share.
#[derive(Debug)]
pub(crate) struct HintBoard {
    /// The bound of unconfirmed hints.
    pub(crate) bound: Arc<Bound>,
    /// Wakes the job that looks at upstreams.
    pub(crate) changed: Notify,
}

impl HintBoard {
    pub(crate) fn new() -> Self {
        Self { bound: Bound::new(BoundName::Hints, "", HINTS_MAX), changed: Notify::new() }
    }
}
