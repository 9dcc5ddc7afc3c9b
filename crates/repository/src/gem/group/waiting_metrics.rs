//! The number of waiting names of each gem group, for `/metrics`.

use crate::repositories::holding::label;
use crate::repository::RepositoryTable;
use arc_swap::ArcSwap;
use std::sync::Arc;
use telemetry::Recorder;

/// Adds to the metrics how many names wait in each group of gems. Anybody may read those, so a private group is named there by its number
/// alone.
pub(crate) fn show_in_metrics(recorder: &Recorder, known: &Arc<ArcSwap<RepositoryTable>>) {
    let known = known.clone();
    let figures = move || {
        let known = known.load_full();
        let groups = known.by_name.values().filter(|one| one.is_group_of_gems());
        let mut figures: Vec<(String, u64)> =
            groups.map(|one| (label(one), one.shared.waiting.count() as u64)).collect();
        figures.sort();
        figures
    };
    let doc = "Names of gems that a member of a group lists and another owns, which an administrator has to decide";
    recorder.labelled_gauge("group_waiting_names", doc, "repository", figures);
}
