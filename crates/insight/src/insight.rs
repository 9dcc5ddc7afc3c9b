//! The handle of the stored events: it takes them, keeps them, and gives them to questions.

use crate::ask::{Answer, Asker, AskerOptions, Caller, NotAnswered, Question, Shortcut};
use crate::event_json;
use crate::keep::{Keep, KeepSink};
use crate::options::{InsightOptions, Surroundings};
use crate::part::{Part, Unreadable};
use crate::rate::{Budget, Goal, Rate};
use crate::roll::{RollupOptions, Rollups};
use std::fmt;
use std::sync::Arc;
use telemetry::{Bound, Census, Clock, EventId, Log, Millis, Sink};

/// The stored events. One for each server.
#[derive(Debug)]
pub struct Insight {
    keep: Arc<Keep>,
    rollups: Arc<Rollups>,
    /// The bytes for counts.
    counts_bytes: u64,
    budget: Arc<Budget>,
    clock: Clock,
    log: Log,
    /// `None`: its thread could not be started.
    asker: Option<Asker>,
}

impl Insight {
    /// The handle. Its sink may be used at once; events before [`Insight::begin`] wait in memory.
    pub fn new(mut options: InsightOptions) -> Arc<Self> {
        let (clock, log, memory_bytes) = (options.clock.clone(), options.log.clone(), options.ask_memory_bytes);
        let counts_bytes = options.keep_bytes / Self::COUNTS_SHARE;
        options.keep_bytes -= counts_bytes;
        let budget = Budget::new(options.keep_bytes);
        let keep = Keep::new(options, budget.clone());
        let kept = keep.clone();
        let parts = move |from, to| kept.parts(from, to);
        let rollups = Rollups::new();
        let (counts, kept) = (rollups.clone(), keep.clone());
        let shortcut: Shortcut = Arc::new(move |question| {
            let counted = counts.counted(question)?;
            // Older events have no counts if these were lost or removed, or if an earlier version stored the events.
            let since = counts.since()?;
            let older = |part: &Arc<dyn Part>| part.span().from < since.0;
            let uncounted =
                question.from < since && kept.parts(question.from, since.min(question.to)).iter().any(older);
            (!uncounted).then_some(counted)
        });
        let (parts, shortcut) = (Arc::new(parts), Some(shortcut));
        let options = AskerOptions { parts, shortcut, memory_bytes, clock: clock.clone() };
        let asker = Asker::start(options);
        let failed =
            |error: &std::io::Error| log.error("no thread answers questions about events", &[("error", error)]);
        let asker = asker.inspect_err(failed).ok();
        Arc::new(Self { keep, rollups, counts_bytes, budget, clock, log, asker })
    }

    /// Counts have this share of the bytes for events.
    const COUNTS_SHARE: u64 = 8;

    /// The census that counts every event, stored or not.
    pub fn counts(&self) -> Box<dyn Census> {
        self.rollups.census()
    }

    /// The census that chooses the events that are stored: so many a second beside the events that are stored whole, or as many as the budget
    /// of bytes allows.
    pub fn rate(&self, stored_per_second: Option<u32>) -> Box<dyn Census> {
        let goal = stored_per_second.map_or_else(|| Goal::auto(self.budget.clone()), Goal::Number);
        let keep = self.keep.clone();
        Box::new(Rate::new(self.clock.clone(), goal, move |name| keep.facts_of(name)))
    }

    /// The bytes that stored events may take, and what one takes.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// The sink that takes the sampled events.
    pub fn sink(&self) -> Box<dyn Sink> {
        Box::new(KeepSink(self.keep.clone()))
    }

    /// Begins to keep events: finds those on disk, and starts the thread that writes. If the folder cannot be used, the log tells, and events
    /// are kept in memory only.
    pub fn begin(&self, surroundings: Surroundings) {
        let Surroundings { folder, facts, above_floor } = surroundings;
        let (facts, above_floor) = (Arc::new(facts), Arc::new(above_floor));
        let (of_counts, floor_of_counts) = (facts.clone(), above_floor.clone());
        let counts = RollupOptions {
            folder: folder.join("counts"),
            bytes: self.counts_bytes,
            clock: self.clock.clone(),
            log: self.log.clone(),
            facts: Box::new(move |name| of_counts(name)),
            above_floor: Box::new(move || floor_of_counts()),
        };
        if self.counts_bytes > 0
            && let Err(error) = self.rollups.start(counts)
        {
            self.log.error("events are not counted by minute and hour", &[("error", &error)]);
        }
        let (facts, above_floor) = (Box::new(move |name: &str| facts(name)), Box::new(move || above_floor()));
        self.keep.begin(Surroundings { folder, facts, above_floor });
    }

    /// The parts that may have events which began in `from..to`, the newest first. A part stays readable for as long as it is held, also
    /// if it is removed meanwhile.
    pub fn parts(&self, from: Millis, to: Millis) -> Vec<Arc<dyn Part>> {
        self.keep.parts(from, to)
    }

    /// The moment of the oldest event since `from` that is kept. `None`: none is.
    pub fn kept_since(&self, from: Millis) -> Option<Millis> {
        let parts = self.keep.parts(from, Millis(i64::MAX));
        parts.iter().map(|part| Millis(part.span().from.max(from.0))).min()
    }

    /// The event with this id, as a JSON object with the keys of [`telemetry::Event::json`]. Operations that share a column are in the
    /// key of that column, unless the event was stored whole.
    ///
    /// # Errors
    /// If a part that may have the event cannot be read.
    pub fn event(&self, id: EventId) -> Result<Option<serde_json::Value>, Unreadable> {
        event_json::find(&self.keep.around(id), id)
    }

    /// Sets the most questions that are being answered at once, or whose partial answers are kept, and how many may be of one caller.
    pub fn limit_questions(&self, most: u64, each: u64) {
        if let Some(asker) = &self.asker {
            asker.limit(most, each);
        }
    }

    /// Answers a question. `done` is called once, as by [`Asker::ask`]: it must not wait.
    pub fn ask(
        &self,
        question: Question,
        caller: Caller,
        done: impl FnOnce(Result<Answer, NotAnswered>) + Send + 'static,
    ) {
        match &self.asker {
            Some(asker) => asker.ask(question, caller, done),
            None => done(Err(NotAnswered::Stopped)),
        }
    }

    /// Continues with a partial answer, as [`Asker::more`] does. `done` must not wait.
    pub fn more(
        &self,
        next: &str,
        caller: u64,
        wait_ms: u64,
        done: impl FnOnce(Result<Answer, NotAnswered>) + Send + 'static,
    ) {
        match &self.asker {
            Some(asker) => asker.more(next, caller, wait_ms, done),
            None => done(Err(NotAnswered::Stopped)),
        }
    }

    /// The bounds of the memory, of the disk and of questions, to be registered.
    pub fn bounds(&self) -> Vec<Arc<Bound>> {
        let asker = self.asker.iter().flat_map(Asker::bounds);
        self.keep.bounds().into_iter().chain(self.rollups.bounds()).chain(asker).collect()
    }

    /// Ends keeping: writes the events in memory into a segment. Call it after the sinks were flushed.
    pub fn close(&self) {
        self.rollups.stop();
        self.keep.close();
    }
}

impl Drop for Insight {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keep").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
