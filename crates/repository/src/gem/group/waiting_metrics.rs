//! The number of waiting names of each gem group, for `/metrics`.

use crate::repository::RepositoryTable;
use arc_swap::ArcSwap;
use std::sync::Arc;
use telemetry::{By, Fold, Metric, Recorder};

/// Adds to the metrics how many names wait in each group of gems.
pub(crate) fn show_in_metrics(recorder: &Recorder, known: &Arc<ArcSwap<RepositoryTable>>) {
    let known = known.clone();
    let figures = move || {
        let known = known.load_full();
        let groups = known.by_name.values().filter(|one| one.is_group_of_gems());
        groups.map(|one| (one.record.name.clone(), one.shared.gems().waiting.count() as f64)).collect()
    };
    let doc =
        "Names of gems that a member of a group lists and another member owns, and that an administrator has to decide";
    recorder.figures(Metric::gauge("group_waiting_names", doc), By::Repository(Fold::Sum), figures);
}
