//! The store of events: they become rows of a memtable and of a log, until a thread flushes them into a segment.
//!
//! Each log has a number. A segment names the logs whose rows it has, so a start knows which rows are in no segment, whenever the process
//! was killed.

mod backlog;
mod flush;
mod log_writer;
mod maintenance;
mod names;
mod open_segments;
mod quarantine;
mod retention;
mod segment_limits;
mod segments;
mod sink;
mod start_files;
mod thinned;

pub(crate) use sink::StoreSink;

use crate::block::{Block, join};
use crate::memtable::Memtable;
use crate::options::{FactsOf, InsightOptions, Surroundings};
use crate::part::{Part, Span};
use crate::row::{RepositoryFacts, Row};
use crate::sampler::Budget;
use log_writer::LogWriter;
use maintenance::Maintenance;
use names::SegmentName;
use open_segments::OpenSegments;
use quarantine::UnreadableLog;
use segments::StoredSegment;
use start_files::StartFiles;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use telemetry::log::Incident;
use telemetry::{Bound, BoundName, Event, EventId, Log, Millis};

/// The indexes of segments have this part of the memory; the rows that are not in a segment yet have the rest.
const INDEXES_PART: u64 = 8;
/// Events that wait for [`EventStore::begin`]. A start has a few.
const EARLY_MAX: usize = 256;
/// An event began at most this much before or after the moment that its id names, in milliseconds.
const ID_SPREAD: i64 = 2000;

/// The stored events.
pub(crate) struct EventStore {
    options: InsightOptions,
    budget: Arc<Budget>,
    facts: OnceLock<FactsOf>,
    /// Locked before the rows, and never after them.
    intake: Mutex<Intake>,
    rows: Mutex<Rows>,
    memory: Arc<Bound>,
    indexes: Arc<OpenSegments>,
    disk: Arc<Bound>,
    incidents: Incidents,
    maintenance: Maintenance,
}

/// Failures that last, each of which is logged at its begin and its end.
#[derive(Debug, Default)]
struct Incidents {
    /// Writing new rows into the log.
    logging: Incident,
    /// Writing a segment.
    flushing: Incident,
    /// Removing a file.
    removing: Incident,
}

/// The state of the thread of the sink.
#[derive(Default)]
struct Intake {
    /// Events from before the repositories were known.
    early: Vec<Event>,
    log_writer: Option<LogWriter>,
}

/// The rows, in memory and on disk.
#[derive(Default)]
struct Rows {
    memtable: Memtable,
    /// When the first row of the memtable came.
    since: Option<Millis>,
    /// Rows that wait to be written into a segment, in the order of their logs.
    unflushed: Vec<Unflushed>,
    /// In the order of their last moments.
    segments: Vec<Arc<StoredSegment>>,
    /// Logs that cannot be read.
    quarantine: Vec<Arc<UnreadableLog>>,
    /// Segments that others have replaced, or that were removed. Their files go when no question reads them.
    retired: Vec<Arc<StoredSegment>>,
}

/// Rows that wait to be written into a segment.
#[derive(Debug, Clone)]
struct Unflushed {
    /// The number of their log.
    number: u64,
    /// Empty: they are in the log only.
    blocks: Vec<Arc<Block>>,
    /// The log, and its size in bytes. `None`: they are in memory only.
    log: Option<(PathBuf, u64)>,
    /// When its rows began that found no room in memory: the first and the last one. They are in the log only.
    dropped: Option<(i64, i64)>,
}

impl Unflushed {
    /// Whether both are of the same log.
    fn is(&self, other: &Self) -> bool {
        self.number == other.number && self.log == other.log
    }

    /// The size of its log, in bytes.
    fn log_bytes(&self) -> u64 {
        self.log.as_ref().map_or(0, |log| log.1)
    }

    fn memory(&self) -> u64 {
        self.blocks.iter().map(|block| block.memory()).sum()
    }
}

impl Rows {
    fn memory(&self) -> u64 {
        self.memtable.memory() + self.unflushed.iter().map(Unflushed::memory).sum::<u64>()
    }
}

impl EventStore {
    pub(crate) fn new(options: InsightOptions, budget: Arc<Budget>) -> Arc<Self> {
        let of_indexes = options.memory_bytes / INDEXES_PART;
        let memory = Bound::new(BoundName::OpenEvents, "", options.memory_bytes - of_indexes);
        let indexes = OpenSegments::new(of_indexes, options.log.clone());
        let disk = Bound::new(BoundName::KeptEvents, "", options.keep_bytes);
        let (intake, rows) = (Mutex::default(), Mutex::default());
        let (facts, incidents, maintenance) = (OnceLock::new(), Incidents::default(), Maintenance::default());
        Arc::new(Self { options, budget, facts, intake, rows, memory, indexes, disk, incidents, maintenance })
    }

    pub(crate) fn bounds(&self) -> Vec<Arc<Bound>> {
        vec![self.memory.clone(), self.indexes.bound().clone(), self.disk.clone()]
    }

    /// Finds the rows on disk, and begins to store new ones.
    pub(crate) fn begin(self: &Arc<Self>, surroundings: Surroundings) {
        self.look(surroundings);
        if self.options.keep_bytes > 0 {
            maintenance::start(self);
        }
    }

    fn look(&self, surroundings: Surroundings) {
        let Surroundings { folder, facts, above_floor } = surroundings;
        let mut intake = self.intake();
        // It is set once.
        let _ = self.facts.set(facts);
        if self.options.keep_bytes == 0 {
            return;
        }
        match StartFiles::look(&folder, &self.indexes) {
            Ok(found) => {
                let log_writer = LogWriter::new(folder, above_floor, found.next);
                let mut rows = self.rows();
                let waits = |(number, bytes): &(u64, u64)| Unflushed {
                    number: *number,
                    blocks: Vec::new(),
                    log: Some((log_writer.log_path(*number), *bytes)),
                    dropped: None,
                };
                rows.unflushed = found.logs.iter().map(waits).collect();
                rows.segments = found.segments;
                intake.log_writer = Some(log_writer);
            }
            Err(error) => self.not_logged(&error),
        }
        let early = std::mem::take(&mut intake.early);
        self.add(&mut intake, &early);
    }

    /// The kind and the format of a repository; empty before [`EventStore::begin`].
    pub(crate) fn facts_of(&self, name: &str) -> RepositoryFacts {
        self.facts.get().map(|facts| facts(name)).unwrap_or_default()
    }

    /// Takes a batch of events.
    pub(crate) fn take(&self, events: &[Event]) {
        if self.options.keep_bytes > 0 {
            self.add(&mut self.intake(), events);
        }
    }

    fn add(&self, intake: &mut Intake, events: &[Event]) {
        let (Some(facts), Intake { log_writer, .. }) = (self.facts.get(), &mut *intake) else {
            let free = EARLY_MAX.saturating_sub(intake.early.len());
            intake.early.extend(events.iter().take(free).cloned());
            return self.memory.reject_many(events.len().saturating_sub(free) as u64);
        };
        if events.is_empty() {
            return;
        }
        let mut known = ("", RepositoryFacts::default());
        let mut block = Block::default();
        for event in events {
            let repository = event.subject.repository.as_str();
            if repository != known.0 {
                known = (repository, facts(repository));
            }
            block.push(&Row::of(event, known.1));
        }
        let block = Arc::new(block.narrow());
        let logged = log_writer.as_mut().map_or(Ok(()), |writer| writer.append(&block));
        let mut rows = self.rows();
        rows.memtable.add(block);
        rows.since.get_or_insert_with(|| self.options.clock.now());
        let full_log = matches!(&logged, Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge);
        if full_log || self.is_full(&rows, log_writer.as_ref().map_or(0, LogWriter::log_bytes)) {
            self.freeze(&mut rows, log_writer.as_mut());
            self.maintenance.wake();
        }
        self.fit(&mut rows);
        drop(rows);
        match logged {
            Ok(()) => self.incidents.logging.end(|| self.log().info("events are written again", &[])),
            Err(error) => self.not_logged(&error),
        }
    }

    /// Drops the oldest rows until the others fit into the memory. Rows that are in a log are not lost.
    fn fit(&self, rows: &mut Rows) {
        let mut used = rows.memory();
        for place in 0..rows.unflushed.len() {
            if used <= self.memory.capacity() {
                break;
            }
            let unflushed = &mut rows.unflushed[place];
            used -= unflushed.memory();
            let blocks = std::mem::take(&mut unflushed.blocks);
            let span = blocks.iter().map(|block| block.span()).fold(Span::default(), join);
            if span.rows > 0 {
                unflushed.dropped = Some((span.from, span.to));
            }
            if unflushed.log.is_none() {
                self.memory.reject_many(blocks.iter().map(|block| block.span().rows as u64).sum());
            }
        }
        rows.unflushed.retain(|unflushed| unflushed.log.is_some() || !unflushed.blocks.is_empty());
        self.memory.observe(rows.memory());
    }

    /// The parts that may have events which began in `from..to`, the newest first.
    pub(crate) fn parts(&self, from: Millis, to: Millis) -> Vec<Arc<dyn Part>> {
        let within = |span: Span| span.rows > 0 && span.from < to.0 && from.0 <= span.to;
        let rows = self.rows();
        let blocks = rows.unflushed.iter().flat_map(|unflushed| &unflushed.blocks).chain(rows.memtable.blocks());
        let mut parts: Vec<Arc<dyn Part>> = Vec::new();
        parts.extend(blocks.rev().filter(|block| within(block.span())).map(|block| block.clone() as Arc<dyn Part>));
        // A segment is not opened for this.
        let is_within = |name: &SegmentName| within(Span { rows: 1, events: 1, from: name.from, to: name.to });
        let segments = rows.segments.iter().rev().filter(|stored| is_within(&stored.name));
        parts.extend(segments.map(|stored| stored.clone() as Arc<dyn Part>));
        // They are readable again in a moment. Until then an answer says what it lacks.
        let cause = "its events found no room in memory, and are not in a segment yet";
        let dropped = rows.unflushed.iter().filter_map(|rows| {
            let ((path, bytes), (from, to)) = (rows.log.clone()?, rows.dropped?);
            Some(Arc::new(UnreadableLog::new(path, bytes, from, to, cause.to_owned())))
        });
        let unreadable = rows.quarantine.iter().cloned().chain(dropped).filter(|log| within(log.span()));
        parts.extend(unreadable.map(|log| log as Arc<dyn Part>));
        parts
    }

    /// The parts that may have the event with this id.
    pub(crate) fn around(&self, id: EventId) -> Vec<Arc<dyn Part>> {
        let at = id.millis().0;
        self.parts(Millis(at.saturating_sub(ID_SPREAD)), Millis(at.saturating_add(ID_SPREAD)))
    }

    /// Writes all rows into a segment, and ends.
    pub(crate) fn close(&self) {
        self.maintenance.stop();
    }

    fn not_logged(&self, cause: &std::io::Error) {
        let say = || self.log().warn("new events cannot be written, and are kept in memory only", &[("cause", cause)]);
        self.incidents.logging.begin(say);
    }

    /// Tells of a file that could not be removed. Returns whether it was removed.
    fn removed(&self, removed: std::io::Result<()>) -> bool {
        let trouble = &self.incidents.removing;
        match &removed {
            Ok(()) => trouble.end(|| self.log().info("files of events are removed again", &[])),
            Err(cause) => {
                let say = || self.log().warn("a file of events cannot be removed", &[("cause", cause)]);
                trouble.begin(say);
            }
        }
        removed.is_ok()
    }

    fn log(&self) -> &Log {
        &self.options.log
    }

    fn intake(&self) -> MutexGuard<'_, Intake> {
        self.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
