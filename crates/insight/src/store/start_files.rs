//! The files that a start finds. The folder alone says which there are.

use super::names::{SegmentName, log_number};
use super::open_segments::OpenSegments;
use super::segments::StoredSegment;
use crate::disk;
use crate::segment::Segment;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The files that a start finds.
#[derive(Debug, Default)]
pub(super) struct StartFiles {
    /// In the order of their last moments.
    pub(super) segments: Vec<Arc<StoredSegment>>,
    /// The numbers and sizes of logs whose rows are in no segment.
    pub(super) logs: Vec<(u64, u64)>,
    /// The number of the next log.
    pub(super) next: u64,
}

impl StartFiles {
    /// Looks into the folder, which it makes if it does not exist. Removes files that are incomplete or that other files replace:
    /// a killed process may leave both.
    pub(super) fn look(folder: &Path, indexes: &Arc<OpenSegments>) -> io::Result<Self> {
        let files = disk::open_folder(folder)?;
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
                false => found.segments.push(Arc::new(StoredSegment::new(folder, name.clone(), *bytes, indexes))),
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
        found.segments.sort_by_key(|stored| (stored.name.to, stored.name.first));
        Ok(found)
    }
}
