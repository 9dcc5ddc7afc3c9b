//! Observations that wait to be written to the journal. A commit waits for the disk, and a build with an empty cache fetches
//! hundreds of files in a second, so those of one upstream are collected for a moment and written in one commit. The more there
//! are, the longer is the pause until the next.
//!
//! The first one after a pause is written at once. No request has to wait: reads add the observations that are not written yet
//! ([`FirstSightQueue::unwritten`]), and a stop of the server writes it. A crash may lose the last ones.

use crate::upstream::first_seen::observation::Observation;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::{Digest, Origin};
use telemetry::{Bound, BoundName, Millis, Slot, lock};

/// The longest pause between two commits for one upstream.
const PAUSE_MAX: Duration = Duration::from_millis(250);
/// The pause after a commit, for each observation in it: where few come, nothing is gained by waiting for more.
const PAUSE_EACH: Duration = Duration::from_millis(25);
/// So many versions and files of one upstream are written at once.
const TOGETHER: usize = 256;
/// Maximum number of versions and files of all upstreams.
const MOST: u64 = 65_536;

/// An observation that may be new.
#[derive(Debug)]
pub(crate) enum FirstSight {
    /// Of a folder.
    Folder(Observation),
    /// Of a raw file.
    File {
        path: String,
        sha256: Digest,
        /// The date that the upstream reports.
        modified: Option<Millis>,
    },
}

impl FirstSight {
    /// The number of names in it.
    fn names(&self) -> usize {
        match self {
            FirstSight::Folder(seen) => (seen.versions.len() + seen.plugins.len()).max(1),
            FirstSight::File { .. } => 1,
        }
    }
}

/// The observations that wait, by upstream.
#[derive(Debug)]
pub(crate) struct FirstSightQueues {
    of: Mutex<HashMap<Origin, Arc<FirstSightQueue>>>,
    bound: Arc<Bound>,
}

/// Those of one upstream.
#[derive(Debug, Default)]
pub(crate) struct FirstSightQueue {
    /// Held while they are written, so that they are written in their order.
    pub(super) turn: tokio::sync::Mutex<()>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// With the place of each in the bound.
    sights: Vec<(Arc<FirstSight>, Option<Slot>)>,
    names: usize,
    /// A task writes them, and later ones.
    is_written: bool,
}

/// What an addition calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Added {
    /// There are too many, so they must be written now.
    pub(super) is_full: bool,
    /// No task writes them.
    pub(super) needs_task: bool,
}

impl FirstSightQueues {
    pub(crate) fn new() -> Self {
        Self { of: Mutex::default(), bound: Bound::new(BoundName::FirstSights, "", MOST) }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The queue of an upstream. It stays, as there are few upstreams.
    pub(crate) fn of(&self, origin: Origin) -> Arc<FirstSightQueue> {
        lock(&self.of).entry(origin).or_default().clone()
    }
}

impl FirstSightQueue {
    pub(super) fn add(&self, sights: Vec<FirstSight>, bound: &Arc<Bound>) -> Added {
        let mut waiting = lock(&self.waiting);
        let mut is_full = false;
        for sight in sights {
            let place = bound.hold(sight.names() as u64).ok();
            is_full |= place.is_none();
            waiting.names += sight.names();
            waiting.sights.push((Arc::new(sight), place));
        }
        is_full |= waiting.names >= TOGETHER;
        Added { is_full, needs_task: !std::mem::replace(&mut waiting.is_written, true) }
    }

    /// The observations that may not be in the journal yet, oldest first.
    pub(crate) fn unwritten(&self) -> Vec<Arc<FirstSight>> {
        lock(&self.waiting).sights.iter().map(|(sight, _)| sight.clone()).collect()
    }

    /// Removes the first ones, which are written or cannot be.
    pub(super) fn remove(&self, count: usize) {
        let mut waiting = lock(&self.waiting);
        let names: usize = waiting.sights.drain(..count).map(|(sight, _)| sight.names()).sum();
        waiting.names -= names;
    }

    /// Whether the task that writes has nothing left to do. If so, the next addition starts another one.
    pub(super) fn is_over(&self) -> bool {
        let mut waiting = lock(&self.waiting);
        waiting.is_written = !waiting.sights.is_empty();
        !waiting.is_written
    }
}

/// The pause after a commit of this number of observations.
pub(super) fn pause_after(written: usize) -> Duration {
    PAUSE_EACH.saturating_mul(u32::try_from(written.max(1)).unwrap_or(u32::MAX)).min(PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> FirstSight {
        FirstSight::File { path: path.to_owned(), sha256: Digest([7; 32]), modified: None }
    }

    #[test]
    fn one_task_writes_what_was_seen_until_nothing_is_left() {
        let queues = FirstSightQueues::new();
        let queue = FirstSightQueue::default();
        let collect = Added { is_full: false, needs_task: false };
        assert_eq!(queue.add(vec![file("a")], queues.bound()), Added { needs_task: true, ..collect });
        assert_eq!(queue.add(vec![file("b")], queues.bound()), collect);
        assert_eq!((queue.unwritten().len(), queues.bound().used()), (2, 2));
        queue.remove(1);
        assert!(!queue.is_over() && queue.add(vec![file("c")], queues.bound()) == collect);
        queue.remove(2);
        assert!(queue.is_over() && queues.bound().used() == 0);
        assert!(queue.add(vec![file("d")], queues.bound()).needs_task);
    }

    #[test]
    fn the_more_is_seen_the_more_is_written_together() {
        assert_eq!([0, 1, 4, 10, usize::MAX].map(|written| pause_after(written).as_millis()), [25, 25, 100, 250, 250]);
    }

    #[test]
    fn what_is_too_much_for_a_commit_or_for_memory_is_written_by_the_one_who_saw_it() {
        let queues = FirstSightQueues::new();
        let queue = FirstSightQueue::default();
        for _ in 1..TOGETHER {
            assert!(!queue.add(vec![file("a")], queues.bound()).is_full);
        }
        assert!(queue.add(vec![file("a")], queues.bound()).is_full);
        queue.remove(TOGETHER);
        let others = queues.bound().hold(MOST).unwrap();
        assert!(queue.add(vec![file("a")], queues.bound()).is_full);
        assert_eq!((queue.unwritten().len(), queues.bound().rejected()), (1, 1));
        drop(others);
    }
}
