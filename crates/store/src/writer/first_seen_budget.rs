//! The budget of each repository for its first-seen rows. It needs one, because anonymous readers cause such rows.

use crate::journal::record::RepositoryId;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName, lock};

/// Roughly the bytes that SQLite needs for a journal row and its index entry, besides their text.
const ROW_BYTES: u64 = 64;

/// This fraction of a budget stays free for the row that says that it is used up, and for rows that are being written. A budget that
/// was used up counts as available again once as much more is free.
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
    /// The bytes of rows that were admitted and may not be committed yet.
    pending: Mutex<HashMap<RepositoryId, u64>>,
}

/// A row that was admitted. It counts until this is dropped, and from its commit on in any case.
#[derive(Debug)]
pub struct Admitted {
    budget: Arc<FirstSeenBudget>,
    id: RepositoryId,
    bytes: u64,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if let Some(pending) = lock(&self.budget.pending).get_mut(&self.id) {
            *pending -= self.bytes;
        }
    }
}

impl FirstSeenBudget {
    pub(crate) fn new(each_bytes: u64) -> Self {
        Self {
            each: Bound::new(BoundName::FirstSeen, "", each_bytes),
            used: Mutex::default(),
            pending: Mutex::default(),
        }
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

    /// Admits a row of `bytes`, if the repository may use so many more. A refusal is counted. `was_full`: the budget was used up before. A fraction of
    /// it must then be free, so that small rows do not make the state alternate.
    pub(crate) fn admit(self: &Arc<Self>, id: RepositoryId, bytes: u64, was_full: bool) -> Option<Admitted> {
        let mut pending = lock(&self.pending);
        let waiting = pending.entry(id).or_default();
        let used = lock(&self.used).get(&id).copied().unwrap_or(0);
        let spare = self.each.capacity() / SPARE * if was_full { 2 } else { 1 };
        let whole = [*waiting, bytes, spare].into_iter().fold(used, u64::saturating_add);
        if whole > self.each.capacity() {
            self.each.reject();
            return None;
        }
        *waiting += bytes;
        Some(Admitted { budget: self.clone(), id, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repository_has_its_own_budget_and_a_removed_one_is_not_shown() {
        let [one, other, removed] = [1, 2, 3].map(RepositoryId);
        let budget = Arc::new(FirstSeenBudget::new(100));
        budget.update(vec![(one, 60), (removed, 90)], &HashSet::from([one, other]));
        assert_eq!((budget.bound().used(), budget.bound().rejected()), (60, 0));
        let admits = |id, bytes, was_full| budget.admit(id, bytes, was_full).is_some();
        assert!(admits(one, 34, false) && admits(other, 94, false));
        assert!(!admits(one, 35, false) && !admits(one, 34, true) && admits(one, 28, true));
        // Concurrent rows count before they are committed.
        let first = budget.admit(one, 20, false);
        assert!(first.is_some() && !admits(one, 15, false) && admits(other, 94, false));
        drop(first);
        assert!(admits(one, 15, false));
        assert_eq!(budget.bound().rejected(), 3);
    }
}
