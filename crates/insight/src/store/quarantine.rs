//! Logs that cannot be read. They are set aside, so that the rows of later logs become segments. The next start tries again.

use super::flush::{AGE, SEGMENTS};
use super::unreadable_log::{self, UnreadableLog};
use super::{EventStore, Unflushed};
use crate::disk;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use telemetry::Millis;

/// A log that cannot be read.
#[derive(Debug)]
pub(super) struct Quarantined {
    path: PathBuf,
    /// Its size.
    pub(super) bytes: u64,
    /// The moment of the last write.
    written: Millis,
    cause: String,
}

impl Quarantined {
    /// The log, for questions. A log is written for an hour at most.
    pub(super) fn part(&self) -> UnreadableLog {
        // The time that a file system writes down may be some milliseconds old.
        let (from, to) = (before(self.written, AGE).0, self.written.0.saturating_add(100));
        UnreadableLog::log(from, to, self.path.clone(), self.cause.clone())
    }
}

fn before(at: Millis, by: Duration) -> Millis {
    Millis(at.0.saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
}

impl EventStore {
    /// Waits no longer for a log that cannot be read.
    pub(super) fn quarantine(&self, unflushed: &Unflushed, cause: &io::Error) {
        let Some((path, bytes)) = unflushed.log.clone() else { return };
        unreadable_log::report(&path, cause, self.log());
        let written = disk::written(&path).unwrap_or_else(|_| self.options.clock.now());
        let mut rows = self.rows();
        rows.unflushed.retain(|other| !other.is(unflushed));
        rows.quarantine.push(Arc::new(Quarantined { path, bytes, written, cause: cause.to_string() }));
    }

    /// Removes the logs that are too old, and the first ones if all take more than a part of the disk for events.
    pub(super) fn expire_quarantine(&self) {
        let oldest = before(self.options.clock.now(), self.options.keep_time);
        loop {
            let gone = {
                let mut rows = self.rows();
                let bytes: u64 = rows.quarantine.iter().map(|log| log.bytes).sum();
                let too_large = bytes > self.options.keep_bytes / SEGMENTS;
                let place = rows.quarantine.iter().position(|log| too_large || log.written < oldest);
                place.map(|place| rows.quarantine.remove(place))
            };
            let Some(gone) = gone else { return };
            self.removed(disk::remove(&gone.path));
        }
    }
}
