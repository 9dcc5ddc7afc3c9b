//! The families about requests for each repository.

use super::page::Page;
use crate::Outcome;
use crate::counts::repository_counts::{Repositories, RepositoryCounts};
use crate::prometheus::metric::Fold;
use crate::prometheus::metrics_view::{Listed, MetricsView, OTHER};
use std::collections::BTreeMap;

pub(super) fn write(page: &mut Page, counted: &Repositories, listed: &Listed, view: &MetricsView) {
    let mut info = page.family("repository_info", "gauge", "1, with the format and the kind of a repository");
    for (name, repository) in view.repositories.iter().filter(|(name, _)| listed.label(view, name) != Some(OTHER)) {
        info.sample(&[("repository", name), ("format", repository.format), ("kind", repository.kind)], 1);
    }
    let zero = RepositoryCounts::default();
    let all: Vec<(&str, &RepositoryCounts)> =
        view.repositories.keys().map(|name| (name.as_str(), counted.named(name).unwrap_or(&zero))).collect();
    let mut each = |name: &str, doc: &str, read: fn(&RepositoryCounts) -> u64| {
        let mut family = page.family(name, "counter", doc);
        let figures = all.iter().map(|(name, counts)| (*name, read(counts) as f64));
        let mut folded = fold(view, listed, figures, Fold::Sum);
        let rest = read(counted.rest());
        if rest > 0 {
            *folded.entry(OTHER).or_default() += rest as f64;
        }
        folded.iter().for_each(|(name, figure)| family.sample(&[("repository", name)], figure));
    };
    each("repository_requests_total", "Requests for a repository that passed access control", |one| one.requests);
    each("repository_received_bytes_total", "Bytes of the bodies of these requests", |one| one.received_bytes);
    each("repository_sent_bytes_total", "Bytes of the bodies of their responses", |one| one.sent_bytes);
    each("repository_hits_total", "GET and HEAD requests that waited for no upstream", |one| one.hits);
    each("repository_misses_total", "GET and HEAD requests that waited for an upstream", |one| one.misses);
}

/// How the requests for each repository ended. An outcome that none had has no line.
pub(super) fn write_outcomes(page: &mut Page, counted: &Repositories, listed: &Listed, view: &MetricsView) {
    let mut family = page.family("repository_outcomes_total", "counter", "How these requests ended");
    let all: Vec<_> = view.repositories.keys().filter_map(|name| Some((name.as_str(), counted.named(name)?))).collect();
    for outcome in Outcome::ALL {
        let of = |counts: &RepositoryCounts| counts.outcomes[*outcome as usize];
        let figures = all.iter().map(|(name, counts)| (*name, of(counts) as f64));
        let mut folded = fold(view, listed, figures, Fold::Sum);
        *folded.entry(OTHER).or_default() += of(counted.rest()) as f64;
        for (name, count) in folded.into_iter().filter(|(_, count)| *count > 0.0) {
            family.sample(&[("repository", name), ("outcome", outcome.as_str())], count);
        }
    }
}

/// Figures by the label of a repository.
pub(super) fn fold<'a>(
    view: &MetricsView,
    listed: &Listed,
    figures: impl Iterator<Item = (&'a str, f64)>,
    how: Fold,
) -> BTreeMap<&'a str, f64> {
    let mut folded = BTreeMap::new();
    for (name, figure) in figures {
        if let Some(label) = listed.label(view, name) {
            folded.entry(label).and_modify(|sum| *sum = how.apply(*sum, figure)).or_insert(figure);
        }
    }
    folded
}
