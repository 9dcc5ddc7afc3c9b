//! The number of waiting names of each gem group, for `/metrics` and findings.

use crate::repository::{Repository, RepositoryTable};
use arc_swap::ArcSwap;
use std::sync::Arc;
use telemetry::{By, Fold, Metric, Recorder};

/// Adds to the metrics how many names wait in each group of gems.
pub(crate) fn show_in_metrics(recorder: &Recorder, known: &Arc<ArcSwap<RepositoryTable>>) {
    let known = known.clone();
    let figures = move || {
        let known = known.load_full();
        let groups = known.by_name.values().filter(|one| one.is_group_of_gems());
        groups.map(|one| (one.record.name.clone(), one.waiting_names() as f64)).collect()
    };
    let doc =
        "Names of gems that a member of a group lists and another member owns, and that an administrator has to decide";
    recorder.figures(Metric::gauge("group_waiting_names", doc), By::Repository(Fold::Sum), figures);
}

impl Repository {
    /// Of a group of gems, how many names wait for a decision whose they are, as far as was found; 0 of other repositories.
    pub fn waiting_names(&self) -> usize {
        if self.is_group_of_gems() { self.shared.gems().waiting.count() } else { 0 }
    }
}
