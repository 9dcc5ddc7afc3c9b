//! The jobs in progress, with the memory that the process had when each began.

use crate::{Event, EventId, Tick, lock};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The jobs in progress.
#[derive(Debug, Default)]
pub(crate) struct RunningJobs(Mutex<BTreeMap<u64, RunningJob>>);

/// A job in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningJob {
    /// Its name.
    pub name: &'static str,
    /// When it began.
    pub began: Tick,
    /// The resident bytes of the process then.
    pub before_bytes: u64,
}

impl RunningJobs {
    pub(crate) fn begin(&self, event: &Event, before_bytes: u64) {
        let job = RunningJob { name: event.method, began: event.began, before_bytes };
        lock(&self.0).insert(event.id.0, job);
    }

    pub(crate) fn end(&self, id: EventId) {
        lock(&self.0).remove(&id.0);
    }

    /// All of them, the oldest first.
    pub(crate) fn list(&self) -> Vec<RunningJob> {
        let mut all: Vec<RunningJob> = lock(&self.0).values().copied().collect();
        all.sort_by_key(|job| job.began);
        all
    }
}
