//! The contents of repositories, for operators: list, delete, restore, and forget negative answers of an upstream.

use crate::actor::Actor;
use crate::bad_setting::BadSetting;
use crate::error::Error;
use crate::gem;
use crate::gem::contents::Shown;
use crate::listed::{ListedFile, Page, PageRequest};
use crate::repositories::Repositories;
use crate::repositories::kept_names::KeptName;
use crate::repositories::named::path_of;
use crate::repository::Repository;
use crate::tree::{remove, restore};
use crate::upstream::row::OfUpstream;
use crate::visible;
use crate::visible::removed;
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
    /// The visible files of a hosted tree, or versions of hosted gems; of a remote repository, the cached files.
    pub async fn contents(
        &self,
        name: &str,
        part: PageRequest<'_>,
        event: &mut Event,
    ) -> Result<Page<ListedFile>, Error> {
        if let Some(page) = self.gem_contents(name, part, Shown::Visible, event).await? {
            return Ok(page);
        }
        let repository = self.tree_repository(name, event).await?;
        let view = repository.view(self.clock.now());
        if repository.record.kind == RepositoryKind::Remote {
            let rows = self.store.cached_files(repository.origin, part.path, part.after, part.limit, event).await?;
            event.more_mut().sized(rows.len());
            let (remote, mut shown) = (self.remotes.remote(&repository, &Arc::default()), Vec::new());
            for (path, cached) in rows.iter().filter(|(path, _)| part.has(path)) {
                let file = repository.file(path);
                let row = OfUpstream::kept(&remote, &file, cached, event).await?;
                let (path, hashes) = (path.clone(), cached.hashes.clone());
                let listed = ListedFile { path, hashes, changed: cached.fetched, origin: None, version: None };
                shown.extend(visible(&[row], view).next().map(|_| listed));
            }
            return Ok(part.listed(&rows, |(path, _)| path, shown));
        }
        let PageRequest { path, after, limit } = part;
        let rows = self.store.live_entries_beginning(repository.id, path, after, limit, event).await?;
        event.more_mut().sized(rows.len());
        let shown = visible(&rows, view).map(|seen| listed(seen.entry())).filter(|file| part.has(&file.path)).collect();
        Ok(part.listed(&rows, |entry| &entry.key, shown))
    }

    /// The deleted files of a hosted tree, or the removed versions of hosted gems.
    pub async fn removed(
        &self,
        name: &str,
        part: PageRequest<'_>,
        event: &mut Event,
    ) -> Result<Page<ListedFile>, Error> {
        if let Some(page) = self.gem_contents(name, part, Shown::Removed, event).await? {
            return Ok(page);
        }
        let repository = self.hosted_tree(name, event).await?;
        let PageRequest { path, after, limit } = part;
        let rows = self.store.entries_beginning(repository.id, path, after, limit, event).await?;
        let shown = removed(&rows).map(listed).filter(|file| part.has(&file.path)).collect();
        Ok(part.listed(&rows, |entry| &entry.key, shown))
    }

    /// Deletes the file at `path`, or all files below it. An upstream's file is fetched again at the next request.
    pub async fn withdraw(
        &self,
        name: &str,
        path: &str,
        by: Actor<'_>,
        event: &mut Event,
    ) -> Result<RemovedFiles, Error> {
        let repository = self.tree_repository(name, event).await?;
        let path = &*path_of(&repository, path);
        checked(&repository, path)?;
        if repository.record.kind == RepositoryKind::Remote {
            let (files, size_bytes) = self.forget_files(&repository, path, event).await?;
            return Ok(RemovedFiles { files, frees: self.frees_cached(size_bytes), kept_names: Vec::new() });
        }
        let at = self.store.now();
        let files = remove::remove(self.files(&repository), &repository.file(path), None, by, at, event).await?;
        let gone = |entry: &Entry| {
            let below = entry.key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            below && entry.state == State::Withdrawn && entry.changed == at
        };
        // The deletion is committed, even if the figure cannot be read.
        let frees = self.frees_below(repository.id, path, gone, event).await.unwrap_or_default();
        let kept_names = self.kept_below(&repository, path, at, event).await;
        Ok(RemovedFiles { files, frees, kept_names })
    }

    /// Restores what the last deletion of `path`, or of anything below it, removed. Returns the number of files. In
    /// formats whose versions are not files, `path` is `NAME` or `NAME:VERSION`, and the versions that a cleanup
    /// removed are restored.
    pub async fn restore(&self, name: &str, path: &str, by: Actor<'_>, event: &mut Event) -> Result<u64, Error> {
        let (repository, _) = self.find(name, event).await?;
        if repository.shared.gem.is_some() {
            return self.restore_versions(&repository, path, by, event).await;
        }
        let repository = self.hosted_tree(name, event).await?;
        let path = &*path_of(&repository, path);
        checked(&repository, path)?;
        restore::restore(self.files(&repository), path, by, self.store.now(), event).await
    }

    /// The cached negative answers of an upstream: the paths, and when each TTL ends.
    pub async fn missing(
        &self,
        name: &str,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Page<(String, Millis)>, Error> {
        let repository = self.remote_tree(name, event).await?;
        let rows = self.store.missing(repository.origin, after, self.clock.now(), limit, event).await?;
        let next = rows.last().filter(|_| rows.len() >= limit).map(|(path, _)| path.clone());
        Ok(Page { rows, next })
    }

    /// Deletes the cached negative answers for `path` and everything below it; for all paths if `path` is empty. The
    /// next request calls the upstream again. Returns the number of paths.
    pub async fn forget_missing(&self, name: &str, path: &str, event: &mut Event) -> Result<u64, Error> {
        let repository = self.remote_tree(name, event).await?;
        let path = &*path_of(&repository, path);
        let part = PageRequest { path, after: "", limit: PAGE };
        let (mut forgotten, mut after) = (0, String::new());
        loop {
            let rows = self.store.missing(repository.origin, &after, self.clock.now(), PAGE, event).await?;
            for (path, _) in rows.iter().filter(|(path, _)| part.has(path)) {
                forgotten += self.forget(&repository, path, event).await?;
            }
            match rows.last() {
                Some((last, _)) if rows.len() == PAGE => after.clone_from(last),
                _ => return Ok(forgotten),
            }
        }
    }

    /// Deletes the cached files at `path` and below it. Returns their number and the sum of their sizes.
    pub(crate) async fn forget_files(
        &self,
        repository: &Repository,
        path: &str,
        event: &mut Event,
    ) -> Result<(u64, u64), Error> {
        let part = PageRequest { path, after: "", limit: PAGE };
        let (mut forgotten, mut size_bytes, mut after) = (0, 0, String::new());
        loop {
            let rows = self.store.cached_files(repository.origin, path, &after, PAGE, event).await?;
            for (path, cached) in rows.iter().filter(|(path, _)| part.has(path)) {
                let was = self.forget(repository, path, event).await?;
                forgotten += was;
                size_bytes += was * cached.hashes.size_bytes;
            }
            match rows.last() {
                Some((last, _)) if rows.len() == PAGE => after.clone_from(last),
                _ if forgotten == 0 => return Err(Error::NoSuchFile(path.to_owned())),
                _ => return Ok((forgotten, size_bytes)),
            }
        }
    }

    /// Deletes the cached file of one path, and voids answers made from it.
    async fn forget(&self, repository: &Repository, path: &str, event: &mut Event) -> Result<u64, Error> {
        let was = self.store.forget_cached(repository.origin, path, event).await?;
        self.store.upstream_changed(repository.id, repository.file(path).folder);
        Ok(u64::from(was))
    }

    /// The versions of a hosted repository of gems. `None`: it is another repository, whose contents are files.
    async fn gem_contents(
        &self,
        name: &str,
        part: PageRequest<'_>,
        shown: Shown,
        event: &mut Event,
    ) -> Result<Option<Page<ListedFile>>, Error> {
        let (repository, settings) = self.find(name, event).await?;
        let Some(hosted) = self.hosted(&repository, &settings) else { return Ok(None) };
        match repository.record.kind {
            RepositoryKind::Remote => Ok(None),
            RepositoryKind::Group => {
                let text = format!("`{name}` is a group, which holds nothing itself");
                let hint = format!("`daylight repo show {name}` names its members; ask for the contents of each");
                Err(BadSetting::new(text, &hint).into())
            }
            RepositoryKind::Hosted => gem::contents::list(hosted, part, shown, self.clock.now(), event).await.map(Some),
        }
    }

    async fn tree_repository(&self, name: &str, event: &mut Event) -> Result<Arc<Repository>, Error> {
        let (repository, _) = self.find(name, event).await?;
        // The cache of an upstream has files in every format.
        if repository.record.kind == RepositoryKind::Remote {
            return Ok(repository);
        }
        repository.format.rules().refuses_files(name).map_or(Ok(repository), |refused| Err(refused.into()))
    }

    async fn hosted_tree(&self, name: &str, event: &mut Event) -> Result<Arc<Repository>, Error> {
        let repository = self.tree_repository(name, event).await?;
        match repository.record.kind {
            RepositoryKind::Hosted => Ok(repository),
            _ => Err(BadSetting::new(format!("`{name}` holds no files of its own"), "ask a hosted repository").into()),
        }
    }

    async fn remote_tree(&self, name: &str, event: &mut Event) -> Result<Arc<Repository>, Error> {
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

fn checked(repository: &Repository, path: &str) -> Result<(), Error> {
    let refused = |_| Error::NoSuchPath { path: Event::text(path), format: repository.format.as_str() };
    repository.format.check_path(path).map_err(refused)
}

fn listed(entry: &Entry) -> ListedFile {
    let Entry { key, hashes, changed, origin, .. } = entry.clone();
    ListedFile { path: key, hashes, changed, origin, version: None }
}
