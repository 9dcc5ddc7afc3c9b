//! The contents of repositories, for operators: list, delete, restore, and forget negative answers of an upstream.

use crate::actor::Actor;
use crate::bad_setting::BadSetting;
use crate::error::{Error, Result};
use crate::face::Face;
use crate::formats::face;
use crate::group::kept_names::{KeptName, kept_below};
use crate::listed::{ListedFile, Page, PageRequest, Shown};
use crate::repositories::Repositories;
use crate::repositories::frees::{frees_below, frees_cached};
use crate::repository::Repository;
use crate::services::Services;
use crate::tree::contents::refuse_other_kinds;
use crate::tree::remove;
use crate::upstream::row::OfUpstream;
use crate::visible;
use std::borrow::Cow;
use std::sync::Arc;
use store::{Entry, Frees, RepositoryKind, State};
use telemetry::{Event, Millis};

/// Number of paths that are read or forgotten in one step.
const PAGE: usize = 1_000;

/// What a deletion removed.
#[derive(Debug)]
pub struct RemovedFiles {
    /// How many files.
    pub files: u64,
    /// How many bytes come free, and when.
    pub frees: Frees,
    /// The names that stay with the repository although nothing of them is left.
    pub kept_names: Vec<KeptName>,
}

impl Repositories {
    /// The visible files or versions of a hosted repository; of a remote one, the cached files.
    pub async fn contents(&self, name: &str, part: PageRequest<'_>, event: &mut Event) -> Result<Page<ListedFile>> {
        let (repository, settings) = self.find(name, event).await?;
        if repository.record.kind != RepositoryKind::Remote {
            let served = self.served(&repository, &settings);
            return face!(repository.format, contents(served, part, Shown::Visible, event).await);
        }
        let rows =
            self.services.store.cached_files(repository.origin, part.path, part.after, part.limit, event).await?;
        event.more_mut().sized(rows.len());
        let (remote, view) = (self.served(&repository, &settings).remote(), repository.view(self.services.clock.now()));
        let mut shown = Vec::new();
        for (path, cached) in rows.iter().filter(|(path, _)| part.has(path)) {
            let file = repository.file(path);
            let row = OfUpstream::kept(&remote, &file, cached, event).await?;
            let (path, hashes) = (path.clone(), cached.hashes.clone());
            let listed = ListedFile { path, hashes, changed: cached.fetched, origin: None, version: None };
            shown.extend(visible(&[row], view).next().map(|_| listed));
        }
        Ok(part.listed(&rows, |(path, _)| path, shown))
    }

    /// The removed files or versions of a hosted repository.
    pub async fn removed(&self, name: &str, part: PageRequest<'_>, event: &mut Event) -> Result<Page<ListedFile>> {
        let (repository, settings) = self.find(name, event).await?;
        if repository.record.kind == RepositoryKind::Remote {
            refuse_other_kinds(&repository)?;
        }
        let served = self.served(&repository, &settings);
        face!(repository.format, contents(served, part, Shown::Removed, event).await)
    }

    /// Deletes the file at `path`, or all files below it. An upstream's file is fetched again at the next request.
    pub async fn withdraw(&self, name: &str, path: &str, by: Actor<'_>, event: &mut Event) -> Result<RemovedFiles> {
        let repository = self.tree_repository(name, event).await?;
        let path = &*repository.checked_path(path)?;
        if repository.record.kind == RepositoryKind::Remote {
            let (files, size_bytes) = forget_files(&self.services, &repository, path, event).await?;
            return Ok(RemovedFiles { files, frees: frees_cached(&self.services, size_bytes), kept_names: Vec::new() });
        }
        let at = self.services.store.now();
        let files =
            remove::remove(self.services.tree(&repository), &repository.file(path), None, by, at, event).await?;
        let gone = |entry: &Entry| {
            let below = entry.key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            below && entry.state == State::Withdrawn && entry.changed == at
        };
        // The deletion is committed, even if the figure cannot be read.
        let frees = frees_below(&self.services, repository.id, path, gone, event).await.unwrap_or_default();
        let kept_names = kept_below(&self.services, repository.gives_back(), &repository, path, at, event).await;
        Ok(RemovedFiles { files, frees, kept_names })
    }

    /// Restores what the last deletion of `path`, or of anything below it, removed. Returns the number of files. In
    /// formats whose versions are not files, `path` is `NAME` or `NAME:VERSION`, and the versions that a cleanup
    /// removed are restored.
    pub async fn restore(&self, name: &str, path: &str, by: Actor<'_>, event: &mut Event) -> Result<u64> {
        let (repository, settings) = self.find(name, event).await?;
        face!(repository.format, restore(self.served(&repository, &settings), path, by, event).await)
    }

    /// The cached negative answers of an upstream: the paths, and when each TTL ends.
    pub async fn missing(
        &self,
        name: &str,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Page<(String, Millis)>> {
        let repository = self.remote_tree(name, event).await?;
        let rows =
            self.services.store.missing(repository.origin, after, self.services.clock.now(), limit, event).await?;
        let next = rows.last().filter(|_| rows.len() >= limit).map(|(path, _)| path.clone());
        Ok(Page { rows, next })
    }

    /// Deletes the cached negative answers for `path` and everything below it; for all paths if `path` is empty. The
    /// next request calls the upstream again. Returns the number of paths.
    pub async fn forget_missing(&self, name: &str, path: &str, event: &mut Event) -> Result<u64> {
        let repository = self.remote_tree(name, event).await?;
        let path = &*repository.format.rules().named_path(path);
        let part = PageRequest { path, after: "", limit: PAGE };
        let (mut forgotten, mut after) = (0, String::new());
        loop {
            let rows =
                self.services.store.missing(repository.origin, &after, self.services.clock.now(), PAGE, event).await?;
            for (path, _) in rows.iter().filter(|(path, _)| part.has(path)) {
                forgotten += forget(&self.services, &repository, path, event).await?;
            }
            match rows.last() {
                Some((last, _)) if rows.len() == PAGE => after.clone_from(last),
                _ => return Ok(forgotten),
            }
        }
    }

    async fn tree_repository(&self, name: &str, event: &mut Event) -> Result<Arc<Repository>> {
        let (repository, _) = self.find(name, event).await?;
        // The cache of an upstream has files in every format.
        if repository.record.kind == RepositoryKind::Remote {
            return Ok(repository);
        }
        repository.format.rules().refuses_files(name).map_or(Ok(repository), |refused| Err(refused.into()))
    }

    async fn remote_tree(&self, name: &str, event: &mut Event) -> Result<Arc<Repository>> {
        let repository = self.tree_repository(name, event).await?;
        match repository.record.kind {
            RepositoryKind::Remote => Ok(repository),
            _ => {
                let remote = repository.leaves.iter().filter(|leaf| leaf.record.kind == RepositoryKind::Remote);
                let names: Vec<String> = remote.map(|leaf| format!("`{}`", leaf.record.name)).collect();
                let hint = match names.is_empty() {
                    true => "name a remote repository; `daylight repo list` shows all repositories".to_owned(),
                    false => format!("name one of its remote members: {}", names.join(", ")),
                };
                Err(BadSetting::new(format!("`{name}` has no upstream of its own"), &hint).into())
            }
        }
    }
}

/// Deletes the cached files at `path` and below it. Returns their number and the sum of their sizes.
pub(crate) async fn forget_files(
    services: &Services,
    repository: &Repository,
    path: &str,
    event: &mut Event,
) -> Result<(u64, u64)> {
    let part = PageRequest { path, after: "", limit: PAGE };
    let (mut forgotten, mut size_bytes, mut after) = (0, 0, String::new());
    loop {
        let rows = services.store.cached_files(repository.origin, path, &after, PAGE, event).await?;
        for (path, cached) in rows.iter().filter(|(path, _)| part.has(path)) {
            let was = forget(services, repository, path, event).await?;
            forgotten += was;
            size_bytes += was * cached.hashes.size_bytes;
        }
        match rows.last() {
            Some((last, _)) if rows.len() == PAGE => after.clone_from(last),
            _ if forgotten == 0 => {
                // A page or an open file may still have one that was evicted.
                services.store.upstream_changed(repository.id, repository.file(path).folder);
                return Err(Error::NoSuchFile(path.to_owned()));
            }
            _ => return Ok((forgotten, size_bytes)),
        }
    }
}

/// Deletes the cached file of one path, and voids answers made from it.
async fn forget(services: &Services, repository: &Repository, path: &str, event: &mut Event) -> Result<u64> {
    let was = services.store.forget_cached(repository.origin, path, event).await?;
    services.store.upstream_changed(repository.id, repository.file(path).folder);
    Ok(u64::from(was))
}

impl Repository {
    /// The path that `what` means, if a file of the format can have it.
    pub(crate) fn checked_path<'a>(&self, what: &'a str) -> Result<Cow<'a, str>> {
        let path = self.format.rules().named_path(what);
        let refused = |_| Error::NoSuchPath { path: Event::text(&path), format: self.format.as_str() };
        self.format.check_path(&path).map_err(refused)?;
        Ok(path)
    }
}
