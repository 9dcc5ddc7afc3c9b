//! A log of events that cannot be read, as a part: answers name it, and are not exact. For segments see [`super::segments::StoredSegment`].

use crate::column::Column;
use crate::part::{Coded, Part, Span, Unreadable};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use telemetry::Log;

/// A log of events that cannot be read.
#[derive(Debug)]
pub(super) struct UnreadableLog {
    span: Span,
    path: PathBuf,
    cause: String,
}

impl UnreadableLog {
    /// A log with rows that began at `from` to `to`, in milliseconds since the epoch. Their number is unknown.
    pub(super) fn log(from: i64, to: i64, path: PathBuf, cause: String) -> Self {
        Self { span: Span { rows: 1, events: 0, from, to }, path, cause }
    }

    fn unreadable(&self) -> Unreadable {
        Unreadable { what: self.path.display().to_string(), cause: self.cause.clone() }
    }
}

/// Tells the operator of a file that cannot be read.
pub(super) fn report(path: &Path, cause: &dyn Display, log: &Log) {
    log.warn(
        "a file of stored events cannot be read, and answers lack its events",
        &[("file", &path.display()), ("cause", cause)],
    );
}

impl Part for UnreadableLog {
    fn span(&self) -> Span {
        self.span
    }

    fn may_have(&self, _: Column, _: &str) -> bool {
        true
    }

    fn range(&self, _: Column) -> Option<(i64, i64)> {
        None
    }

    fn texts(&self, _: Column) -> Result<Coded, Unreadable> {
        Err(self.unreadable())
    }

    fn numbers(&self, _: Column) -> Result<Vec<i64>, Unreadable> {
        Err(self.unreadable())
    }

    fn bytes(&self, _: Column) -> u64 {
        0
    }
}
