//! A sample of the paths that a client asked for: those with the smallest hashes. Samples of adjacent windows can be added, because all take
//! the same paths ("bottom-k sketch", Cohen and Kaplan 2007).

use crate::signals::worst::Worst;
use telemetry::{Glance, Tick};

/// The most paths of a sample.
pub(crate) const PATHS_MAX: usize = 16;

/// An answer that ends so long before the next request for the path is part of the same build, in nanoseconds.
const SOON: u64 = 2_000_000_000;

/// A path of the sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PathSeen {
    hash: u64,
    /// Answers with content.
    pub(crate) count: u64,
    /// The answers among them with as many bytes as the one before.
    pub(crate) same: u64,
    /// The answers among them that were asked for soon after the one before.
    pub(crate) soon: u64,
    /// The bytes of the last answer.
    size: u64,
    /// When the last answer began.
    began: Tick,
}

/// A sample of paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathSample {
    /// In ascending order of the hashes.
    paths: Vec<PathSeen>,
    /// The answer of a path that was asked for again, the longest one.
    pub(crate) worst: Worst,
}

impl PathSample {
    /// The paths.
    pub(crate) fn paths(&self) -> &[PathSeen] {
        &self.paths
    }

    /// Counts an answer with content. Returns whether it is the longest one of a path that was asked for again.
    pub(super) fn see(&mut self, event: &Glance<'_>, hash: u64) -> bool {
        let figures = event.figures;
        let Some(path) = self.place(hash) else { return false };
        path.count += 1;
        let size = std::mem::replace(&mut path.size, figures.bytes_out);
        let began = std::mem::replace(&mut path.began, figures.began);
        if path.count == 1 {
            return false;
        }
        path.same += u64::from(size == figures.bytes_out);
        path.soon += u64::from(figures.began.since(began) < SOON);
        self.worst.keep(figures.duration, figures.id)
    }

    /// The place of a path. `None`: it does not belong to the sample.
    fn place(&mut self, hash: u64) -> Option<&mut PathSeen> {
        let place = match self.paths.binary_search_by_key(&hash, |path| path.hash) {
            Ok(place) => place,
            Err(PATHS_MAX) => return None,
            Err(place) => {
                self.paths.truncate(PATHS_MAX - 1);
                self.paths.insert(place, PathSeen { hash, ..PathSeen::default() });
                place
            }
        };
        self.paths.get_mut(place)
    }

    pub(super) fn add(&mut self, other: &Self) {
        // Both are in order.
        let mut at = 0;
        for theirs in &other.paths {
            while self.paths.get(at).is_some_and(|path| path.hash < theirs.hash) {
                at += 1;
            }
            if at == PATHS_MAX {
                break;
            }
            let Some(mine) = self.paths.get_mut(at).filter(|path| path.hash == theirs.hash) else {
                self.paths.truncate(PATHS_MAX - 1);
                self.paths.insert(at, *theirs);
                continue;
            };
            // The first answer of the later window is one more of the same path.
            mine.same += u64::from(mine.count > 0 && mine.size == theirs.size);
            mine.count += theirs.count;
            mine.same += theirs.same;
            mine.soon += theirs.soon;
            (mine.size, mine.began) = (theirs.size, theirs.began);
        }
        self.worst.add(&other.worst);
    }
}
