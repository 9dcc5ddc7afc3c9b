//! How far a question has seen its parts.

use super::answer::{Answer, Cost, NotAnswered, Seen};
use super::columns::Columns;
use super::question::Question;
use crate::part::{Part, Unreadable};
use std::sync::Arc;

/// A question that was begun. It is answered in steps, between which others get their turn.
pub(super) trait Steps: Send {
    /// Whether nothing more is seen.
    fn is_done(&self) -> bool;
    /// Whether a part was begun: some of its columns are in memory.
    fn is_within_part(&self) -> bool;
    /// An estimate of the memory that is used, in bytes.
    fn memory(&self) -> usize;
    /// Sees some of a part. After it the tables have at most so many bytes. Returns whether groups were dropped for that.
    fn step(&mut self, memory: usize) -> bool;
    /// The answer so far.
    fn answer(&mut self) -> Result<Answer, NotAnswered>;
}

/// The parts of a question, and what was seen of them.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) parts: Vec<Arc<dyn Part>>,
    /// The place of the next part.
    pub(super) next: usize,
    /// Whether each event stands for itself, and all could be read.
    pub(super) exact: bool,
    pub(super) seen: Seen,
    pub(super) cpu_nanos: u64,
    bytes: u64,
    pub(super) unreadable: Vec<String>,
}

impl Progress {
    /// Of parts that are seen in this order.
    pub(super) fn new(parts: Vec<Arc<dyn Part>>) -> Self {
        let seen = Seen { of: parts.iter().map(|part| part.span().events).sum(), ..Seen::default() };
        let exact = parts.iter().all(|part| part.span().events == part.span().rows as u64);
        Self { parts, next: 0, exact, seen, cpu_nanos: 0, bytes: 0, unreadable: Vec::new() }
    }

    /// The next part.
    pub(super) fn next(&mut self) -> Option<Arc<dyn Part>> {
        let part = self.parts.get(self.next).cloned();
        self.next += usize::from(part.is_some());
        part
    }

    /// Whether there is no next part.
    pub(super) fn is_at_end(&self) -> bool {
        self.next == self.parts.len()
    }

    /// No event of a part can be in the answer.
    pub(super) fn skip(&mut self, part: &dyn Part) {
        self.seen.skipped += 1;
        self.seen.events += part.span().events;
    }

    /// A part was seen, or cannot be read.
    pub(super) fn end(&mut self, columns: &Columns, error: Option<Unreadable>) {
        self.bytes += columns.bytes();
        self.seen.events += columns.part().span().events;
        let Some(error) = error else { return self.seen.segments += 1 };
        self.exact = false;
        if self.unreadable.len() < Answer::UNREADABLE_MAX {
            self.unreadable.push(error.to_string());
        }
    }

    /// The answer so far, without its rows.
    pub(super) fn answer(&self, question: &Question, is_done: bool) -> Answer {
        Answer {
            exact: self.exact,
            complete: if is_done { 1.0 } else { self.seen.share() },
            seen: self.seen,
            cost: Cost { cpu_ms: (self.cpu_nanos / 10_000) as f64 / 100.0, bytes: self.bytes },
            unreadable: self.unreadable.clone(),
            ..Answer::empty(question)
        }
    }
}
