//! The segments on disk. The folder alone says which there are.

use super::damaged::{self, Damaged};
use super::names::{SegmentName, log_number};
use crate::disk;
use crate::part::Part;
use crate::segment::Segment;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use telemetry::Log;

/// A segment, which is opened when a question first needs it.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) name: SegmentName,
    pub(super) path: PathBuf,
    /// The size of its file.
    pub(super) bytes: u64,
    opened: Mutex<Opened>,
}

#[derive(Debug)]
enum Opened {
    Not,
    Open(Arc<Segment>),
    /// It cannot be read for this cause, which the log was told.
    Damaged(String),
}

impl Kept {
    fn of(folder: &Path, name: SegmentName, bytes: u64) -> Arc<Self> {
        let path = folder.join(name.to_string());
        Arc::new(Self { name, path, bytes, opened: Mutex::new(Opened::Not) })
    }

    /// A segment that was just written.
    pub(super) fn written(name: SegmentName, segment: Segment) -> Arc<Self> {
        let (path, bytes) = (segment.path().to_owned(), segment.file_bytes());
        Arc::new(Self { name, path, bytes, opened: Mutex::new(Opened::Open(Arc::new(segment))) })
    }

    /// The open segment. `None`: it cannot be read.
    pub(super) fn open(&self, log: &Log) -> Option<Arc<Segment>> {
        self.look(log).ok()
    }

    /// The segment, for questions. One that cannot be read is a part all the same, so that answers name it.
    pub(super) fn part(&self, log: &Log) -> Arc<dyn Part> {
        match self.look(log) {
            Ok(segment) => segment,
            Err(cause) => Arc::new(Damaged::segment(&self.name, self.path.clone(), cause)),
        }
    }

    /// A column of it cannot be read.
    pub(super) fn give_up(&self, cause: &str, log: &Log) {
        *self.lock() = Opened::Damaged(self.report(cause, log));
    }

    fn look(&self, log: &Log) -> Result<Arc<Segment>, String> {
        let mut opened = self.lock();
        if let Opened::Not = *opened {
            *opened = match Segment::open(&self.path) {
                Ok(segment) => Opened::Open(Arc::new(segment)),
                Err(error) => Opened::Damaged(self.report(&error.cause, log)),
            };
        }
        match &*opened {
            Opened::Open(segment) => Ok(segment.clone()),
            Opened::Damaged(cause) => Err(cause.clone()),
            Opened::Not => Err(String::new()),
        }
    }

    fn report(&self, cause: &str, log: &Log) -> String {
        damaged::report(&self.path, &cause, log);
        cause.to_owned()
    }

    fn lock(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a question still reads it. It was asked for before.
    pub(super) fn is_in_use(&self) -> bool {
        match &*self.lock() {
            Opened::Open(segment) => Arc::strong_count(segment) > 1,
            Opened::Not | Opened::Damaged(_) => false,
        }
    }
}

/// The files that a start finds.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// In the order of their last moments.
    pub(super) segments: Vec<Arc<Kept>>,
    /// The numbers and sizes of logs whose rows are in no segment.
    pub(super) logs: Vec<(u64, u64)>,
    /// The number of the next log.
    pub(super) next: u64,
}

impl Found {
    /// Looks into the folder, which it makes if it does not exist. Removes files that are incomplete or that other files replace:
    /// a killed process may leave both.
    pub(super) fn look(folder: &Path) -> io::Result<Self> {
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
                false => found.segments.push(Kept::of(folder, name.clone(), *bytes)),
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
