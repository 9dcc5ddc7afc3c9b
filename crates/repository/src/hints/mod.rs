//! Hints that an upstream has changed, as hooks bring them. A hint is no fact: the upstream is looked at until it says the same.
//!
//! In reading order: [`announcement`] is what a sender says, [`hint`] what a repository looks for, [`schedule`] when it does so,
//! [`waiting`] what has not been seen yet, [`lost`] what was found and no hint had announced, and [`figures`] how that goes.

pub(crate) mod announcement;
pub(crate) mod figures;
pub(crate) mod hint;
pub(crate) mod lost;
pub(crate) mod schedule;
pub(crate) mod waiting;

use std::sync::Arc;
use telemetry::{Bound, BoundName};
use tokio::sync::Notify;

/// Most hints of all repositories that wait to be seen.
const HINTS_MAX: u64 = 4_096;

/// What the hints of all repositories share.
#[derive(Debug)]
pub(crate) struct HintBoard {
    /// Hints that wait to be seen.
    pub(crate) bound: Arc<Bound>,
    /// Wakes the job that looks for them.
    pub(crate) changed: Notify,
}

impl HintBoard {
    pub(crate) fn new() -> Self {
        Self { bound: Bound::new(BoundName::Hints, "", HINTS_MAX), changed: Notify::new() }
    }
}
