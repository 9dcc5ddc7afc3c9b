//! Flushes rows into segments, and enforces the limits of all files.

use super::backlog::Batch;
use super::log_writer::LogWriter;
use super::names::SegmentName;
use super::retention::{Limits, Step};
use super::segment_limits::{JOINED_MILLIS, ROWS, ROWS_ENOUGH, SEGMENTS};
use super::segments::StoredSegment;
use super::thinned::Thinned;
use super::{EventStore, Rows, Unflushed};
use crate::block::{Block, join};
use crate::disk;
use crate::log::Log;
use crate::part::{Part, Span};
use crate::segment::{self, NotWritten, Segment};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// After this time enough rows become a segment.
const AGE_OF_ENOUGH: Duration = Duration::from_secs(15 * 60);
/// After this time any number of rows becomes a segment.
pub(super) const AGE: Duration = Duration::from_secs(60 * 60);

impl EventStore {
    /// Whether the memtable is frozen at once. They have half of the memory: more come while a segment is written.
    pub(super) fn is_full(&self, rows: &Rows, log_bytes: u64) -> bool {
        rows.memtable.span().rows >= ROWS
            || rows.memtable.memory() >= self.memory.capacity() / 2
            || log_bytes >= self.options.keep_bytes / SEGMENTS
    }

    /// Freezes the memtable: its rows wait for their flush, and new ones get the next log.
    pub(super) fn freeze(&self, rows: &mut Rows, log_writer: Option<&mut LogWriter>) {
        rows.since = None;
        let (number, log) = log_writer.map_or((0, None), LogWriter::next_log);
        let blocks = rows.memtable.take();
        if !blocks.is_empty() || log.is_some() {
            rows.unflushed.push(Unflushed { number, blocks, log, dropped: None });
        }
    }

    /// Reads the logs that a killed process left.
    pub(super) fn load(&self) {
        let left: Vec<_> = self.rows().unflushed.iter().filter(|unflushed| unflushed.log.is_some()).cloned().collect();
        for waits in left {
            if let Some(blocks) = self.recover(&waits) {
                let mut rows = self.rows();
                if let Some(unflushed) = rows.unflushed.iter_mut().find(|other| other.is(&waits)) {
                    unflushed.blocks = blocks;
                }
                self.fit(&mut rows);
            }
        }
    }

    /// The rows of a log. `None`: it cannot be read, and is set aside.
    pub(super) fn recover(&self, unflushed: &Unflushed) -> Option<Vec<Arc<Block>>> {
        let (path, _) = unflushed.log.as_ref()?;
        let recovered = Log::recover(path).inspect_err(|cause| self.quarantine(unflushed, cause)).ok()?;
        if recovered.lost_bytes > 0 {
            let bytes = recovered.lost_bytes;
            self.log().info(
                "a part of a log of events was not complete, and is lost",
                &[("file", &path.display()), ("bytes", &bytes)],
            );
        }
        Some(recovered.blocks)
    }

    /// Flushes and removes whatever is due. The last time, all rows become a segment.
    pub(super) fn maintain(&self, last: bool) {
        let (folder, above_floor) = {
            let mut intake = self.intake();
            let mut rows = self.rows();
            if last || self.is_due(&rows) {
                self.freeze(&mut rows, intake.log_writer.as_mut());
            }
            let Some(log_writer) = &intake.log_writer else { return };
            (log_writer.folder().to_owned(), log_writer.above_floor())
        };
        let may_write = above_floor();
        if may_write {
            self.flush_all(&folder);
        }
        self.expire_quarantine();
        self.retain(&folder, may_write);
        self.dispose();
    }

    /// Writes the rows that wait into segments. Those of a segment that cannot be written wait further, and the next ones do not wait for
    /// them.
    fn flush_all(&self, folder: &Path) {
        let (mut tried, mut failed) = (None, None);
        while let Some(batch) = self.batch(tried) {
            tried = Some(*batch.numbers().end());
            failed = self.flush(folder, &batch).err().or(failed);
        }
        match failed {
            Some(error) => self.incidents.flushing.begin(|| {
                self.log().warn("events cannot be written into a segment, and wait for it", &[("cause", &error)]);
            }),
            None => self.incidents.flushing.end(|| self.log().info("segments of events are written again", &[])),
        }
    }

    fn is_due(&self, rows: &Rows) -> bool {
        let Some(since) = rows.since else { return false };
        let (now, enough) = (self.options.clock.now(), rows.memtable.span().rows >= ROWS_ENOUGH);
        now >= since.plus(AGE) || enough && now >= since.plus(AGE_OF_ENOUGH)
    }

    /// Writes rows into a segment. Then their logs are not needed.
    fn flush(&self, folder: &Path, batch: &Batch) -> Result<(), NotWritten> {
        let before = self.joined(batch);
        let written = match &before {
            Some((stored, segment)) => {
                let all = [&**segment as &dyn Part].into_iter().chain(batch.parts());
                self.write(folder, all, stored.name.first..=*batch.numbers().end(), 0)
            }
            None => self.write(folder, batch.parts(), batch.numbers(), 0),
        };
        let written = match (written, &before) {
            (Ok(written), _) => Some(written),
            // The rows become a segment of their own.
            (Err(NotWritten::Part(error)), Some((stored, _))) => {
                stored.give_up(&error.cause);
                return self.flush(folder, batch);
            }
            // The logs had only batches that were not complete.
            (Err(NotWritten::Empty), _) => None,
            // The rows of the other logs may become segments.
            (Err(NotWritten::Form(_)), _) if batch.logs.len() > 1 => {
                return batch.one_by_one().map(|one| self.flush(folder, &one)).fold(Ok(()), Result::and);
            }
            // Another attempt would fail as well.
            (Err(NotWritten::Form(cause)), _) => {
                self.log().error("bug in Daylight: events do not become a segment", &[("cause", &cause)]);
                self.disk.reject_many(batch.span().rows as u64);
                None
            }
            (Err(error), _) => return Err(error),
        };
        let mut rows = self.rows();
        rows.unflushed.retain(|other| !batch.logs.iter().any(|log| other.is(log)));
        if let Some((stored, _)) = before.filter(|_| written.is_some()) {
            rows.segments.retain(|other| !Arc::ptr_eq(other, &stored));
            rows.retired.push(stored);
        }
        if let Some(written) = written {
            self.budget.flushed(written.name.rows as u64, written.bytes);
            let at = rows.segments.partition_point(|stored| stored.name.to <= written.name.to);
            rows.segments.insert(at, written);
        }
        self.memory.observe(rows.memory());
        drop(rows);
        for (path, _) in batch.logs.iter().filter_map(|log| log.log.as_ref()) {
            // If it fails, the next start removes it.
            self.removed(disk::remove(path));
        }
        Ok(())
    }

    /// The segment before, if both together make a better one.
    fn joined(&self, batch: &Batch) -> Option<(Arc<StoredSegment>, Arc<Segment>)> {
        let Span { rows, to, .. } = batch.span();
        let before = {
            let all = self.rows();
            all.segments.iter().find(|stored| stored.name.last + 1 == *batch.numbers().start()).cloned()
        };
        let before = before.filter(|stored| {
            let name = &stored.name;
            let small = name.thinned == 0 && name.rows < ROWS_ENOUGH && name.rows + rows <= ROWS;
            small
                && rows > 0
                && stored.bytes < self.options.keep_bytes / SEGMENTS / 2
                && to.saturating_sub(name.from) <= JOINED_MILLIS
        })?;
        let segment = before.open().ok()?;
        Some((before, segment))
    }

    /// Thins and removes old segments until the others are within the limits.
    fn retain(&self, folder: &Path, may_write: bool) {
        let limits = Limits { bytes: self.options.keep_bytes, age: self.options.keep_time };
        let now = self.options.clock.now();
        loop {
            let step = {
                let logs = self.intake().log_writer.as_ref().map_or(0, LogWriter::log_bytes);
                let rows = self.rows();
                let logs =
                    logs + rows.unflushed.iter().filter_map(|unflushed| Some(unflushed.log.as_ref()?.1)).sum::<u64>();
                let logs = logs + rows.quarantine.iter().map(|log| log.bytes).sum::<u64>();
                let stored = rows.segments.iter().chain(&rows.retired);
                self.disk.observe(logs + stored.map(|stored| stored.bytes).sum::<u64>());
                let segments: Vec<_> = rows.segments.iter().map(|stored| (&stored.name, stored.bytes)).collect();
                limits.next(&segments, logs, now)
            };
            match step {
                None => return,
                // It would need room before it frees some.
                Some(Step::Thin(_)) if !may_write => return,
                Some(Step::Remove(place)) => self.replace(place, None),
                Some(Step::Thin(place)) => match self.thin(folder, place) {
                    Ok(thinned) => self.replace(place, thinned),
                    Err(error) => {
                        self.log().warn("old events cannot be thinned, and are removed", &[("cause", &error)]);
                        self.replace(place, None);
                    }
                },
            }
            self.dispose();
        }
    }

    /// Writes a thinned copy of a segment. `None`: it cannot be read.
    fn thin(&self, folder: &Path, place: usize) -> Result<Option<Arc<StoredSegment>>, NotWritten> {
        let Some(stored) = self.rows().segments.get(place).cloned() else { return Ok(None) };
        let Ok(segment) = stored.open() else { return Ok(None) };
        let thinned = Thinned::of(&*segment)?;
        let logs = stored.name.first..=stored.name.last;
        self.write(folder, std::iter::once(&thinned as &dyn Part), logs, stored.name.thinned + 1).map(Some)
    }

    /// Puts another segment, or none, in the place of one. Only the maintenance thread changes the list.
    fn replace(&self, place: usize, with: Option<Arc<StoredSegment>>) {
        let mut rows = self.rows();
        let old = match with {
            Some(with) => std::mem::replace(&mut rows.segments[place], with),
            None => rows.segments.remove(place),
        };
        rows.retired.push(old);
    }

    /// Removes the files that no question reads any more.
    fn dispose(&self) {
        let mut retired = std::mem::take(&mut self.rows().retired);
        retired.retain(|stored| {
            // A question that has just got the segment counts too.
            let in_use = Arc::strong_count(stored) > 1;
            in_use || !self.removed(disk::remove(&stored.path))
        });
        self.rows().retired.append(&mut retired);
    }

    /// Writes parts as the segment of these logs.
    fn write<'p>(
        &self,
        folder: &Path,
        parts: impl Iterator<Item = &'p dyn Part>,
        logs: RangeInclusive<u64>,
        thinned: u8,
    ) -> Result<Arc<StoredSegment>, NotWritten> {
        let parts: Vec<&dyn Part> = parts.collect();
        let Span { rows, from, to, .. } = parts.iter().map(|part| part.span()).fold(Span::default(), join);
        let (first, last) = logs.into_inner();
        let name = SegmentName { from, to, rows, first, last, thinned };
        let segment = segment::write(&folder.join(name.to_string()), &parts)?;
        Ok(Arc::new(StoredSegment::written(name, segment, &self.indexes)))
    }
}
