//! The family about the times to the first byte, for each repository.

use super::page::Page;
use crate::Histogram;
use crate::counts::repository_times::RepositoryTimes;
use crate::prometheus::metrics_view::{Listed, MetricsView, OTHER};
use std::collections::BTreeMap;

pub(super) fn write(page: &mut Page, times: &RepositoryTimes, listed: &Listed, view: &MetricsView) {
    let mut folded: BTreeMap<&str, Histogram> = BTreeMap::new();
    for time in times.iter() {
        let name = &*time.repository;
        let known = view.repositories.contains_key(name).then(|| listed.label(view, name)).flatten();
        folded.entry(known.unwrap_or(OTHER)).or_default().merge(&time.first_bytes);
    }
    let doc = "From the first byte of a request for a repository to the first byte of its response, since the start";
    let mut family = page.family("repository_first_byte_seconds", "summary", doc);
    folded.iter().for_each(|(name, times)| family.summary(&[("repository", name)], times));
}
