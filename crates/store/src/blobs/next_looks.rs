//! The times of the collector's next checks, by the first byte of the digests, so that a round checks only blobs that may be due.

use crate::blobs::digest::Digest;
use crate::blobs::life::{BlobLife, Keep};
use crate::journal::change::Change;
use crate::journal::entry::State;
use std::sync::atomic::{AtomicI64, Ordering};
use telemetry::Millis;

/// No check is due.
const NEVER: i64 = i64::MAX;

/// The earliest moment at which a blob of each first byte may be marked or deleted. It may be too early, which only costs a
/// check.
#[derive(Debug)]
pub(crate) struct NextLooks([AtomicI64; 256]);

impl Default for NextLooks {
    fn default() -> Self {
        Self([const { AtomicI64::new(NEVER) }; 256])
    }
}

/// The checks that become necessary once changes are committed.
pub(crate) struct NeededLooks(Vec<(Option<u8>, Millis)>);

impl NeededLooks {
    /// A purge and the removal of a repository may affect any blob: a purge also ends the uses of earlier bytes.
    pub(crate) fn of<'a>(changes: impl Iterator<Item = (&'a Change, Millis)>, life: &BlobLife) -> Self {
        let look = |(change, at): (&Change, Millis)| match change {
            Change::Entry { entry, .. } if entry.state == State::Withdrawn => {
                let first = entry.hashes.sha256.0[0];
                let keep = entry.keep();
                Some(((keep != Keep::Purged).then_some(first), at.plus(keep.period(life))))
            }
            Change::Repository { record, .. } => record.removed.map(|at| (None, at.plus(life.undo))),
            _ => None,
        };
        Self(changes.filter_map(look).collect())
    }
}

impl NextLooks {
    /// Schedules a check of the blobs that start with the byte `first`, at `at` or earlier.
    pub(crate) fn need(&self, first: u8, at: Millis) {
        self.0[usize::from(first)].fetch_min(at.0, Ordering::AcqRel);
    }

    pub(crate) fn need_for(&self, blob: &Digest, at: Millis) {
        self.need(blob.0[0], at);
    }

    /// Called after the changes were committed, so that the checks see it.
    pub(crate) fn need_all(&self, looks: &NeededLooks) {
        for (first, at) in &looks.0 {
            match first {
                Some(first) => self.need(*first, *at),
                None => (0..=u8::MAX).for_each(|first| self.need(first, *at)),
            }
        }
    }

    /// The earliest scheduled check.
    pub(crate) fn next(&self) -> Option<Millis> {
        let earliest = self.0.iter().map(|at| at.load(Ordering::Acquire)).min()?;
        (earliest != NEVER).then_some(Millis(earliest))
    }

    /// Whether a check is due at `now`. Unschedules it, and must be called before the check: a change after this call schedules
    /// another one.
    pub(crate) fn take(&self, first: u8, now: Millis) -> bool {
        let at = &self.0[usize::from(first)];
        let due = at.load(Ordering::Acquire) <= now.0;
        if due {
            at.store(NEVER, Ordering::Release);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_taken_once_it_is_due_and_the_earliest_counts() {
        let looks = NextLooks::default();
        assert_eq!(looks.next(), None);
        looks.need(7, Millis(30));
        looks.need(7, Millis(20));
        looks.need(9, Millis(40));
        assert_eq!(looks.next(), Some(Millis(20)));
        assert!(!looks.take(7, Millis(19)) && looks.take(7, Millis(20)) && !looks.take(7, Millis(20)));
        assert_eq!(looks.next(), Some(Millis(40)));
    }
}
