//! Which rows that wait become one segment. Each killed process leaves a log, and a segment for each of many small ones would be written
//! again with each that follows.

use super::segment_limits::{JOINED_MILLIS, ROWS, ROWS_ENOUGH, SEGMENTS};
use super::{EventStore, Unflushed};
use crate::block::join;
use crate::part::{Part, Span};
use std::ops::RangeInclusive;

/// The rows of logs that follow one another, all of them in memory.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) logs: Vec<Unflushed>,
    span: Span,
    log_bytes: u64,
}

impl Batch {
    /// A batch for each log.
    pub(super) fn one_by_one(&self) -> impl Iterator<Item = Self> {
        self.logs.iter().map(|log| {
            let mut one = Self::default();
            one.add(log.clone());
            one
        })
    }

    /// The numbers of the logs.
    pub(super) fn numbers(&self) -> RangeInclusive<u64> {
        let number = |log: Option<&Unflushed>| log.map_or(0, |log| log.number);
        number(self.logs.first())..=number(self.logs.last())
    }

    /// The rows of all logs.
    pub(super) fn parts(&self) -> impl Iterator<Item = &dyn Part> {
        self.logs.iter().flat_map(|log| &log.blocks).map(|block| &**block as &dyn Part)
    }

    pub(super) fn span(&self) -> Span {
        self.span
    }

    /// Whether a log is the next one, and the rows of both are not too many for the disk.
    fn may_go_on(&self, next: &Unflushed, keep_bytes: u64) -> bool {
        let Some(last) = self.logs.last() else { return true };
        last.number + 1 == next.number && self.log_bytes + next.log_bytes() < keep_bytes / SEGMENTS / 2
    }

    /// Whether the rows of both make one segment.
    fn has_room(&self, next: &Unflushed) -> bool {
        let both = join(self.span, span(next));
        self.logs.is_empty()
            || self.span.rows < ROWS_ENOUGH && both.rows <= ROWS && both.to.saturating_sub(both.from) <= JOINED_MILLIS
    }

    fn add(&mut self, log: Unflushed) {
        self.span = join(self.span, span(&log));
        self.log_bytes += log.log_bytes();
        self.logs.push(log);
    }
}

fn span(log: &Unflushed) -> Span {
    log.blocks.iter().map(|block| block.span()).fold(Span::default(), join)
}

impl EventStore {
    /// The first rows that wait in logs above this number and become one segment. Logs that are not in memory are read; a log that
    /// cannot be read is set aside.
    pub(super) fn batch(&self, above: Option<u64>) -> Option<Batch> {
        let waiting: Vec<_> = self.rows().unflushed.iter().filter(|log| Some(log.number) > above).cloned().collect();
        let mut batch = Batch::default();
        for mut log in waiting {
            if !batch.may_go_on(&log, self.options.keep_bytes) {
                break;
            }
            if log.log.is_some() && log.blocks.is_empty() {
                let Some(blocks) = self.recover(&log) else { continue };
                log.blocks = blocks;
            }
            if !batch.has_room(&log) {
                break;
            }
            batch.add(log);
        }
        (!batch.logs.is_empty()).then_some(batch)
    }
}
