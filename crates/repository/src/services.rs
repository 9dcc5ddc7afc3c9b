//! The parts of the server that the formats work with: the table of repositories, the upstreams, and the caches.

pub(crate) mod list;

use crate::author::Author;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::gem::caches::GemCaches;
use crate::group::Group;
use crate::package::published::{PublishedPackage, PublishedPackages, PublishedVersion, VersionName};
use crate::record::RepositoryRecord;
use crate::repository::{Repository, RepositoryTable};
use crate::tree::Tree;
use crate::tree::inventory::Inventory;
use crate::upstream::{Remote, Remotes};
use crate::waiters::Place;
use arc_swap::ArcSwap;
use std::cmp::Ordering;
use std::sync::Arc;
use store::{Change, CommitError, Expect, RepositoryKind, Stamp, Store, Unit};
use telemetry::{Bound, Clock, Event, Millis, Op};
use tokio::sync::Mutex;

/// Maximum number of attempts of a change of settings that conflicts with concurrent changes.
pub(crate) const TRIES: usize = 100;

/// The parts of the server that the formats work with.
#[derive(Debug)]
pub struct Services {
    pub(crate) store: Arc<Store>,
    pub(crate) context: Context,
    pub(crate) clock: Clock,
    pub(crate) known: Arc<ArcSwap<RepositoryTable>>,
    /// Held while the table of repositories is read again, so that an older table never replaces a newer one.
    pub(crate) reading: Mutex<()>,
    /// Held while the settings of a repository are read and changed.
    pub(crate) changing: Mutex<()>,
    /// The memory bound of large indexes, which all readers share.
    pub(crate) room: Arc<Bound>,
    /// The state that all remote repositories share.
    pub(crate) remotes: Arc<Remotes>,
    /// The caches of gem repositories.
    pub(crate) gem_caches: GemCaches,
    /// The versions of hosted packages, for people.
    pub(crate) published: PublishedPackages,
    /// The names of files in folders of hosted trees.
    pub(crate) inventory: Inventory,
    /// Bytes of documents that groups are merging, and of lists of folders.
    pub(crate) merging: Arc<Bound>,
}

/// A repository, with what its format needs to work on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Served<'a> {
    pub(crate) services: &'a Services,
    pub(crate) repository: &'a Arc<Repository>,
    /// The revision of the settings that `repository` was read from.
    pub(crate) settings: &'a Stamp,
}

impl<'a> Served<'a> {
    /// The remote repository, for work that no client waits for.
    pub(crate) fn remote(self) -> Remote {
        self.services.remotes.remote(self.repository, &Arc::default())
    }

    /// The repository as a hosted tree of files.
    pub(crate) fn tree(self) -> Tree<'a> {
        self.services.tree(self.repository)
    }
}

impl Services {
    /// The repositories with their present settings: the table in memory while its stamp holds, otherwise read again.
    /// Nobody has to announce a change to this table, so no change can be missed, even if the task that made it was
    /// dropped half-way.
    pub(crate) async fn table(&self, event: &mut Event) -> Result<Arc<RepositoryTable>> {
        let holds = |known: &RepositoryTable| self.store.revisions().holds_at(&known.stamp, || self.clock.now());
        let known = self.known.load_full();
        if holds(&known) {
            return Ok(known);
        }
        let _turn = event.waited(Op::TurnWait, self.reading.lock()).await;
        let known = self.known.load_full();
        if holds(&known) {
            return Ok(known);
        }
        let known = Arc::new(list::read(&self.store, Some(&*known), &self.room, event).await?);
        self.known.store(known.clone());
        Ok(known)
    }

    /// The repository of that name, and the revision of its settings.
    pub(crate) async fn find(&self, name: &str, event: &mut Event) -> Result<(Arc<Repository>, Stamp)> {
        let known = self.table(event).await?;
        let found = known.named(name)?;
        Ok((found.clone(), known.settings_of(found.id)))
    }

    /// The same repository with its present settings, for another attempt of a change that conflicted.
    pub(crate) async fn again(&self, before: &Repository, event: &mut Event) -> Result<Arc<Repository>> {
        let (found, _) = self.find(&before.record.name, event).await?;
        // The name may belong to another repository by now.
        (found.id == before.id).then_some(found).ok_or_else(|| Error::NoSuchRepository(before.record.name.clone()))
    }

    /// Changes the settings of a repository if they are still those of `repository` and each of `expect` holds.
    /// `false`: they are not, and the caller decides again.
    pub(crate) async fn change(
        &self,
        repository: &Repository,
        mut expect: Vec<Expect>,
        record: RepositoryRecord,
        by: Author<'_>,
        event: &mut Event,
    ) -> Result<bool> {
        expect.push(repository.unchanged());
        let changes = vec![Change::Repository { id: repository.id, record: record.stored()? }];
        match self.store.commit(by.batch(self.store.now(), expect, changes), event).await {
            Err(CommitError::Conflict(_)) => Ok(false),
            Err(CommitError::Error(error)) => Err(error.into()),
            Ok(_) => Ok(true),
        }
    }

    /// The hosted repositories of the format of this one.
    pub(crate) fn hosted_like(&self, repository: &Repository) -> Vec<Arc<Repository>> {
        let is = |one: &&Arc<Repository>| one.record.kind == RepositoryKind::Hosted && one.format == repository.format;
        self.known.load().by_name.values().filter(is).cloned().collect()
    }

    /// The versions of a package in a hosted repository: from memory, or from `read`, sorted in the order of the format. `unit` is raised
    /// by each change of the package.
    pub(crate) async fn published(
        &self,
        repository: &Repository,
        unit: &str,
        order: impl Fn(VersionName<'_>, VersionName<'_>) -> Ordering,
        read: impl Future<Output = Result<Vec<PublishedVersion>>>,
    ) -> Result<PublishedPackage> {
        let (revisions, is_now) = (self.store.revisions(), repository.as_of.is_none());
        let holds = |stamp: &Stamp| revisions.holds_at(stamp, || self.clock.now());
        if is_now && let Some(kept) = self.published.find(repository.id, unit, holds) {
            return Ok(kept);
        }
        // Taken before the work, so that the next request notices every later change.
        let stamp = revisions.stamp([Unit::Of(repository.id, unit)], Millis(i64::MAX));
        let mut rows: PublishedPackage = read.await?.into_iter().map(Arc::new).collect();
        rows.sort_by(|one, other| order(one.name(), other.name()));
        // Names that do not exist are not kept: there is no end of them.
        if is_now && !rows.is_empty() {
            self.published.keep(repository.id, unit, rows.clone(), stamp);
        }
        Ok(rows)
    }

    /// A hosted repository that is a tree of files.
    pub(crate) fn tree<'a>(&'a self, repository: &'a Arc<Repository>) -> Tree<'a> {
        Tree { store: &self.store, context: &self.context, repository }
    }

    /// A group with what it needs to answer.
    pub(crate) fn group<'a>(&'a self, repository: &'a Arc<Repository>, place: &'a Arc<Place>) -> Group<'a> {
        let (store, context, inventory) = (&*self.store, &self.context, &self.inventory);
        let (remotes, merging) = (&self.remotes, &self.merging);
        Group { store, context, inventory, remotes, merging, repository, place }
    }
}
