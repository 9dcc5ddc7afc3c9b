//! The budget of each repository for its first-seen rows. It needs one, because anonymous readers cause such rows.

use crate::pool::lock;
use crate::record::RepositoryId;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName};

/// Roughly the bytes that SQLite needs for a journal row and its index entry, besides their text.
const ROW_BYTES: u64 = 64;

/// A budget that was used up counts as available again once this fraction of it is free.
const SPARE: u64 = 16;

/// Roughly the disk space of a row: its text in the journal and again in a segment, and its unit in the index.
pub(crate) fn cost(body_bytes: usize, unit: &str) -> u64 {
    2 * body_bytes as u64 + unit.len() as u64 + ROW_BYTES
}

/// The budgets. The bound shows the repository with the highest use, without the removed ones.
#[derive(Debug)]
pub(crate) struct FirstSeenBudget {
    each: Arc<Bound>,
    used: Mutex<HashMap<RepositoryId, u64>>,
}

impl FirstSeenBudget {
    pub(crate) fn new(each_bytes: u64) -> Self {
        Self { each: Bound::new(BoundName::FirstSeen, "", each_bytes), used: Mutex::default() }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.each
    }

    /// Sets the bytes that each repository uses. Those of removed repositories still exist but do not count in the bound.
    pub(crate) fn update(&self, all: Vec<(RepositoryId, u64)>, existing: &HashSet<RepositoryId>) {
        let most = all.iter().filter(|(id, _)| existing.contains(id)).map(|(_, bytes)| *bytes).max();
        *lock(&self.used) = all.into_iter().collect();
        self.each.observe(most.unwrap_or(0));
    }

    /// Whether a repository may use `more` bytes. A refusal is counted. `was_full`: the budget was used up before. A fraction of
    /// it must then be free, so that small rows do not make the state alternate.
    pub(crate) fn admits(&self, id: RepositoryId, more: u64, was_full: bool) -> bool {
        let used = lock(&self.used).get(&id).copied().unwrap_or(0);
        let spare = if was_full { self.each.capacity() / SPARE } else { 0 };
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
    fn each_repository_has_its_own_budget_and_a_removed_one_is_not_shown() {
        let [one, other, removed] = [1, 2, 3].map(RepositoryId);
        let budget = FirstSeenBudget::new(100);
        budget.update(vec![(one, 60), (removed, 90)], &HashSet::from([one, other]));
        assert_eq!((budget.bound().used(), budget.bound().rejected()), (60, 0));
        assert!(budget.admits(one, 40, false) && budget.admits(other, 100, false));
        assert!(!budget.admits(one, 41, false) && !budget.admits(one, 40, true) && budget.admits(one, 34, true));
        assert_eq!(budget.bound().rejected(), 2);
    }
}
