//! All repositories, and the one function that answers a question to one of them.

mod browse;
pub(crate) mod cached;
pub(crate) mod change;
pub(crate) mod cleanup;
pub(crate) mod clock;
pub(crate) mod contents;
pub(crate) mod file_removal;
pub(crate) mod followed;
pub(crate) mod foresee;
pub(crate) mod former;
pub(crate) mod frees;
pub(crate) mod hidden_hosted;
pub(crate) mod hints;
pub(crate) mod holding;
pub(crate) mod journal;
pub(crate) mod kept_hints;
mod late_digests;
pub(crate) mod members;
pub(crate) mod packages;
pub(crate) mod published_bytes;
pub(crate) mod purge;
pub(crate) mod removal;
mod setting_changes;
pub(crate) mod stamps;
pub(crate) mod upkeep;

use crate::actor::Actor;
use crate::as_of::AsOf;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::face::Face;
use crate::format::Format;
use crate::formats::face;
use crate::found::Found;
use crate::gem::answer::gems;
use crate::gem::caches::GemCaches;
use crate::index::open_files::OpenFiles;
use crate::maven::koji;
use crate::package::published::PublishedPackages;
use crate::question::{Ask, Question};
use crate::references::References;
use crate::repositories::followed::Followers;
use crate::repository::{Repository, RepositoryTable};
use crate::search::index::SearchIndex;
use crate::services::{Served, Services, list};
use crate::tree;
use crate::tree::by_format::look_for_date;
use crate::tree::inventory::Inventory;
use crate::upstream::factory::UpstreamFactory;
use crate::upstream::{Remotes, UpstreamLimits};
use crate::waiters::{Waiters, WaitersLimits};
use crate::workers::Workers;
use arc_swap::ArcSwap;
use client::{HostState, Hosts};
use std::sync::Arc;
use store::{RepositoryId, RepositoryKind, Staged, Stamp, Store};
use telemetry::{Bound, BoundName, Event, Layer, Recorder, Text};
use tokio::sync::Mutex;

/// The share of the memory for views that versions of packages take: one part of so many.
const PACKAGES_SHARE: u64 = 4;

/// Limits of the memory and the open files of all repositories.
#[derive(Debug)]
pub struct MemoryLimits {
    /// Bytes of large indexes, which all readers share.
    pub indexes: Arc<Bound>,
    /// Bytes of the rendered parts of the dependency API.
    pub dependencies_bytes: u64,
    /// Bytes of gem indexes that a policy filters, or as of a moment, and of versions of hosted packages.
    pub views_bytes: u64,
    /// Large files of hosted repositories and groups that stay open.
    pub open_files: u64,
    /// Bytes of file names of folders.
    pub folders_bytes: u64,
    /// Bytes of the state of recently pushed gems.
    pub pushed_gems_bytes: u64,
    /// Bytes of documents that are merged for groups at once.
    pub merging_bytes: u64,
    /// Limits of the work with upstreams.
    pub upstreams: UpstreamLimits,
    /// Limits of requests that wait for upstreams.
    pub waiters: WaitersLimits,
}

/// All repositories of this server.
#[derive(Debug)]
pub struct Repositories {
    pub(crate) services: Services,
    /// The names of packages and files, for searches.
    pub(crate) searched: SearchIndex,
    /// Open large files of hosted repositories and groups, each with the name of its package for the event. The open
    /// files of remote repositories have a table of their own.
    opened: OpenFiles<RepositoryId, (Found, Text)>,
    /// Held while a cleanup is planned or carried out.
    cleaning: Mutex<()>,
}

impl Repositories {
    /// Reads the table of repositories. `references` reads secrets and certificates, `hosts` are the hosts of
    /// upstreams. Background work runs on the runtime that calls this.
    pub async fn open(
        store: Arc<Store>,
        workers: Workers,
        recorder: Arc<Recorder>,
        room: MemoryLimits,
        references: Arc<dyn References>,
        hosts: Arc<Hosts>,
        event: &mut Event,
    ) -> Result<Self> {
        let opened = OpenFiles::new("published", room.open_files);
        let (upstream_limits, inventory) = (room.upstreams, Inventory::new(room.folders_bytes));
        let merging = Bound::new(BoundName::Merging, "", room.merging_bytes);
        let packages_bytes = room.views_bytes / PACKAGES_SHARE;
        let views_bytes = room.views_bytes - packages_bytes;
        let gem_caches = GemCaches::new(room.pushed_gems_bytes, room.dependencies_bytes, views_bytes, &recorder);
        let published = PublishedPackages::new(packages_bytes);
        let (waiters, room) = (Waiters::new(room.waiters, &recorder), room.indexes);
        let known = Arc::new(ArcSwap::from_pointee(list::read(&store, None, &room, event).await?));
        let formats = known.clone();
        recorder.set_format_of(move |name| {
            let repositories: &RepositoryTable = &formats.load();
            repositories.by_name.get(name).map(|one| one.format.as_str())
        });
        holding::show_in_metrics(&recorder, &store, &known);
        Format::ALL.iter().for_each(|format| face!(*format, show_in_metrics(&recorder, &known)));
        hints::show_in_metrics(&recorder, &known);
        let clock = recorder.clock().clone();
        recorder.register(published.bound().clone());
        recorder.register(opened.bound().clone());
        recorder.register(inventory.bound().clone());
        recorder.register(merging.clone());
        let workers = Arc::new(workers);
        let upstreams = UpstreamFactory::new(hosts, references);
        let remotes = Remotes::new(
            store.clone(),
            recorder.clone(),
            workers.clone(),
            upstream_limits,
            upstreams,
            waiters,
            look_for_date,
        );
        let context = Context::new(store.clone(), workers, recorder);
        let (pushed, of_others) = (gem_caches.pushed.clone(), context.clone());
        let followers = Followers { context: of_others, known: known.clone(), remotes: remotes.clone(), pushed };
        store.on_followed(move |rows| followers.take_in(rows));
        let (reading, changing) = (Mutex::default(), Mutex::default());
        let services = Services {
            store,
            context,
            clock,
            known,
            reading,
            changing,
            room,
            remotes,
            gem_caches,
            published,
            inventory,
            merging,
        };
        let (searched, cleaning) = (SearchIndex::default(), Mutex::default());
        let repositories = Self { services, searched, opened, cleaning };
        kept_hints::restore_hints(&repositories.services, event).await;
        Ok(repositories)
    }

    /// The same with a default upstream of gems. Nobody chose it, so until it was first reached, a group lists the gems of
    /// its other members.
    #[must_use]
    pub fn with_default_gems(mut self, url: Option<String>) -> Self {
        self.services.gem_caches.default_upstream = url;
        self
    }

    /// What the formats work with.
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// A repository, with what its format needs to work on it.
    pub(crate) fn served<'a>(&'a self, repository: &'a Arc<Repository>, settings: &'a Stamp) -> Served<'a> {
        Served { services: &self.services, repository, settings }
    }

    /// Writes what was first seen at upstreams by now to the journal.
    pub async fn write_first_sights(&self) {
        let known = self.services.known.load_full();
        for repository in known.by_name.values().filter(|one| one.record.remote.is_some()) {
            let remote = self.services.remotes.remote(repository, &Arc::default());
            remote.write_sights_as_job().await;
        }
    }

    /// Saves what the data folder does not have yet. Call it before the store is closed.
    pub async fn close(&self) {
        self.write_first_sights().await;
        let known = self.services.known.load_full();
        for repository in known.by_name.values() {
            face!(repository.format, close(self.served(repository, &known.stamp)).await);
        }
    }

    /// The state of the upstream hosts that were called since the start, and the names of the repositories that use
    /// each.
    pub async fn upstreams(&self, event: &mut Event) -> Result<Vec<(HostState, Vec<String>)>> {
        let known = self.table(event).await?;
        Ok(self.services.remotes.states(known.by_name.values()))
    }

    /// The repositories with their present settings.
    pub async fn table(&self, event: &mut Event) -> Result<Arc<RepositoryTable>> {
        self.services.table(event).await
    }

    /// A function that tells the kind and the format of a repository, for threads of telemetry. After a change of repositories it is
    /// behind until a request has read them again.
    pub fn facts(&self) -> impl Fn(&str) -> Option<(RepositoryKind, Format)> + Send + Sync + 'static {
        let known = self.services.known.clone();
        move |name| known.load().by_name.get(name).map(|one| (one.record.kind, one.format))
    }

    /// The threads for work that would block an event loop for too long.
    pub fn workers(&self) -> &Workers {
        &self.services.context.workers
    }

    /// The repository of that name, and the revision of its settings.
    pub async fn find(&self, name: &str, event: &mut Event) -> Result<(Arc<Repository>, Stamp)> {
        self.services.find(name, event).await
    }

    /// The same repository as of a moment.
    pub async fn as_of(&self, repository: &Repository, as_of: AsOf, event: &mut Event) -> Result<Arc<Repository>> {
        let (store, now) = (&self.services.store, self.services.clock.now());
        let past = match as_of {
            AsOf::Koji(at) => koji::answer::as_of::past(&self.services, repository, at, event).await?,
            AsOf::Moment(_) | AsOf::Change(_) => as_of.past(store, now, event).await?.ok_or(Error::GivenUp)?,
        };
        Ok(Arc::new(repository.as_of(past)?))
    }

    /// The same without a call to an upstream, for an explanation.
    pub async fn foreseen_as_of(
        &self,
        repository: &Repository,
        as_of: AsOf,
        event: &mut Event,
    ) -> Result<Arc<Repository>> {
        self.as_of(&repository.unasked(), as_of, event).await
    }

    /// Answers one question. `upload` is the body of a push, `by` the caller, and `stamp` covers everything that the
    /// answer is made from.
    pub async fn answer(
        &self,
        (ask, stamp): (&Ask<'_>, Option<Stamp>),
        upload: Option<Staged>,
        by: Actor<'_>,
        event: &mut Event,
    ) -> Result<Found> {
        // Open files are those of now. The open files of remote repositories are in a table of their own.
        let Repository { as_of, record, .. } = &*ask.repository;
        let here = as_of.is_none() && record.kind != RepositoryKind::Remote;
        let Some(name) = ask.question.file().filter(|_| here) else {
            return self.dispatch(ask, upload, by, event).await;
        };
        let (id, holds) = (ask.repository.id, |stamp: &Stamp| {
            self.services.store.revisions().holds(stamp, self.services.clock.now())
        });
        if let Some((found, package)) = self.opened.find(id, name, holds) {
            (event.layer, event.subject.package) = (Layer::Open, package);
            return Ok(found);
        }
        let found = self.dispatch(ask, upload, by, event).await?;
        if let (Some(again), Some(stamp)) = (found.again(), stamp) {
            let stamp = found.fresh_until().map_or(stamp, |until| stamp.until(until));
            self.opened.keep(id, name, (again, event.subject.package.clone()), stamp);
        }
        Ok(found)
    }

    /// Answers a question that no open or cached file answers: the one dispatch by format.
    pub(crate) async fn dispatch(
        &self,
        ask: &Ask<'_>,
        upload: Option<Staged>,
        by: Actor<'_>,
        event: &mut Event,
    ) -> Result<Found> {
        let services = &self.services;
        match &ask.question {
            Question::Gem(question) => Box::pin(gems(services, question, ask, upload, by, event)).await,
            Question::Root => Ok(Found::Root),
            Question::ClientSettings(file) => {
                Ok(Found::Tree(tree::Found::Content(file.of(&ask.repository, &ask.parameters.base()))))
            }
            Question::Tree(question) => tree::answer::answer(services, question, ask, upload, by, event).await,
        }
    }

    /// Refuses an upload that can never be accepted, before its body is read.
    pub fn admit(&self, ask: &Ask<'_>, by: Actor<'_>) -> Result<()> {
        match &ask.question {
            Question::Tree(tree::Question::Deploy(file)) => tree::admit::admit(&ask.repository, file, by),
            _ => Ok(()),
        }
    }
}
