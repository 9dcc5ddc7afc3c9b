//! How long requests spent in each operation.

use super::worst::Worst;
use telemetry::{EventId, Op, Tally};

/// The runs of an operation for requests, those for members of groups included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OpSeen {
    /// The requests that ran it.
    pub(crate) requests: u64,
    /// The runs.
    pub(crate) runs: u64,
    /// The runs among them that changed nothing.
    pub(crate) vain: u64,
    /// Their time in nanoseconds.
    pub(crate) nanos: u64,
    /// The request that spent most time in it.
    pub(crate) worst: Worst,
}

/// The operations of requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpsSeen(Vec<OpSeen>);

impl OpsSeen {
    /// The figures of an operation.
    pub(crate) fn of(&self, op: Op) -> OpSeen {
        self.0.get(op as usize).copied().unwrap_or_default()
    }

    /// The figures of an operation, to be changed.
    pub(crate) fn of_mut(&mut self, op: Op) -> &mut OpSeen {
        if self.0.is_empty() {
            self.0 = vec![OpSeen::default(); Op::COUNT];
        }
        &mut self.0[op as usize]
    }

    /// Counts the runs of an operation for a request. Returns whether the event is worth storing, because it shows a fault best.
    pub(crate) fn see(&mut self, op: Op, tally: Tally, event: EventId) -> bool {
        let seen = self.of_mut(op);
        seen.requests += 1;
        seen.runs += u64::from(tally.count);
        seen.vain += u64::from(tally.vain);
        seen.nanos += tally.nanos;
        seen.worst.see(tally.nanos, event)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.requests += theirs.requests;
            mine.runs += theirs.runs;
            mine.vain += theirs.vain;
            mine.nanos += theirs.nanos;
            mine.worst.add(&theirs.worst);
        }
    }
}
