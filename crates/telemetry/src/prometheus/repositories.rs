//! The families about repositories, and all figures that are read on demand.

use super::page::Page;
use crate::metric::{By, Figure, Figures, Fold};
use crate::metrics_view::{Listed, MetricsView, OTHER};
use crate::repository_counts::{Repositories, RepositoryCounts};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

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

/// Figures by the label of a repository.
fn fold<'a>(
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

/// Figures without a label.
pub(super) fn write_single(page: &mut Page, figures: &[Arc<Figure>]) {
    for figure in figures {
        let mut family = page.family(figure.metric.name, figure.metric.kind.as_str(), figure.metric.doc);
        if let Ok(value) = catch_unwind(AssertUnwindSafe(&figure.read)) {
            family.sample(&[], value);
        }
    }
}

/// Figures with one label.
pub(super) fn write_each(page: &mut Page, all: &[Arc<Figures>], listed: &Listed, view: &MetricsView) {
    for figures in all {
        let mut family = page.family(figures.metric.name, figures.metric.kind.as_str(), figures.metric.doc);
        let each = catch_unwind(AssertUnwindSafe(&figures.read)).unwrap_or_default();
        match figures.by {
            By::Label(label) => each.iter().for_each(|(name, figure)| family.sample(&[(label, name)], figure)),
            By::Repository(how) => {
                let each = each.iter().map(|(name, figure)| (name.as_str(), *figure));
                let folded = fold(view, listed, each, how);
                folded.iter().for_each(|(name, figure)| family.sample(&[("repository", name)], figure));
            }
        }
    }
}
