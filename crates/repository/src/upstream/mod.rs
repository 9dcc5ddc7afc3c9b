//! A repository that stands for an upstream: what is kept of it is answered while it is good, and the rest is fetched,
//! once however many ask.
//!
//! In reading order: [`fetch`] decides, [`refused`] says which paths no upstream is asked for, [`ttl`] for how long a cached file is
//! good, unless a hint makes it [`due`]; [`flights`] has one fetch of a path at a time ([`flight`]), [`fetch_job`] is such a fetch, and [`download`] takes its body.
//! [`first_seen`] has the journal remember what fetches showed, [`release_age`] says how old a version is, and [`past`] answers as of a
//! moment. [`verify`] checks cached files. No file here knows a package format: paths come as [`File`], which asks its format.

pub(crate) mod abandoned;
pub(crate) mod checksum_policy;
pub(crate) mod content_coding;
pub(crate) mod declared_digests;
pub(crate) mod document_bytes;
pub(crate) mod download;
pub(crate) mod due;
pub(crate) mod expected_digests;
pub(crate) mod factory;
pub(crate) mod failure;
pub(crate) mod fetch;
pub(crate) mod fetch_job;
pub(crate) mod first_seen;
pub(crate) mod flight;
pub(crate) mod flights;
pub(crate) mod hinted;
pub(crate) mod hinted_ttl;
pub(crate) mod past;
pub(crate) mod path_lists;
pub(crate) mod proof;
pub(crate) mod refused;
pub(crate) mod release_age;
pub(crate) mod row;
pub(crate) mod trace;
pub(crate) mod trouble;
pub(crate) mod ttl;
pub(crate) mod upstream_cell;
pub(crate) mod verify;

use crate::bad_setting::BadSetting;
use crate::error::Error;
use crate::hints::HintBoard;
use crate::index::open_files::OpenFiles;
use crate::record::RemoteRecord;
use crate::repository::Repository;
use crate::tree::file::File;
use crate::upstream::factory::UpstreamFactory;
use crate::upstream::flights::table::Flights;
use crate::upstream::path_lists::PathLists;
use crate::waiters::{Place, Waiters};
use crate::workers::Workers;
use client::HostState;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;
use store::{CachedPath, Held, Origin, Stamp, Store, Unit};
use telemetry::{Bound, BoundName, Event, Millis, Recorder};
use tokio::runtime::Handle;

/// What is kept of an upstream is looked for again after so many milliseconds, though it cannot have changed: what is asked for all
/// the time must not seem to be what was used longest ago, which goes first.
pub(crate) const TOUCH_INTERVAL_MS: i64 = 3_600_000;
/// Most upstreams, or files of one, that are asked for at once to make one answer.
pub(crate) const WIDTH: usize = 8;
/// Whoever has something else to answer with waits for an upstream no longer than this. What it says later is there for who asks next.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes that is known of all upstreams' indexes. The largest public one comes to some 80 MB.
const INDEXES_BYTES: u64 = 1 << 30;
/// Nobody waits longer than this for an upstream that hung and is tried again: it answers, or is left alone for twice as long.
pub(crate) const TRIAL_PATIENCE: Duration = Duration::from_secs(1);

/// Looks for the date of a file in a list of versions, which is fetched for that. Says whether the age of the file may be another now.
/// It is given to remote repositories when the server starts, because it fetches through them itself.
pub(crate) type DateLookup = for<'a> fn(&'a Remote, &'a File<'a>, &'a mut Event) -> Lookup<'a>;
type Lookup<'a> = Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + 'a>>;

/// What all remote repositories share.
#[derive(Debug)]
pub(crate) struct Remotes {
    pub(crate) store: Arc<Store>,
    pub(crate) recorder: Arc<Recorder>,
    /// Where flights are: no client can end one.
    pub(crate) back: Handle,
    /// Threads for what reads files or takes long.
    pub(crate) workers: Arc<Workers>,
    pub(crate) upstreams: UpstreamFactory,
    pub(crate) flights: Flights,
    /// What is fetched though nobody waits for it any more.
    pub(crate) abandoned: Arc<Bound>,
    /// Requests that wait for these.
    pub(crate) waiters: Waiters,
    /// Large files that arrived or were asked for.
    pub(crate) opened: OpenFiles<Origin, KeptFile>,
    /// The paths that some upstreams say they have.
    pub(crate) lists: PathLists,
    /// Room for what is known of upstreams' indexes.
    pub(crate) indexes: Arc<Bound>,
    /// Looks for the date of a file, as its format does.
    pub(crate) date_lookup: DateLookup,
    /// Hints that upstreams changed.
    pub(crate) hints: HintBoard,
}

/// A remote repository and what it works with.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub(crate) remotes: Arc<Remotes>,
    pub(crate) repository: Arc<Repository>,
    /// That of the request it is asked for. Weak: what goes on after the request holds none of it.
    pub(crate) place: Weak<Place>,
}

/// A file that is kept.
#[derive(Debug, Clone)]
pub(crate) struct KeptFile {
    pub(crate) known: Arc<store::CachedFile>,
    pub(crate) held: Held,
}

/// What is remembered of a path.
pub(crate) enum Remembered {
    File(KeptFile),
    MissingUntil(Millis),
}

impl Remotes {
    /// Flights are on the runtime that this is called on.
    pub(crate) fn new(
        store: Arc<Store>,
        recorder: Arc<Recorder>,
        workers: Arc<Workers>,
        opened: OpenFiles<Origin, KeptFile>,
        upstreams: UpstreamFactory,
        waiters: Waiters,
        date_lookup: DateLookup,
    ) -> Arc<Self> {
        let flights = Flights::default();
        flights.bounds().into_iter().for_each(|bound| recorder.register(bound.clone()));
        recorder.register(opened.bound().clone());
        let abandoned = abandoned::bound();
        recorder.register(abandoned.clone());
        let lists = PathLists::new();
        recorder.register(lists.bound().clone());
        let indexes = Bound::new(BoundName::UpstreamIndexes, "", INDEXES_BYTES);
        recorder.register(indexes.clone());
        let hints = HintBoard::new();
        recorder.register(hints.bound.clone());
        Arc::new(Self {
            store,
            recorder,
            back: Handle::current(),
            workers,
            upstreams,
            flights,
            abandoned,
            waiters,
            opened,
            lists,
            indexes,
            date_lookup,
            hints,
        })
    }

    /// A repository of these, for the request that has this place.
    pub(crate) fn remote(self: &Arc<Self>, repository: &Arc<Repository>, place: &Arc<Place>) -> Remote {
        Remote { remotes: self.clone(), repository: repository.clone(), place: Arc::downgrade(place) }
    }

    /// Refuses settings that no upstream can be made of: references that lead nowhere, and what is behind the others and
    /// cannot be used. It may read files.
    pub(crate) fn check(&self, record: &RemoteRecord) -> Result<(), BadSetting> {
        self.upstreams.check(record)
    }

    /// How the hosts that were called stand, and which of these repositories have theirs on each.
    pub(crate) fn states<'a>(
        &self,
        repositories: impl Iterator<Item = &'a Arc<Repository>>,
    ) -> Vec<(HostState, Vec<String>)> {
        self.upstreams.states(repositories)
    }
}

impl Remote {
    pub(crate) fn now(&self) -> Millis {
        self.remotes.recorder.clock().now()
    }

    /// Says that the request will wait for this upstream. Where too many do, it may not.
    pub(crate) fn may_wait(&self) -> Result<(), Error> {
        let Some(place) = self.place.upgrade() else { return Ok(()) };
        place.wait(&self.remotes.waiters, self.repository.id).map_err(Error::TooManyWait)
    }

    /// What is remembered of a path: a large file that is open, or what the cache says.
    pub(crate) async fn recall(&self, file: &File<'_>, event: &mut Event) -> Result<Option<Remembered>, store::Error> {
        let holds = |stamp: &Stamp| self.remotes.store.revisions().holds(stamp, self.now());
        if let Some(kept) = self.remotes.opened.find(self.repository.origin, file.path, holds) {
            return Ok(Some(Remembered::File(kept)));
        }
        let stamp = self.stamp(file); // before the work
        let recalled = self.remotes.store.lookup_cached(self.repository.origin, file.path, self.now(), event).await?;
        Ok(recalled.map(|recalled| match recalled {
            CachedPath::File(known, held) => {
                let kept = KeptFile { known, held };
                self.leave_open(file, &kept, stamp);
                self.verify_later(file.path, &kept.known);
                Remembered::File(kept)
            }
            CachedPath::MissingUntil(until) => Remembered::MissingUntil(until),
        }))
    }

    /// What a file that is left open holds with: its folder, and where repositories are turned. Rules are asked each time.
    pub(crate) fn stamp(&self, file: &File<'_>) -> Option<Stamp> {
        let units = [Unit::Of(self.repository.id, file.folder), Unit::Settings];
        self.remotes.store.revisions().stamp(&units, Millis(self.now().0 + TOUCH_INTERVAL_MS))
    }

    /// Leaves a large file open, for whoever asks for it next: `stamp` is of before it was looked for.
    pub(crate) fn leave_open(&self, file: &File<'_>, kept: &KeptFile, stamp: Option<Stamp>) {
        if let (Held::File(_), Some(stamp)) = (&kept.held, stamp) {
            self.remotes.opened.keep(self.repository.origin, file.path, kept.clone(), stamp);
        }
    }
}
