//! Writing rows into segments, and keeping all files within their limits.

use super::names::SegmentName;
use super::place::Place;
use super::retention::{Limits, Step};
use super::segments::Kept;
use super::thinned::Thinned;
use super::{Keep, Rows, Sealing};
use crate::block::Block;
use crate::disk;
use crate::log::Log;
use crate::part::Part;
use crate::segment::{self, NotWritten, Segment};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The rows of a full segment.
const ROWS: usize = 256 * 1024;
/// A segment of so many rows is large enough: it is not joined with the next one.
const ROWS_ENOUGH: usize = 64 * 1024;
/// After this time enough rows become a segment.
const AGE_OF_ENOUGH: Duration = Duration::from_secs(15 * 60);
/// After this time any number of rows becomes a segment.
pub(super) const AGE: Duration = Duration::from_secs(60 * 60);
/// So many segments fit into the disk for events at least, so that the oldest can make room.
pub(super) const SEGMENTS: u64 = 8;
/// Segments are joined if the result has the events of at most this many milliseconds.
const JOINED_MILLIS: i64 = 24 * 60 * 60 * 1000;

impl Keep {
    /// Whether the open rows become a segment at once. They have half of the memory: more come while a segment is written.
    pub(super) fn is_full(&self, rows: &Rows, log_bytes: u64) -> bool {
        rows.open.span().rows >= ROWS
            || rows.open.memory() >= self.memory.capacity() / 2
            || log_bytes >= self.options.keep_bytes / SEGMENTS
    }

    /// Makes the open rows wait for their segment.
    pub(super) fn close_open(&self, rows: &mut Rows, place: Option<&mut Place>) {
        rows.since = None;
        let (number, log) = place.map_or((0, None), Place::next_log);
        let blocks = rows.open.take();
        if !blocks.is_empty() || log.is_some() {
            rows.sealing.push(Sealing { number, blocks, log, dropped: None });
        }
    }

    /// Reads the logs that a killed process left.
    pub(super) fn load(&self) {
        let left: Vec<_> = self.rows().sealing.iter().filter(|sealing| sealing.log.is_some()).cloned().collect();
        for waits in left {
            if let Some(blocks) = self.recover(&waits) {
                let mut rows = self.rows();
                if let Some(sealing) = rows.sealing.iter_mut().find(|other| other.is(&waits)) {
                    sealing.blocks = blocks;
                }
                self.fit(&mut rows);
            }
        }
        self.tender.wake();
    }

    /// The rows of a log. `None`: it cannot be read, and is set aside.
    fn recover(&self, sealing: &Sealing) -> Option<Vec<Arc<Block>>> {
        let (path, _) = sealing.log.as_ref()?;
        let recovered = Log::recover(path).inspect_err(|cause| self.set_aside(sealing, cause)).ok()?;
        if recovered.lost_bytes > 0 {
            let bytes = recovered.lost_bytes;
            self.log().info(
                "a part of a log of events was not complete, and is lost",
                &[("file", &path.display()), ("bytes", &bytes)],
            );
        }
        Some(recovered.blocks.into_iter().map(Arc::new).collect())
    }

    /// Does all that is to do now. The last time, all rows become a segment.
    pub(super) fn tend(&self, last: bool) {
        let (folder, above_floor) = {
            let mut intake = self.intake();
            let mut rows = self.rows();
            if last || self.is_due(&rows) {
                self.close_open(&mut rows, intake.place.as_mut());
            }
            let Some(place) = &intake.place else { return };
            (place.folder().to_owned(), place.above_floor())
        };
        let may_write = above_floor();
        if may_write {
            self.seal_all(&folder);
        }
        self.remove_set_aside();
        self.retain(&folder, may_write);
        self.dispose();
    }

    /// Writes the rows that wait into segments. Those of a segment that cannot be written wait further, and the next ones do not wait for
    /// them.
    fn seal_all(&self, folder: &Path) {
        let (mut tried, mut failed) = (None, None);
        while let Some(sealing) = { self.rows().sealing.iter().find(|one| Some(one.number) > tried).cloned() } {
            tried = Some(sealing.number);
            failed = self.seal(folder, &sealing).err().or(failed);
        }
        match failed {
            Some(error) => self.troubles.sealing.begin(|| {
                self.log().warn("events cannot be written into a segment, and wait for it", &[("cause", &error)]);
            }),
            None => self.troubles.sealing.end(|| self.log().info("segments of events are written again", &[])),
        }
    }

    fn is_due(&self, rows: &Rows) -> bool {
        let Some(since) = rows.since else { return false };
        let (now, enough) = (self.options.clock.now(), rows.open.span().rows >= ROWS_ENOUGH);
        now >= since.plus(AGE) || enough && now >= since.plus(AGE_OF_ENOUGH)
    }

    /// Writes rows into a segment. Then their log is not needed.
    fn seal(&self, folder: &Path, sealing: &Sealing) -> Result<(), NotWritten> {
        let blocks = match (&sealing.log, sealing.blocks.is_empty()) {
            (Some(_), true) => match self.recover(sealing) {
                Some(blocks) => blocks,
                None => return Ok(()),
            },
            _ => sealing.blocks.clone(),
        };
        let before = self.joined(sealing, &blocks);
        let written = match &before {
            Some((kept, segment)) => {
                let first = kept.name.first;
                let all = [&**segment as &dyn Part].into_iter().chain(parts(&blocks));
                self.write(folder, all, first..=sealing.number, 0)
            }
            None => self.write(folder, parts(&blocks), sealing.number..=sealing.number, 0),
        };
        let written = match (written, &before) {
            (Ok(written), _) => Some(written),
            // The rows become a segment of their own.
            (Err(NotWritten::Part(error)), Some((kept, _))) => {
                kept.give_up(&error.cause);
                return self.seal(folder, sealing);
            }
            // The log had only a batch that was not complete.
            (Err(NotWritten::Empty), _) => None,
            // Another attempt would fail as well.
            (Err(NotWritten::Form(cause)), _) => {
                self.log().error("bug in Daylight: events do not become a segment", &[("cause", &cause)]);
                self.disk.reject_many(blocks.iter().map(|block| block.span().rows as u64).sum());
                None
            }
            (Err(error), _) => return Err(error),
        };
        let mut rows = self.rows();
        rows.sealing.retain(|other| !other.is(sealing));
        if let Some((kept, _)) = before.filter(|_| written.is_some()) {
            rows.segments.retain(|other| !Arc::ptr_eq(other, &kept));
            rows.retired.push(kept);
        }
        if let Some(written) = written {
            self.budget.sealed(written.name.rows as u64, written.bytes);
            let at = rows.segments.partition_point(|kept| kept.name.to <= written.name.to);
            rows.segments.insert(at, written);
        }
        self.memory.observe(rows.memory());
        drop(rows);
        if let Some((path, _)) = &sealing.log {
            // If it fails, the next start removes it.
            self.removed(disk::remove(path));
        }
        Ok(())
    }

    /// The segment before, if both together make a better one.
    fn joined(&self, sealing: &Sealing, blocks: &[Arc<Block>]) -> Option<(Arc<Kept>, Arc<Segment>)> {
        let rows: usize = blocks.iter().map(|block| block.span().rows).sum();
        let to = blocks.iter().map(|block| block.span().to).max()?;
        let before = {
            let all = self.rows();
            all.segments.iter().find(|kept| kept.name.last + 1 == sealing.number).cloned()
        };
        let before = before.filter(|kept| {
            let name = &kept.name;
            let small = name.thinned == 0 && name.rows < ROWS_ENOUGH && name.rows + rows <= ROWS;
            small
                && kept.bytes < self.options.keep_bytes / SEGMENTS / 2
                && to.saturating_sub(name.from) <= JOINED_MILLIS
        })?;
        let segment = before.open()?;
        Some((before, segment))
    }

    /// Thins and removes old segments until the others are within the limits.
    fn retain(&self, folder: &Path, may_write: bool) {
        let limits = Limits { bytes: self.options.keep_bytes, age: self.options.keep_time };
        let now = self.options.clock.now();
        loop {
            let step = {
                let logs = self.intake().place.as_ref().map_or(0, Place::log_bytes);
                let rows = self.rows();
                let logs = logs + rows.sealing.iter().filter_map(|sealing| Some(sealing.log.as_ref()?.1)).sum::<u64>();
                let logs = logs + rows.set_aside.iter().map(|log| log.bytes).sum::<u64>();
                let kept = rows.segments.iter().chain(&rows.retired);
                self.disk.observe(logs + kept.map(|kept| kept.bytes).sum::<u64>());
                let segments: Vec<_> = rows.segments.iter().map(|kept| (&kept.name, kept.bytes)).collect();
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
    fn thin(&self, folder: &Path, place: usize) -> Result<Option<Arc<Kept>>, NotWritten> {
        let Some(kept) = self.rows().segments.get(place).cloned() else { return Ok(None) };
        let Some(segment) = kept.open() else { return Ok(None) };
        let thinned = Thinned::of(&*segment)?;
        let logs = kept.name.first..=kept.name.last;
        self.write(folder, std::iter::once(&thinned as &dyn Part), logs, kept.name.thinned + 1).map(Some)
    }

    /// Puts another segment, or none, in the place of one. Only the thread of keeping changes the list.
    fn replace(&self, place: usize, with: Option<Arc<Kept>>) {
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
        retired.retain(|kept| {
            // A question that has just got the segment counts too.
            let in_use = Arc::strong_count(kept) > 1;
            in_use || !self.removed(disk::remove(&kept.path))
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
    ) -> Result<Arc<Kept>, NotWritten> {
        let parts: Vec<&dyn Part> = parts.collect();
        let spans = || parts.iter().map(|part| part.span()).filter(|span| span.rows > 0);
        let rows = spans().map(|span| span.rows).sum();
        let [from, to] =
            [spans().map(|span| span.from).min(), spans().map(|span| span.to).max()].map(Option::unwrap_or_default);
        let (first, last) = logs.into_inner();
        let name = SegmentName { from, to, rows, first, last, thinned };
        let segment = segment::write(&folder.join(name.to_string()), &parts)?;
        Ok(Kept::written(name, segment, &self.indexes))
    }
}

fn parts(blocks: &[Arc<Block>]) -> impl Iterator<Item = &dyn Part> {
    blocks.iter().map(|block| &**block as &dyn Part)
}
