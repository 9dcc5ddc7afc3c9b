//! The size of each repository at any time, for lists of repositories, removals and metrics.

use crate::error::Result;
use crate::group::is_hosted;
use crate::repository::{Repository, RepositoryTable};
use crate::services::Services;
use arc_swap::ArcSwap;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::{Arc, Weak};
use store::{RepositoryKind, Store};
use telemetry::{By, Event, Fold, Metric, Millis, Recorder};

/// The content of a repository itself: nothing for a group, the cached files for a remote repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Holding")]
pub struct Held {
    /// How many files it holds; of a remote repository, the cached ones. A group holds none itself.
    pub files: u64,
    /// The sum of their sizes.
    pub size_bytes: u64,
    /// How many packages its files belong to: gems by name, Maven artifacts by group and artifact. Null for raw, remote and group
    /// repositories.
    pub packages: Option<u64>,
    /// Whether upstreams in the same group are not asked for the names that it has or had. Its removal ends that. Only `/holding` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub keeps_names: Option<bool>,
}

impl Held {
    fn of(repository: &Repository, store: &Store) -> Self {
        match repository.record.kind {
            RepositoryKind::Hosted => {
                let held = store.holding(repository.id);
                let packages = repository.format.rules().has_packages().then_some(held.packages);
                Self { files: held.files, size_bytes: held.size_bytes, packages, keeps_names: None }
            }
            RepositoryKind::Remote => {
                let held = store.cached_holding(repository.origin);
                Self { files: held.files, size_bytes: held.size_bytes, packages: None, keeps_names: None }
            }
            RepositoryKind::Group => Self::default(),
        }
    }
}

/// The size of the repository with this name, and whether it keeps names from the upstreams of its groups.
pub async fn holding(services: &Services, name: &str, event: &mut Event) -> Result<Held> {
    let (repository, _) = services.find(name, event).await?;
    Ok(Held { keeps_names: Some(is_hosted(&repository)), ..holds(services, &repository) })
}

/// The size of a repository.
pub fn holds(services: &Services, repository: &Repository) -> Held {
    Held::of(repository, &services.store)
}

impl Repository {
    /// When the client certificate that it shows to its upstream expires. `None`: it shows none, or its file was not read yet.
    pub fn certificate_expires(&self) -> Option<Millis> {
        self.shared.upstream.certificate_expires()
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
            let expires = one.certificate_expires()?;
            Some((one.record.name.clone(), expires.0 as f64 / 1e3))
        };
        known.by_name.values().filter_map(each).collect()
    });
}
