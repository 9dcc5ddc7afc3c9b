//! The size of each repository at any time, for lists of repositories, removals and metrics.

use crate::error::Error;
use crate::group::is_hosted;
use crate::repositories::Repositories;
use crate::repository::{Repository, RepositoryTable};
use arc_swap::ArcSwap;
use std::sync::{Arc, Weak};
use store::{RepositoryKind, Store};
use telemetry::{By, Event, Fold, Metric, Recorder};

/// The content of a repository itself: nothing for a group, the cached files for a remote repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// The number of its files.
    pub files: u64,
    /// The sum of their sizes, in bytes.
    pub size_bytes: u64,
    /// The number of its packages; `None`: they are not counted, because its files are not packages or belong to an
    /// upstream.
    pub packages: Option<u64>,
}

impl Held {
    fn of(repository: &Repository, store: &Store) -> Self {
        match repository.record.kind {
            RepositoryKind::Hosted => {
                let held = store.holding(repository.id);
                let packages = repository.format.rules().has_packages().then_some(held.packages);
                Self { files: held.files, size_bytes: held.size_bytes, packages }
            }
            RepositoryKind::Remote => {
                let held = store.cached_holding(repository.origin);
                Self { files: held.files, size_bytes: held.size_bytes, packages: None }
            }
            RepositoryKind::Group => Self::default(),
        }
    }
}

impl Repositories {
    /// The size of the repository with this name, and whether it keeps names from the upstreams of its groups.
    pub async fn holding(&self, name: &str, event: &mut Event) -> Result<(Held, bool), Error> {
        let (repository, _) = self.find(name, event).await?;
        Ok((self.holds(&repository), is_hosted(&repository)))
    }

    /// The size of a repository.
    pub fn holds(&self, repository: &Repository) -> Held {
        Held::of(repository, &self.services.store)
    }
}

/// Adds the figures of all repositories but groups to the metrics.
pub(crate) fn show_in_metrics(recorder: &Recorder, store: &Arc<Store>, known: &Arc<ArcSwap<RepositoryTable>>) {
    let figures = |figure: fn(Held) -> Option<u64>| {
        let (store, known): (Weak<Store>, _) = (Arc::downgrade(store), known.clone());
        move || {
            let (Some(store), known) = (store.upgrade(), known.load_full()) else { return Vec::new() };
            let all = known.by_name.values().filter(|one| one.record.kind != RepositoryKind::Group);
            let each = |one: &Arc<Repository>| {
                let figure = figure(Held::of(one, &store))?;
                Some((one.record.name.clone(), figure as f64))
            };
            all.filter_map(each).collect()
        }
    };
    let metric = Metric::gauge("repository_bytes", "Bytes of the files that a repository holds");
    recorder.figures(metric, By::Repository(Fold::Sum), figures(|held| Some(held.size_bytes)));
    let metric = Metric::gauge("repository_packages", "Packages that a hosted repository holds");
    recorder.figures(metric, By::Repository(Fold::Sum), figures(|held| held.packages));
    let doc = "When the client certificate for the upstream of a repository expires, in seconds since 1970";
    let metric = Metric::gauge("upstream_certificate_expiry_timestamp_seconds", doc);
    let known = known.clone();
    recorder.figures(metric, By::Repository(Fold::Min), move || {
        let known = known.load_full();
        let each = |one: &Arc<Repository>| {
            let expires = one.shared.upstream.certificate_expires()?;
            Some((one.record.name.clone(), expires.0 as f64 / 1e3))
        };
        known.by_name.values().filter_map(each).collect()
    });
}
