//! The handle of the stored events: it stores them, and answers questions about them.

use crate::ask::{Answer, Asker, AskerOptions, Parts, Question, RollupSource, counted};
use crate::event_json;
use crate::options::{InsightOptions, Surroundings};
use crate::part::{Part, Unreadable};
use crate::rollup::{RollupOptions, Rollups};
use crate::sampler::{Budget, Goal, Sampler};
use crate::store::{EventStore, StoreSink};
use std::sync::Arc;
use telemetry::{Bound, Census, Clock, EventId, Log, Millis, Sink};

/// The stored events. One for each server.
pub struct Insight {
    store: Arc<EventStore>,
    rollups: Arc<Rollups>,
    /// The bytes for rollups.
    rollup_bytes: u64,
    budget: Arc<Budget>,
    clock: Clock,
    log: Log,
    scans: RollupSource,
    asker: Asker,
}

/// Answers a question from the counts of minutes and hours at once. `None`: it needs events, or nothing is counted yet.
pub type Counts = Arc<dyn Fn(Question) -> Option<Answer> + Send + Sync>;

impl Insight {
    /// The handle. Its sink may be used at once; events before [`Insight::begin`] wait in memory.
    pub fn new(mut options: InsightOptions) -> Arc<Self> {
        let (clock, log, memory_bytes) = (options.clock.clone(), options.log.clone(), options.ask_memory_bytes);
        let rollup_bytes = options.keep_bytes / Self::ROLLUP_SHARE;
        options.keep_bytes -= rollup_bytes;
        let budget = Budget::new(options.keep_bytes);
        let (store, rollups) = (EventStore::new(options, budget.clone()), Rollups::new());
        let parts: Parts = {
            let store = store.clone();
            Arc::new(move |from, to| store.parts(from, to))
        };
        let scans: RollupSource = {
            let (rollups, parts) = (rollups.clone(), parts.clone());
            Arc::new(move |question| {
                let scan = rollups.scan(question)?;
                // Older events have no rollups if these were lost or removed, or if an earlier version stored the events.
                let since = rollups.since()?;
                let older = |part: &Arc<dyn Part>| part.span().from < since.0;
                let is_missing =
                    question.from < since && parts(question.from, since.min(question.to)).iter().any(older);
                (!is_missing).then_some(scan)
            })
        };
        let options =
            AskerOptions { parts, rollups: Some(scans.clone()), memory_bytes, clock: clock.clone(), log: log.clone() };
        let asker = Asker::start(options);
        Arc::new(Self { store, rollups, rollup_bytes, budget, clock, log, scans, asker })
    }

    /// Rollups have this share of the bytes for events.
    const ROLLUP_SHARE: u64 = 8;

    /// The census that counts every event, stored or not.
    pub fn rollups(&self) -> Box<dyn Census> {
        self.rollups.census()
    }

    /// The census that samples the events to store: so many a second beside the events that are stored whole, or as many as the budget
    /// of bytes allows.
    pub fn sampler(&self, stored_per_second: Option<u32>) -> Box<dyn Census> {
        let goal = stored_per_second.map_or_else(|| Goal::auto(self.budget.clone()), Goal::Number);
        let store = self.store.clone();
        Box::new(Sampler::new(self.clock.clone(), goal, move |name| store.facts_of(name)))
    }

    /// The sink that takes the sampled events.
    pub fn sink(&self) -> Box<dyn Sink> {
        Box::new(StoreSink(self.store.clone()))
    }

    /// Opens the folder, and starts the threads that write. If the folder cannot be used, the log tells, and events are kept in memory only.
    pub fn begin(&self, surroundings: Surroundings) {
        if self.rollup_bytes > 0 {
            let surroundings = Surroundings { folder: surroundings.folder.join("counts"), ..surroundings.clone() };
            let (bytes, clock, log) = (self.rollup_bytes, self.clock.clone(), self.log.clone());
            if let Err(error) = self.rollups.start(RollupOptions { surroundings, bytes, clock, log }) {
                self.log.error("events are not counted by minute and hour", &[("error", &error)]);
            }
        }
        self.store.begin(surroundings);
    }

    /// The parts that may have events which began in `from..to`, the newest first. A part stays readable for as long as it is held, also
    /// if it is removed meanwhile.
    pub fn parts(&self, from: Millis, to: Millis) -> Vec<Arc<dyn Part>> {
        self.store.parts(from, to)
    }

    /// The moment of the oldest stored event since `from`. `None`: there is none.
    pub fn kept_since(&self, from: Millis) -> Option<Millis> {
        let parts = self.store.parts(from, Millis(i64::MAX));
        parts.iter().map(|part| Millis(part.span().from.max(from.0))).min()
    }

    /// The event with this id, as a JSON object with the keys of [`telemetry::Event::json`]. Operations that share a column are in the
    /// key of that column, unless the event was stored whole.
    ///
    /// # Errors
    /// If a part that may have the event cannot be read.
    pub fn event(&self, id: EventId) -> Result<Option<serde_json::Value>, Unreadable> {
        event_json::find(&self.store.around(id), id)
    }

    /// Answers questions.
    pub fn asker(&self) -> &Asker {
        &self.asker
    }

    /// Answers questions from counts, on the thread of the caller.
    pub fn counts(&self) -> Counts {
        let scans = self.scans.clone();
        Arc::new(move |question| {
            let scan = scans(&question)?;
            counted::answer(question, scan)
        })
    }

    /// The bounds of the memory, of the disk and of questions, to be registered.
    pub fn bounds(&self) -> Vec<Arc<Bound>> {
        self.store.bounds().into_iter().chain(self.rollups.bounds()).chain(self.asker.bounds()).collect()
    }

    /// Writes the events in memory into a segment, and ends the threads. Call it after the sinks were flushed.
    pub fn close(&self) {
        self.rollups.stop();
        self.store.close();
    }
}

impl Drop for Insight {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests;

impl std::fmt::Debug for Insight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Insight").finish_non_exhaustive()
    }
}
