//! How long a blob is kept after the last entry stopped naming it.

use std::time::Duration;
use telemetry::Millis;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The periods after which unreferenced bytes may be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobLife {
    /// How long bytes are kept that an earlier state refers to. As-of views reach back equally far.
    pub horizon: Duration,
    /// How long a deletion can be undone. At most the horizon.
    pub undo: Duration,
    /// How long the collector waits between its two checks of a blob.
    pub collect_after: Duration,
}

impl Default for BlobLife {
    fn default() -> Self {
        Self { horizon: DAY * 400, undo: DAY * 7, collect_after: DAY }
    }
}

/// The period that begins when an entry stops naming a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// The horizon: the publisher withdrew the entry or replaced its bytes.
    Horizon,
    /// The undo period: a user or a rule deleted the entry.
    Undo,
    /// No period: the retention of snapshots removed the entry.
    Nothing,
    /// No period, and the collector does not wait either: the entry was purged.
    Purged,
}

impl Keep {
    pub(crate) const ALL: [Self; 4] = [Self::Horizon, Self::Undo, Self::Nothing, Self::Purged];

    /// The length of the period.
    pub fn period(self, life: &BlobLife) -> Duration {
        match self {
            Self::Horizon => life.horizon,
            Self::Undo => life.undo,
            Self::Nothing | Self::Purged => Duration::ZERO,
        }
    }
}

/// The end of a use of a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UseEnd {
    /// When the entry stopped naming the blob.
    pub at: Millis,
    /// The period that began then.
    pub keep: Keep,
}

/// One entry that names or named a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobUse {
    /// `None`: the entry still names it.
    pub ended: Option<UseEnd>,
    /// When the repository of the entry was removed, if it was.
    pub removed: Option<Millis>,
}

impl BlobUse {
    /// Until when this use keeps the blob; `None`: without limit. The removal of a repository counts as the deletion of all its
    /// entries.
    pub fn keeps_until(&self, life: &BlobLife) -> Option<Millis> {
        let own = self.ended.map(|end| end.at.plus(end.keep.period(life)));
        let removed = self.removed.map(|at| at.plus(life.undo));
        match (own, removed) {
            (Some(own), Some(removed)) => Some(own.min(removed)),
            (own, removed) => own.or(removed),
        }
    }

    /// Whether this use keeps the blob at `now`.
    pub fn keeps(&self, life: &BlobLife, now: Millis) -> bool {
        self.keeps_until(life).is_none_or(|until| until > now)
    }

    /// Whether it ended by a purge, so that the collector does not wait.
    pub fn purged(&self) -> bool {
        self.ended.is_some_and(|end| end.keep == Keep::Purged)
    }
}
