//! A segment on disk, as a part. Its index is read when a question needs it, and evicted when others need the memory.

use super::names::SegmentName;
use super::open_segments::OpenSegments;
use crate::column::Column;
use crate::part::{Coded, Part, Span, Unreadable};
use crate::segment::Segment;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use telemetry::{Log, lock};

/// A segment on disk. One that cannot be read is a part all the same, so that answers name it, and are not exact.
#[derive(Debug)]
pub(super) struct StoredSegment {
    pub(super) name: SegmentName,
    pub(super) path: PathBuf,
    /// The size of its file.
    pub(super) bytes: u64,
    indexes: Arc<OpenSegments>,
    /// Its id among the open segments.
    id: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// It was not opened yet.
    Unknown,
    /// It was opened. Its index may have been evicted since.
    Readable(Span),
    /// It cannot be read, for this cause, which was logged.
    Damaged(String),
}

impl StoredSegment {
    /// A segment in a folder.
    pub(super) fn new(folder: &Path, name: SegmentName, bytes: u64, indexes: &Arc<OpenSegments>) -> Self {
        let (path, id, state) = (folder.join(name.to_string()), indexes.next_id(), Mutex::new(State::Unknown));
        Self { name, path, bytes, indexes: indexes.clone(), id, state }
    }

    /// A segment that was just written.
    pub(super) fn written(name: SegmentName, segment: Segment, indexes: &Arc<OpenSegments>) -> Self {
        let (path, bytes, id) = (segment.path().to_owned(), segment.file_bytes(), indexes.next_id());
        let state = Mutex::new(State::Readable(segment.span()));
        indexes.insert(id, Arc::new(segment));
        Self { name, path, bytes, indexes: indexes.clone(), id, state }
    }

    /// The segment with its index.
    pub(super) fn open(&self) -> Result<Arc<Segment>, Unreadable> {
        if let Some(segment) = self.indexes.get(self.id) {
            return Ok(segment);
        }
        let mut state = lock(&self.state);
        if let State::Damaged(cause) = &*state {
            return Err(Unreadable::file(&self.path, cause));
        }
        match Segment::open(&self.path) {
            Ok(segment) => {
                *state = State::Readable(segment.span());
                let segment = Arc::new(segment);
                self.indexes.insert(self.id, segment.clone());
                Ok(segment)
            }
            Err(error) => {
                *state = self.damaged(&error.cause);
                Err(error)
            }
        }
    }

    /// A column of it cannot be read.
    pub(super) fn give_up(&self, cause: &str) {
        *lock(&self.state) = self.damaged(cause);
        self.indexes.remove(self.id);
    }

    /// Whether its index is in memory.
    #[cfg(test)]
    pub(super) fn is_open(&self) -> bool {
        self.indexes.get(self.id).is_some()
    }

    fn damaged(&self, cause: &str) -> State {
        report(&self.path, &cause, &self.indexes.log);
        State::Damaged(cause.to_owned())
    }
}

/// Tells the operator of a file that cannot be read.
pub(super) fn report(path: &Path, cause: &dyn Display, log: &Log) {
    log.warn(
        "a file of stored events cannot be read, and answers lack its events",
        &[("file", &path.display()), ("cause", cause)],
    );
}

impl Drop for StoredSegment {
    fn drop(&mut self) {
        self.indexes.remove(self.id);
    }
}

impl Part for StoredSegment {
    fn span(&self) -> Span {
        if let State::Readable(span) = &*lock(&self.state) {
            return *span;
        }
        let SegmentName { from, to, rows, .. } = self.name;
        // It is unknown for how many events the rows of a damaged one stand. So no answer that has to do with it is exact.
        self.open().map_or(Span { rows, events: 0, from, to }, |segment| segment.span())
    }

    fn may_have(&self, column: Column, text: &str) -> bool {
        self.open().map_or(true, |segment| segment.may_have(column, text))
    }

    fn range(&self, column: Column) -> Option<(i64, i64)> {
        self.open().ok()?.range(column)
    }

    fn texts(&self, column: Column) -> Result<Coded, Unreadable> {
        self.open()?.texts(column)
    }

    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        self.open()?.numbers(column)
    }

    fn text(&self, column: Column, row: usize) -> Result<String, Unreadable> {
        self.open()?.text(column, row)
    }

    fn number(&self, column: Column, row: usize) -> Result<i64, Unreadable> {
        self.open()?.number(column, row)
    }

    fn bytes(&self, column: Column) -> u64 {
        self.open().map_or(0, |segment| segment.bytes(column))
    }
}
