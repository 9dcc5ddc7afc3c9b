//! The segments on disk. The folder alone says which there are.

use super::index_cache::{CachedIndex, IndexCache};
use super::names::{SegmentName, log_number};
use super::unreadable_log;
use crate::column::Column;
use crate::disk;
use crate::part::{Coded, Part, Span, Unreadable};
use crate::segment::Segment;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A segment, as a part. Its index is read when a question needs it, and given up when others need the memory.
///
/// One that cannot be read is a part all the same, so that answers name it, and are not exact.
#[derive(Debug)]
pub(super) struct StoredSegment {
    pub(super) name: SegmentName,
    pub(super) path: PathBuf,
    /// The size of its file.
    pub(super) bytes: u64,
    indexes: Arc<IndexCache>,
    /// The number of its last use.
    used: AtomicU64,
    itself: Weak<Self>,
    opened: Mutex<Opened>,
}

#[derive(Debug)]
enum Opened {
    Not,
    /// It was open before.
    Closed(Span),
    Open(Arc<Segment>),
    /// It cannot be read, for this cause, which was logged.
    UnreadableLog(String),
}

impl StoredSegment {
    fn of(folder: &Path, name: SegmentName, bytes: u64, indexes: &Arc<IndexCache>) -> Arc<Self> {
        let path = folder.join(name.to_string());
        Self::new(name, path, bytes, indexes, Opened::Not)
    }

    /// A segment that was just written.
    pub(super) fn written(name: SegmentName, segment: Segment, indexes: &Arc<IndexCache>) -> Arc<Self> {
        let (path, bytes, memory) = (segment.path().to_owned(), segment.file_bytes(), segment.memory());
        let kept = Self::new(name, path, bytes, indexes, Opened::Open(Arc::new(segment)));
        indexes.opened(kept.itself.clone(), memory);
        kept
    }

    fn new(name: SegmentName, path: PathBuf, bytes: u64, indexes: &Arc<IndexCache>, opened: Opened) -> Arc<Self> {
        let (indexes, used, opened) = (indexes.clone(), AtomicU64::new(indexes.next_use()), Mutex::new(opened));
        Arc::new_cyclic(|itself| Self { name, path, bytes, indexes, used, itself: itself.clone(), opened })
    }

    /// The open segment. `None`: it cannot be read.
    pub(super) fn open(&self) -> Option<Arc<Segment>> {
        self.look().ok()
    }

    /// A column of it cannot be read.
    pub(super) fn give_up(&self, cause: &str) {
        *self.lock() = Opened::UnreadableLog(self.report(cause));
    }

    /// Whether its index is in memory.
    #[cfg(test)]
    pub(super) fn is_open(&self) -> bool {
        matches!(*self.lock(), Opened::Open(_))
    }

    fn look(&self) -> Result<Arc<Segment>, Unreadable> {
        self.used.store(self.indexes.next_use(), Relaxed);
        let mut opened = self.lock();
        match &*opened {
            Opened::Open(segment) => return Ok(segment.clone()),
            Opened::UnreadableLog(cause) => return Err(self.unreadable(cause)),
            Opened::Not | Opened::Closed(_) => {}
        }
        match Segment::open(&self.path) {
            Ok(segment) => {
                let memory = segment.memory();
                let segment = Arc::new(segment);
                *opened = Opened::Open(segment.clone());
                drop(opened);
                self.indexes.opened(self.itself.clone(), memory);
                Ok(segment)
            }
            Err(error) => {
                *opened = Opened::UnreadableLog(self.report(&error.cause));
                Err(self.unreadable(&error.cause))
            }
        }
    }

    fn report(&self, cause: &str) -> String {
        unreadable_log::report(&self.path, &cause, self.indexes.log());
        cause.to_owned()
    }

    fn unreadable(&self, cause: &str) -> Unreadable {
        Unreadable { what: self.path.display().to_string(), cause: cause.to_owned() }
    }

    fn lock(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedIndex for StoredSegment {
    fn last_use(&self) -> u64 {
        self.used.load(Relaxed)
    }

    fn close(&self) {
        let mut opened = self.lock();
        if let Opened::Open(segment) = &*opened {
            *opened = Opened::Closed(segment.span());
        }
    }
}

impl Part for StoredSegment {
    fn span(&self) -> Span {
        if let Opened::Closed(span) = &*self.lock() {
            return *span;
        }
        let SegmentName { from, to, rows, .. } = self.name;
        // Of one that cannot be read nobody knows how many events the rows stand for. So no answer that has to do with it is exact.
        self.look().map_or(Span { rows, events: 0, from, to }, |segment| segment.span())
    }

    fn may_have(&self, column: Column, text: &str) -> bool {
        self.look().map_or(true, |segment| segment.may_have(column, text))
    }

    fn range(&self, column: Column) -> Option<(i64, i64)> {
        self.look().ok()?.range(column)
    }

    fn texts(&self, column: Column) -> Result<Coded, Unreadable> {
        self.look()?.texts(column)
    }

    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        self.look()?.numbers(column)
    }

    fn text(&self, column: Column, row: usize) -> Result<String, Unreadable> {
        self.look()?.text(column, row)
    }

    fn number(&self, column: Column, row: usize) -> Result<i64, Unreadable> {
        self.look()?.number(column, row)
    }

    fn bytes(&self, column: Column) -> u64 {
        self.look().map_or(0, |segment| segment.bytes(column))
    }
}

/// The files that a start finds.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// In the order of their last moments.
    pub(super) segments: Vec<Arc<StoredSegment>>,
    /// The numbers and sizes of logs whose rows are in no segment.
    pub(super) logs: Vec<(u64, u64)>,
    /// The number of the next log.
    pub(super) next: u64,
}

impl Found {
    /// Looks into the folder, which it makes if it does not exist. Removes files that are incomplete or that other files replace:
    /// a killed process may leave both.
    pub(super) fn look(folder: &Path, indexes: &Arc<IndexCache>) -> io::Result<Self> {
        disk::make_folder(folder)?;
        disk::sweep(folder)?;
        let files = disk::files(folder)?;
        let named = files.iter().filter_map(|(file, bytes)| Some((SegmentName::read(file)?, file, *bytes)));
        let named: Vec<_> = named.collect();
        // Only a file that can be read replaces others: a name alone is no reason to remove events.
        let is_whole = |name: &SegmentName| Segment::open(&folder.join(name.to_string())).is_ok();
        let replaced = |name: &SegmentName| named.iter().any(|(other, ..)| other.replaces(name) && is_whole(other));
        let mut found = Self::default();
        for (name, file, bytes) in &named {
            found.next = found.next.max(name.last + 1);
            match replaced(name) {
                true => disk::remove(&folder.join(file))?,
                false => found.segments.push(StoredSegment::of(folder, name.clone(), *bytes, indexes)),
            }
        }
        for (file, bytes) in &files {
            let Some(number) = log_number(file) else { continue };
            found.next = found.next.max(number + 1);
            match named.iter().any(|(name, ..)| (name.first..=name.last).contains(&number) && is_whole(name)) {
                true => disk::remove(&folder.join(file))?,
                false => found.logs.push((number, *bytes)),
            }
        }
        found.logs.sort_unstable();
        found.segments.sort_by_key(|kept| (kept.name.to, kept.name.first));
        Ok(found)
    }
}
