//! The names of each repository in memory, made from rows, with the stamp that they are valid for.
//!
//! Names come from an index, if the format has one. Otherwise they are read from rows once; later changes come from the journal. Cached files of upstreams have no journal, so their names are read again when the cache has changed.
//! A large index is made by a job, and searches say so meanwhile.

use crate::context::Context;
use crate::error::Result;
use crate::index::document::Index;
use crate::maven::koji;
use crate::repository::Repository;
use crate::search::names::Names;
use crate::workers::aside;
use arc_swap::ArcSwapOption;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use store::{Change, Holding, Lane, RepositoryId, RepositoryKind, Seq, Stamp, State, Unit};
use telemetry::{Bound, Event, Job, Millis, Op, lock};
use tokio::sync::{Mutex as Turns, OwnedMutexGuard};

/// The most rows that a search reads itself before it answers. More are read by a job.
const ROWS: u64 = 20_000;
/// Number of rows that are read at once.
const PAGE: usize = 500;

/// The names of all repositories.
#[derive(Debug, Default)]
pub(crate) struct SearchIndex {
    kept: Mutex<HashMap<RepositoryId, Arc<Kept>>>,
}

/// The names of one repository.
#[derive(Debug)]
pub(crate) struct Kept {
    ready: ArcSwapOption<Ready>,
    turn: Arc<Turns<()>>,
    /// The bound of memory that all large indexes share.
    memory: Arc<Bound>,
}

/// Names, and what they were made from.
#[derive(Debug)]
struct Ready {
    names: Arc<Names>,
    from: From,
    /// The journal was read up to here.
    through: Seq,
    /// The bytes that are taken from the memory for it.
    weight: u64,
}

/// What names were made from. They are valid while it stays.
#[derive(Debug, Clone, PartialEq)]
enum From {
    /// The content of an index, by its MD5.
    Index(String),
    /// Rows.
    Rows(Stamp),
    /// Cached files.
    Cached(Stamp, Holding),
}

/// What the names of a repository are read from.
#[derive(Debug)]
pub(crate) enum NameSource {
    /// Its rows, or its cached files.
    Rows,
    /// An index with a line for each name behind a first line that is a header.
    Index(Index),
    /// Nothing: the index of its upstream was never read.
    Nothing,
}

/// The names for one search.
#[derive(Debug, Clone, Default)]
pub(crate) struct NamesNow {
    /// `None`: they are still being read for the first time, or do not fit into the memory.
    pub(crate) names: Option<Arc<Names>>,
    /// Whether they have all changes.
    pub(crate) complete: bool,
}

impl SearchIndex {
    /// The names of a repository. They are made at their first use.
    pub(crate) fn of(&self, id: RepositoryId, memory: &Arc<Bound>) -> Arc<Kept> {
        let mut kept = lock(&self.kept);
        let new = || Kept { ready: ArcSwapOption::empty(), turn: Arc::default(), memory: memory.clone() };
        kept.entry(id).or_insert_with(|| Arc::new(new())).clone()
    }

    /// Drops the names of repositories that are no more.
    pub(crate) fn retain(&self, lives: impl Fn(RepositoryId) -> bool) {
        lock(&self.kept).retain(|id, _| lives(*id));
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(ready) = self.ready.load_full() {
            self.memory.give(ready.weight);
        }
    }
}

impl Kept {
    /// The names in an index.
    pub(crate) async fn of_index(
        self: &Arc<Self>,
        context: &Context,
        index: Index,
        event: &mut Event,
    ) -> Result<NamesNow> {
        let from = From::Index(index.md5.clone());
        if let Some(ready) = self.ready.load_full().filter(|ready| ready.from == from) {
            return Ok(NamesNow { names: Some(ready.names.clone()), complete: true });
        }
        let _turn = event.waited(Op::TurnWait, self.turn.clone().lock_owned()).await;
        if let Some(ready) = self.ready.load_full().filter(|ready| ready.from == from) {
            return Ok(NamesNow { names: Some(ready.names.clone()), complete: true });
        }
        let read = move |(): &mut ()| {
            let text = String::from_utf8_lossy(&index.pieces.concat()).into_owned();
            // The first line is a header.
            Names::new(text.lines().skip(1).filter(|line| !line.is_empty()))
        };
        let names = context.workers.run(Lane::Index, Op::IndexRender, event, read).await?;
        Ok(self.settle(names, from, Seq(0)))
    }

    /// The names of a repository whose content is files by path.
    pub(crate) async fn of_files(
        self: &Arc<Self>,
        context: &Context,
        repository: &Arc<Repository>,
        now: Millis,
        event: &mut Event,
    ) -> Result<NamesNow> {
        context.store.settle_cached(event).await;
        if let Some(ready) = self.valid(context, repository, now) {
            return Ok(NamesNow { names: Some(ready.names.clone()), complete: true });
        }
        if self.rows_to_read(context, repository) > ROWS {
            if let Ok(turn) = self.turn.clone().try_lock_owned() {
                let (kept, context, repository) = (self.clone(), context.clone(), repository.clone());
                let back = context.back.clone();
                back.spawn(async move { kept.update_as_job(turn, context, repository).await });
            }
            let names = self.ready.load_full().map(|ready| ready.names.clone());
            return Ok(NamesNow { names, complete: false });
        }
        let turn = event.waited(Op::TurnWait, self.turn.clone().lock_owned()).await;
        if let Some(ready) = self.valid(context, repository, now) {
            return Ok(NamesNow { names: Some(ready.names.clone()), complete: true });
        }
        self.update(&turn, context, repository, event).await
    }

    /// What was made, if nothing has changed since.
    fn valid(&self, context: &Context, repository: &Repository, now: Millis) -> Option<Arc<Ready>> {
        let holds = |stamp: &Stamp| context.store.revisions().holds(stamp, now);
        self.ready.load_full().filter(|ready| match &ready.from {
            From::Index(_) => false,
            From::Rows(stamp) => holds(stamp),
            From::Cached(stamp, holding) => holds(stamp) && *holding == context.store.cached_holding(repository.origin),
        })
    }

    /// How many rows an update reads.
    fn rows_to_read(&self, context: &Context, repository: &Repository) -> u64 {
        let store = &context.store;
        match (repository.record.kind, self.ready.load_full()) {
            (RepositoryKind::Remote, _) => store.cached_holding(repository.origin).files,
            (_, None) => store.holding(repository.id).files,
            (_, Some(ready)) => store.last().0.saturating_sub(ready.through.0),
        }
    }

    async fn update_as_job(self: Arc<Self>, turn: OwnedMutexGuard<()>, context: Context, repository: Arc<Repository>) {
        let mut job = Job::begin(&context.recorder, "search.index");
        job.subject.repository = repository.record.name.as_str().into();
        let done = self.update(&turn, &context, &repository, &mut job).await.map(drop);
        if let Err(error) = &done {
            (job.reason, job.detail) = (Some(error.reason()), error.to_string());
        }
        job.end_as(&done);
    }

    /// Reads what has changed. The caller has the turn.
    async fn update(
        self: &Arc<Self>,
        _turn: &OwnedMutexGuard<()>,
        context: &Context,
        repository: &Arc<Repository>,
        event: &mut Event,
    ) -> Result<NamesNow> {
        let store = &context.store;
        let stamp = store.revisions().stamp([Unit::All(repository.id)], Millis(i64::MAX));
        if repository.record.kind == RepositoryKind::Remote {
            let holding = store.cached_holding(repository.origin);
            let all = cached(context, repository, event).await?;
            return self.make(context, all, From::Cached(stamp, holding), Seq(0), event).await;
        }
        let through = store.last();
        let Some(ready) = self.ready.load_full() else {
            let all = published(context, repository, event).await?;
            return self.make(context, all, From::Rows(stamp), through, event).await;
        };
        let changes = changes(context, repository, ready.through, event).await?;
        let names = ready.names.clone();
        let news = move || Ok((!names.has_all(&changes)).then(|| names.changed(&changes)));
        let rows = usize::try_from(ready.weight / 32).unwrap_or(usize::MAX);
        let changed = aside(&context.workers, Lane::Index, Op::IndexRender, rows, event, news).await?;
        match changed {
            Some(names) => Ok(self.settle(names, From::Rows(stamp), through)),
            None => {
                let (names, weight) = (ready.names.clone(), ready.weight);
                self.ready.store(Some(Arc::new(Ready {
                    names: names.clone(),
                    from: From::Rows(stamp),
                    through,
                    weight,
                })));
                Ok(NamesNow { names: Some(names), complete: true })
            }
        }
    }

    async fn make(
        &self,
        context: &Context,
        all: BTreeSet<String>,
        from: From,
        through: Seq,
        event: &mut Event,
    ) -> Result<NamesNow> {
        let join = move |(): &mut ()| Names::new(all.iter().map(String::as_str));
        let names = context.workers.run(Lane::Index, Op::IndexRender, event, join).await?;
        Ok(self.settle(names, from, through))
    }

    /// Stores names if they fit into the memory.
    fn settle(&self, names: Names, from: From, through: Seq) -> NamesNow {
        if let Some(before) = self.ready.swap(None) {
            self.memory.give(before.weight);
        }
        let (weight, names) = (names.weight(), Arc::new(names));
        if self.memory.take(weight).is_err() {
            // This search has them, and the next one makes them again.
            return NamesNow { names: Some(names), complete: true };
        }
        self.ready.store(Some(Arc::new(Ready { names: names.clone(), from, through, weight })));
        NamesNow { names: Some(names), complete: true }
    }
}

/// The name under which a file is found: that of its package, or its path.
pub(crate) fn name_of(repository: &Repository, path: &str) -> String {
    repository.file(path).package().map_or_else(|| path.to_owned(), |(_, package, _)| package)
}

/// The names of all live entries.
async fn published(context: &Context, repository: &Repository, event: &mut Event) -> Result<BTreeSet<String>> {
    let (mut names, mut after) = (BTreeSet::new(), String::new());
    loop {
        let units = context.store.units(repository.id, &after, PAGE, event).await?;
        let Some(last) = units.last() else { return Ok(names) };
        after.clone_from(last);
        for unit in &units {
            let in_it = format!("{unit}/file");
            match repository.file(&in_it).package() {
                Some((_, package, _)) => {
                    names.insert(package);
                }
                None => {
                    let rows = context.store.live_unit(repository.id, unit, Lane::Index, event).await?;
                    names.extend(rows.entries.iter().map(|entry| name_of(repository, &entry.key)));
                }
            }
        }
    }
}

/// The names of all cached files.
async fn cached(context: &Context, repository: &Repository, event: &mut Event) -> Result<BTreeSet<String>> {
    if repository.is_koji() {
        return Ok(koji::names(repository));
    }
    let (mut names, mut after) = (BTreeSet::new(), String::new());
    loop {
        let files = context.store.cached_files(repository.origin, "", &after, PAGE, event).await?;
        let Some((last, _)) = files.last() else { return Ok(names) };
        after.clone_from(last);
        names.extend(files.iter().map(|(path, _)| name_of(repository, path)));
    }
}

/// The names whose entries changed after a row of the journal, and whether each has a live entry now.
async fn changes(
    context: &Context,
    repository: &Repository,
    after: Seq,
    event: &mut Event,
) -> Result<BTreeMap<String, bool>> {
    let (mut names, mut after) = (BTreeMap::new(), after);
    loop {
        let rows = context.store.journal(after, PAGE, event).await?;
        let Some(last) = rows.last() else { break };
        after = last.seq;
        for row in rows {
            if let Change::Entry { repository: id, entry } = row.change
                && id == repository.id
            {
                names.insert(name_of(repository, &entry.key), (entry.state == State::Live, entry.key));
            }
        }
    }
    let mut changes = BTreeMap::new();
    for (name, (live, key)) in names {
        let present = live || has_live(context, repository, &name, &key, event).await?;
        changes.insert(name, present);
    }
    Ok(changes)
}

/// Whether a package has a live entry, one of whose paths is known.
async fn has_live(
    context: &Context,
    repository: &Repository,
    name: &str,
    path: &str,
    event: &mut Event,
) -> Result<bool> {
    let folder = repository.file(path).package().map(|(folder, ..)| format!("{folder}/"));
    let prefix = folder.as_deref().unwrap_or(path);
    let mut after = String::new();
    loop {
        let rows = context.store.live_entries_beginning(repository.id, prefix, &after, PAGE, event).await?;
        let Some(last) = rows.last() else { return Ok(false) };
        if rows.iter().any(|row| name_of(repository, &row.key) == name) {
            return Ok(true);
        }
        after.clone_from(&last.key);
    }
}
