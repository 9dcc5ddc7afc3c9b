//! Logs that cannot be read are set aside, so that the rows of later logs become segments. The next start tries again.

use super::flush::AGE;
use super::segment_limits::SEGMENTS;
use super::segments::report;
use super::{EventStore, Unflushed};
use crate::column::Column;
use crate::disk;
use crate::part::{Coded, Part, Span, Unreadable};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use telemetry::Millis;

/// A log of events that cannot be read, as a part: answers name it, and are not exact.
#[derive(Debug)]
pub(super) struct UnreadableLog {
    path: PathBuf,
    /// Its size.
    pub(super) bytes: u64,
    span: Span,
    cause: String,
}

impl UnreadableLog {
    /// A log with rows that began at `from` to `to`, in milliseconds since the epoch. Their number is unknown.
    pub(super) fn new(path: PathBuf, bytes: u64, from: i64, to: i64, cause: String) -> Self {
        Self { path, bytes, span: Span { rows: 1, events: 0, from, to }, cause }
    }
}

impl Part for UnreadableLog {
    fn span(&self) -> Span {
        self.span
    }

    fn texts(&self, _: Column) -> Result<Coded, Unreadable> {
        Err(Unreadable::file(&self.path, &self.cause))
    }

    fn numbers(&self, _: Column) -> Result<Vec<i64>, Unreadable> {
        Err(Unreadable::file(&self.path, &self.cause))
    }
}

fn before(at: Millis, by: Duration) -> i64 {
    at.0.saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
}

impl EventStore {
    /// Waits no longer for a log that cannot be read.
    pub(super) fn quarantine(&self, unflushed: &Unflushed, cause: &io::Error) {
        let Some((path, bytes)) = unflushed.log.clone() else { return };
        report(&path, cause, self.log());
        // A log is written for an hour at most. The time that a file system writes down may be some milliseconds old.
        let written = disk::written(&path).unwrap_or_else(|_| self.options.clock.now());
        let (from, to) = (before(written, AGE), written.0.saturating_add(100));
        let mut rows = self.rows();
        rows.unflushed.retain(|other| !other.is(unflushed));
        rows.quarantine.push(Arc::new(UnreadableLog::new(path, bytes, from, to, cause.to_string())));
    }

    /// Removes the logs that are too old, and the first ones if all take more than a part of the disk for events.
    pub(super) fn expire_quarantine(&self) {
        let oldest = before(self.options.clock.now(), self.options.keep_time);
        loop {
            let gone = {
                let mut rows = self.rows();
                let bytes: u64 = rows.quarantine.iter().map(|log| log.bytes).sum();
                let too_large = bytes > self.options.keep_bytes / SEGMENTS;
                let place = rows.quarantine.iter().position(|log| too_large || log.span.to < oldest);
                place.map(|place| rows.quarantine.remove(place))
            };
            let Some(gone) = gone else { return };
            self.removed(disk::remove(&gone.path));
        }
    }
}
