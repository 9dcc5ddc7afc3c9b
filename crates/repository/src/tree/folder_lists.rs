//! The content of a folder, for programs that read lists: Ivy looks for revisions in them, wget copies trees, and bots
//! look for dates.
//!
//! A hosted repository lists its visible files, and the folders with a visible file at any depth. What else an upstream
//! has in a folder is unknown, but for the versions of an artifact, which its metadata lists. A list that is not known
//! to be complete is an error: programs would take the missing rows for deleted ones.

use crate::content::Freshness;
use crate::error::{Error, Result};
use crate::group::is_hosted;
use crate::maven::koji;
use crate::policy::rules::View;
use crate::question::Ask;
use crate::repository::Repository;
use crate::services::Services;
use crate::tree::Tree;
use crate::tree::folder_list::{FolderList, FolderRow, FolderVersions};
use crate::visible::shown;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Child, Entry, LevelRequest, RepositoryKind};
use telemetry::{Bound, Event, Layer, Millis, Slot};

/// Maximum number of rows.
const ROWS_MAX: usize = 100_000;
/// Children that one read of the store returns.
const PART: usize = 500;
/// Maximum number of reads, for the rows and in search of visible files below folders.
const READS_MAX: usize = 2_000;
/// Roughly the bytes of a row and its HTML, without its name.
const ROW_BYTES: usize = 200;
/// How often its name is in both.
const NAMES: usize = 8;

/// Lists a folder.
pub(crate) async fn list_folder(
    services: &Services,
    ask: &Ask<'_>,
    path: &str,
    event: &mut Event,
) -> Result<FolderList> {
    let (repository, now) = (&ask.repository, services.clock.now());
    let mut making = Making::new(path, &services.merging);
    // Without the rows of a member the list of a group would not be complete.
    let mut all = repository.leaves.iter().chain([repository]);
    if let Some(off) = all.find(|one| one.record.listing == Some(false)) {
        event.detail = format!("the setting `listing` of `{}` is false", off.record.name);
        return Err(making.nothing());
    }
    match repository.record.kind {
        RepositoryKind::Hosted => {
            event.layer = Layer::Hosted;
            making.add_hosted(services.tree(repository), now, event).await?;
        }
        // A map has all files, and a policy may hide what a folder is made of: then it lists versions, as any other.
        RepositoryKind::Remote if repository.is_koji() && repository.rules.is_open() => {
            let (rows, freshness) = koji::rows(&services.remotes.remote(repository, &ask.place), path, event).await?;
            making.freshness = freshness;
            making.add(rows)?;
        }
        RepositoryKind::Remote => {
            let remote = services.remotes.remote(repository, &ask.place);
            making.add_versions(repository.file(path).remote_versions(&remote, event).await?)?;
        }
        RepositoryKind::Group => {
            event.layer = Layer::Group;
            let group = services.group(repository, &ask.place);
            let has_upstreams = group.remote().next().is_some();
            let folder = repository.file(path);
            // Nothing tells which other files its upstreams have in the folder.
            if has_upstreams && !folder.lists_versions() {
                return Err(making.nothing());
            }
            for leaf in repository.leaves.iter().filter(|leaf| is_hosted(leaf)) {
                making.add_hosted(services.tree(leaf), now, event).await?;
            }
            // The name of a folder with hosted files is that of a hosted package or of a part of one.
            if has_upstreams && !making.has_files {
                match folder.group_versions(group, now, event).await {
                    // The policy keeps the name from upstreams, so the hosted members have all of it.
                    Err(Error::Hidden(_)) if !making.rows.is_empty() => {}
                    versions => making.add_versions(versions?)?,
                }
            }
        }
    }
    event.more_mut().sized(making.rows.len());
    making.end()
}

/// A list that is being made.
struct Making<'a> {
    path: &'a str,
    rows: BTreeMap<String, FolderRow>,
    /// Whether a hosted repository has files in the folder itself, visible or not.
    has_files: bool,
    freshness: Option<Freshness>,
    memory: &'a Arc<Bound>,
    held: Vec<Slot>,
    reads: usize,
}

impl<'a> Making<'a> {
    fn new(path: &'a str, memory: &'a Arc<Bound>) -> Self {
        let (rows, held) = (BTreeMap::new(), Vec::new());
        Self { path, rows, has_files: false, freshness: None, memory, held, reads: 0 }
    }

    /// Adds the visible children of the folder in a hosted repository. Rows that are there already stay.
    async fn add_hosted(&mut self, tree: Tree<'_>, now: Millis, event: &mut Event) -> Result<()> {
        let view = tree.repository.view(now);
        let mut after = String::new();
        loop {
            let (children, next) = self.read(tree, self.path, &after, event).await?;
            let mut rows = Vec::with_capacity(children.len());
            for Child { name, first } in children {
                self.has_files |= !name.ends_with('/');
                let visible = first.filter(|entry| shown(entry, view).is_ok());
                let size_bytes = visible.as_ref().filter(|_| !name.ends_with('/')).map(|entry| entry.hashes.size_bytes);
                let found = match visible {
                    Some(entry) => Some(entry.first_published()),
                    None if name.ends_with('/') => self.first_visible(tree, &name, view, event).await?,
                    None => None,
                };
                rows.extend(found.map(|at| FolderRow { name, at: Some(at), size_bytes }));
            }
            self.add(rows)?;
            match next {
                Some(last) => after = last,
                None => return Ok(()),
            }
        }
    }

    /// The date of a visible file below a subfolder whose first file is not visible.
    async fn first_visible(
        &mut self,
        tree: Tree<'_>,
        name: &str,
        view: View<'_>,
        event: &mut Event,
    ) -> Result<Option<Millis>> {
        let mut folders = vec![format!("{}/{}", self.path, name.trim_end_matches('/'))];
        while let Some(folder) = folders.pop() {
            let mut after = String::new();
            loop {
                let (children, next) = self.read(tree, &folder, &after, event).await?;
                for Child { name, first } in children {
                    match first.filter(|entry| shown(entry, view).is_ok()) {
                        Some(entry) => return Ok(Some(entry.first_published())),
                        None if name.ends_with('/') => folders.push(format!("{folder}/{}", name.trim_end_matches('/'))),
                        None => {}
                    }
                }
                match next {
                    Some(last) => after = last,
                    None => break,
                }
            }
        }
        Ok(None)
    }

    /// Adds versions of upstreams as folders.
    fn add_versions(&mut self, versions: FolderVersions) -> Result<()> {
        self.freshness = versions.freshness;
        let row = |(version, at)| FolderRow { name: format!("{version}/"), at, size_bytes: None };
        self.add(versions.dated.into_iter().map(row).collect())
    }

    fn add(&mut self, rows: Vec<FolderRow>) -> Result<()> {
        let bytes: usize = rows.iter().map(|row| ROW_BYTES + NAMES * row.name.len()).sum();
        self.held.push(self.memory.hold(bytes as u64).map_err(store::Error::from)?);
        for row in rows {
            self.rows.entry(row.name.clone()).or_insert(row);
        }
        if self.rows.len() > ROWS_MAX { Err(self.too_large()) } else { Ok(()) }
    }

    /// Reads children of a folder.
    async fn read(
        &mut self,
        tree: Tree<'_>,
        folder: &str,
        after: &str,
        event: &mut Event,
    ) -> Result<(Vec<Child<Entry>>, Option<String>)> {
        self.reads += 1;
        if self.reads > READS_MAX {
            // A folder without visible files does not exist.
            return Err(if self.rows.is_empty() { self.nothing() } else { self.too_deep() });
        }
        let request = LevelRequest { folder: folder.to_owned(), after: after.to_owned(), limit: PART };
        let repository: &Repository = tree.repository;
        Ok(repository.children(tree.store, request, event).await?)
    }

    fn too_large(&self) -> Error {
        Error::Unsupported(format!("the folder `{}` is too large to be listed: at most {ROWS_MAX} rows are", self.path))
    }

    fn too_deep(&self) -> Error {
        let path = self.path;
        Error::Unsupported(format!(
            "the folder `{path}` cannot be listed: too many of its subfolders have no visible file"
        ))
    }

    fn nothing(&self) -> Error {
        Error::NoSuchFile(format!("{}/", self.path))
    }

    /// The list. An empty folder does not exist, whether or not it has files that are not visible.
    fn end(self) -> Result<FolderList> {
        if self.rows.is_empty() {
            return Err(self.nothing());
        }
        let Self { path, rows, freshness, held, .. } = self;
        Ok(FolderList { path: path.to_owned(), rows: rows.into_values().collect(), freshness, _held: held })
    }
}
