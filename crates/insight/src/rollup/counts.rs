//! The figures of the events that share a key.

use super::buckets::Buckets;
use crate::column::Column;

/// The figures of the events that share a key. They add up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) events: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// In microseconds, as in the columns of events.
    pub(crate) first_byte: Buckets,
    pub(crate) duration: Buckets,
}

impl Counts {
    /// Adds others.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.events = self.events.saturating_add(other.events);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
        self.first_byte.add(&other.first_byte);
        self.duration.add(&other.duration);
    }

    /// Sets everything to zero. The memory is kept.
    pub(crate) fn clear(&mut self) {
        (self.events, self.bytes_in, self.bytes_out) = (0, 0, 0);
        self.first_byte.clear();
        self.duration.clear();
    }

    /// The distribution of a duration: [`Column::FirstByte`] or [`Column::Duration`].
    pub(crate) fn distribution(&self, column: Column) -> &Buckets {
        if column == Column::FirstByte { &self.first_byte } else { &self.duration }
    }

    /// The buckets of both durations.
    pub(crate) fn buckets(&self) -> usize {
        self.first_byte.buckets().len() + self.duration.buckets().len()
    }
}
