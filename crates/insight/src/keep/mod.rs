//! Keeping: events become rows, which wait in memory.

mod sink;

pub(crate) use sink::KeepSink;

use crate::block::Block;
use crate::insight::{FactsOf, InsightOptions};
use crate::part::Part;
use crate::row::{RepositoryFacts, Row};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use telemetry::{Bound, BoundName, Event, EventId, Millis};

/// Rows of one frozen block.
const BLOCK_ROWS: usize = 1 << 10;
/// The memory of a row, with its share of the texts.
const ROW_BYTES: u64 = 1 << 10;
/// Events that wait for [`Keep::begin`]. A start has a few.
const EARLY_MAX: usize = 256;
/// An event began at most this much before or after the moment that its id names, in milliseconds.
const ID_SPREAD: i64 = 2000;

/// The stored events.
pub(crate) struct Keep {
    facts: OnceLock<FactsOf>,
    rows: Mutex<Rows>,
    memory: Arc<Bound>,
}

/// The rows in memory.
#[derive(Default)]
struct Rows {
    frozen: VecDeque<Arc<Block>>,
    filling: Block,
    /// Events from before the facts of repositories were known.
    early: Vec<Event>,
}

impl Keep {
    pub(crate) fn new(options: InsightOptions) -> Arc<Self> {
        let memory = Bound::new(BoundName::OpenEvents, "", options.memory_bytes);
        Arc::new(Self { facts: OnceLock::new(), rows: Mutex::default(), memory })
    }

    pub(crate) fn bounds(&self) -> Vec<Arc<Bound>> {
        vec![self.memory.clone()]
    }

    pub(crate) fn begin(&self, facts: FactsOf) {
        let mut rows = self.lock();
        let _ = self.facts.set(facts);
        let early = std::mem::take(&mut rows.early);
        self.push(&mut rows, &early);
    }

    /// What is known of a repository; nothing before [`Keep::begin`].
    pub(crate) fn facts_of(&self, name: &str) -> RepositoryFacts {
        self.facts.get().map(|facts| facts(name)).unwrap_or_default()
    }

    /// Takes a batch of events.
    pub(crate) fn take(&self, events: &[Event]) {
        if self.memory.capacity() > 0 {
            self.push(&mut self.lock(), events);
        }
    }

    fn push(&self, rows: &mut Rows, events: &[Event]) {
        let Some(facts) = self.facts.get() else {
            let free = EARLY_MAX - rows.early.len();
            rows.early.extend(events.iter().take(free).cloned());
            self.memory.reject_many(events.len().saturating_sub(free) as u64);
            return;
        };
        let mut known: (&str, RepositoryFacts) = ("", RepositoryFacts::default());
        for event in events {
            let repository = event.subject.repository.as_str();
            if repository != known.0 {
                known = (repository, facts(repository));
            }
            rows.filling.push(&Row::of(event, known.1));
            if rows.filling.span().rows == BLOCK_ROWS {
                let full = std::mem::take(&mut rows.filling);
                rows.frozen.push_back(Arc::new(full));
            }
        }
        let bytes = |rows: &Rows| (rows.frozen.len() * BLOCK_ROWS + rows.filling.span().rows) as u64 * ROW_BYTES;
        while bytes(rows) > self.memory.capacity() && rows.frozen.pop_front().is_some() {
            self.memory.reject_many(BLOCK_ROWS as u64);
        }
        self.memory.observe(bytes(rows));
    }

    /// The parts that may have events which began in `from..to`, the newest first.
    pub(crate) fn parts(&self, from: Millis, to: Millis) -> Vec<Arc<dyn Part>> {
        let rows = self.lock();
        let (filling, frozen) = (Arc::new(rows.filling.clone()), rows.frozen.iter().rev().cloned());
        let all = std::iter::once(filling).chain(frozen).map(|block| block as Arc<dyn Part>);
        let may_have = |part: &Arc<dyn Part>| {
            let span = part.span();
            span.rows > 0 && span.from < to.0 && from.0 <= span.to
        };
        all.filter(may_have).collect()
    }

    /// The parts that may have the event with this id, the likely ones first.
    pub(crate) fn around(&self, id: EventId) -> Vec<Arc<dyn Part>> {
        let at = id.millis().0;
        self.parts(Millis(at - ID_SPREAD), Millis(at + ID_SPREAD))
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
