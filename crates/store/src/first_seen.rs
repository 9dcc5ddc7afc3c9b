//! How many bytes each repository may take for what was first seen of its upstream: readers without a token make it grow.

use crate::RepositoryId;
use crate::pool::lock;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName};

/// What SQLite needs for a row of the journal and for its line in the index, beside their text.
const ROW_BYTES: u64 = 64;

/// There is plenty again where this part of the budget is free.
const SPARE: u64 = 16;

/// Bytes of the disk that a row takes, about: `body` bytes of text in the journal and as many in a segment, and its unit in the
/// index.
pub(crate) fn cost(body: usize, unit: &str) -> u64 {
    2 * body as u64 + unit.len() as u64 + ROW_BYTES
}

/// The budget of each repository. What is used of its bound is that of the living repository that has most.
#[derive(Debug)]
pub(crate) struct Budget {
    each: Arc<Bound>,
    used: Mutex<HashMap<RepositoryId, u64>>,
}

impl Budget {
    pub(crate) fn new(each_bytes: u64) -> Self {
        Self { each: Bound::new(BoundName::FirstSeen, "", each_bytes), used: Mutex::default() }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.each
    }

    /// Takes over what all repositories use, as the truth says it. The bytes of removed ones are still there, and nobody's.
    pub(crate) fn update(&self, all: Vec<(RepositoryId, u64)>, living: &HashSet<RepositoryId>) {
        let most = all.iter().filter(|(id, _)| living.contains(id)).map(|(_, bytes)| *bytes).max();
        *lock(&self.used) = all.into_iter().collect();
        self.each.observe(most.unwrap_or(0));
    }

    /// Whether a repository may take so many bytes more; of one that had none left, whether there is plenty again, so that small rows
    /// that still fit do not turn it back and forth. Counts a refusal.
    pub(crate) fn has_room(&self, id: RepositoryId, more: u64, had_none: bool) -> bool {
        let used = lock(&self.used).get(&id).copied().unwrap_or(0);
        let spare = if had_none { self.each.capacity() / SPARE } else { 0 };
        let fits = used.saturating_add(more).saturating_add(spare) <= self.each.capacity();
        if !fits {
            self.each.reject();
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repository_has_a_budget_of_its_own_and_a_removed_one_is_not_shown() {
        let [one, other, removed] = [1, 2, 3].map(RepositoryId);
        let budget = Budget::new(100);
        budget.update(vec![(one, 60), (removed, 90)], &HashSet::from([one, other]));
        assert_eq!((budget.bound().used(), budget.bound().rejected()), (60, 0));
        assert!(budget.has_room(one, 40, false) && budget.has_room(other, 100, false));
        assert!(!budget.has_room(one, 41, false) && !budget.has_room(one, 40, true) && budget.has_room(one, 34, true));
        assert_eq!(budget.bound().rejected(), 2);
    }
}
