//! The paths that a client asked for most often, in a few places ("space-saving", Metwally et al. 2005). A count is never too high.

use crate::signals::worst::Worst;
use telemetry::{Glance, Tick};

/// The most paths in a window of events.
const PLACES: usize = 4;
/// The most paths in a sum of windows.
const PLACES_OF_SUM: usize = 8;
/// From this count on the text of a path is kept.
const NAMED: u64 = 16;
/// A client that asks again sooner than this after an answer did not wait: nanoseconds. A refusal says `Retry-After: 1` or more, and
/// clients that wait by themselves begin with a second (RFC 9110 10.2.3).
pub(crate) const PAUSE: u64 = 1_000_000_000;

/// A path that was asked for often.
#[derive(Debug, Clone, Default)]
pub(crate) struct Loop {
    hash: u64,
    /// Requests that may have been for other paths.
    error: u64,
    count: u64,
    /// The path. Empty: it was asked for less than [`NAMED`] times in a window.
    pub(crate) path: Box<str>,
    /// The repository.
    pub(crate) repository: Box<str>,
    /// When the last answer ended.
    ended: Tick,
    /// Requests that began within [`PAUSE`] after the answer before.
    pub(crate) early: u64,
    /// The time of these until their first byte, in nanoseconds: a client that does not read makes itself wait.
    pub(crate) early_nanos: u64,
    /// The time of all until their first byte, in nanoseconds.
    pub(crate) nanos: u64,
    /// The longest of the early ones.
    pub(crate) worst: Worst,
}

impl Loop {
    /// The requests, at least.
    pub(crate) fn count(&self) -> u64 {
        self.count - self.error
    }
}

/// The paths that were asked for most often.
#[derive(Debug, Clone, Default)]
pub(crate) struct Loops(Vec<Loop>);

impl Loops {
    /// The path that was asked for most often without a pause.
    pub(crate) fn fastest(&self) -> Option<&Loop> {
        self.0.iter().max_by_key(|one| one.early)
    }

    /// Counts a request. Returns whether it is the longest one that came too early.
    pub(super) fn see(&mut self, event: &Glance<'_>, hash: u64) -> bool {
        let figures = event.figures;
        let Some(one) = self.place(hash) else { return false };
        one.count += 1;
        one.nanos += figures.first_byte;
        let early = one.count() > 1 && figures.began.since(one.ended) < PAUSE;
        one.ended = figures.began.plus(std::time::Duration::from_nanos(figures.duration));
        if one.count() == NAMED {
            (one.path, one.repository) = (event.path.into(), event.repository.into());
        }
        if !early {
            return false;
        }
        one.early += 1;
        one.early_nanos += figures.first_byte;
        // One of the first is no loop yet.
        one.count() >= NAMED && one.worst.keep(figures.duration, figures.id)
    }

    /// The place of a path; the least frequent one gives way.
    fn place(&mut self, hash: u64) -> Option<&mut Loop> {
        if let Some(place) = self.0.iter().position(|one| one.hash == hash) {
            return self.0.get_mut(place);
        }
        if self.0.len() < PLACES {
            self.0.push(Loop { hash, ..Loop::default() });
            return self.0.last_mut();
        }
        let least = self.0.iter_mut().min_by_key(|one| one.count)?;
        *least = Loop { hash, error: least.count, count: least.count, ..Loop::default() };
        Some(least)
    }

    pub(super) fn add(&mut self, other: &Self) {
        for theirs in &other.0 {
            let (count, hash) = (theirs.count(), theirs.hash);
            let Some(mine) = self.0.iter_mut().find(|one| one.hash == hash) else {
                self.0.push(Loop { count, error: 0, ..theirs.clone() });
                continue;
            };
            (mine.count, mine.error) = (mine.count() + count, 0);
            if mine.path.is_empty() {
                (mine.path, mine.repository) = (theirs.path.clone(), theirs.repository.clone());
            }
            mine.ended = theirs.ended;
            mine.early += theirs.early;
            mine.early_nanos += theirs.early_nanos;
            mine.nanos += theirs.nanos;
            mine.worst.add(&theirs.worst);
        }
        if self.0.len() > PLACES_OF_SUM {
            self.0.select_nth_unstable_by_key(PLACES_OF_SUM - 1, |one| std::cmp::Reverse(one.count()));
            self.0.truncate(PLACES_OF_SUM);
        }
    }
}
