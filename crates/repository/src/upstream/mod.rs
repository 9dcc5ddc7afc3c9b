//! A remote repository: its cached files are answered while their TTL lasts, and all others are fetched, once for any
//! number of concurrent requests.
//!
//! In reading order: [`fetch`] decides, [`refused`] has the paths for which no upstream is called, [`ttl`] the TTL of a
//! cached file, unless a hint makes it [`due`] or a [`counterpart`] is newer; [`known_files`] spares looks in the cache; [`flights`] allows one fetch of a path at a time ([`flight`]),
//! [`fetch_job`] is such a fetch, and [`download`] receives its body. An index may be [`followed_elsewhere`]. [`first_seen`] makes the journal record new
//! versions, [`release_age`] computes the age of a version, and [`past`] answers as of a moment. [`verify`] checks
//! cached files. No file here knows a package format: paths come as [`File`], which calls its format.

pub(crate) mod abandoned;
pub(crate) mod checksum_policy;
pub(crate) mod content_coding;
pub(crate) mod counterpart;
pub(crate) mod declared_digests;
pub(crate) mod decode;
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
pub(crate) mod flight_use;
pub(crate) mod flights;
pub(crate) mod followed_elsewhere;
pub(crate) mod gunzip;
pub(crate) mod hinted;
pub(crate) mod hinted_ttl;
pub(crate) mod job;
pub(crate) mod known_files;
pub(crate) mod looks;
pub(crate) mod past;
pub(crate) mod path_lists;
pub(crate) mod piece_buffers;
pub(crate) mod pieces;
pub(crate) mod placed;
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
use crate::error::{Error, Result};
use crate::hints::HintBoard;
use crate::index::open_files::OpenFiles;
use crate::late_digests::LateDigests;
use crate::record::RemoteRecord;
use crate::repository::Repository;
use crate::tree::file::File;
use crate::upstream::factory::UpstreamFactory;
use crate::upstream::first_seen::sights::FirstSightQueues;
use crate::upstream::flights::table::Flights;
use crate::upstream::known_files::{KnownFiles, LookedUp};
use crate::upstream::path_lists::PathLists;
use crate::upstream::piece_buffers::PieceBuffers;
use crate::waiters::{Place, Waiters};
use crate::workers::Workers;
use client::HostState;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;
use store::{CachedPath, Held, Origin, Stamp, Store, Unit};
use telemetry::{Bound, BoundName, Event, Millis, Recorder};
use tokio::runtime::Handle;

/// Interval at which the last use of an open file is recorded, in milliseconds. Otherwise a file in constant use would
/// look like the least recently used one, which eviction takes first.
pub(crate) const TOUCH_INTERVAL_MS: i64 = 3_600_000;
/// The most bytes of one answer, unpacked, and of all answers that are being read.
pub(crate) const KOJI_ANSWER_MAX: u64 = 512 << 20;
/// How long a request that has another answer waits for an upstream. A later response is cached for the next request.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// How long a request waits for an upstream that hung and is being tried again. If it does not answer, its circuit
/// stays open for twice as long.
pub(crate) const TRIAL_PATIENCE: Duration = Duration::from_secs(1);

/// Looks for the date of a file in a list of versions, which it fetches. Returns whether the age of the file may be
/// another now. Remote repositories receive this function when the server starts, because it fetches through them.
pub(crate) type DateLookup = for<'a> fn(&'a Remote, &'a File<'a>, &'a mut Event) -> Lookup<'a>;
type Lookup<'a> = Pin<Box<dyn Future<Output = Result<bool>> + Send + 'a>>;

/// Limits of the work with upstreams.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamLimits {
    /// Bytes of the path prefixes that upstreams publish.
    pub prefixes_bytes: u64,
    /// Bytes of the indexes that upstreams publish.
    pub indexes_bytes: u64,
    /// Bytes of the maps of Koji repositories.
    pub koji_maps_bytes: u64,
    /// Large files that stay open.
    pub open_files: u64,
    /// Downloads at once.
    pub fetches: u64,
    /// Upstreams, or files of one, that are called at once for one answer.
    pub width: usize,
}

/// The state that all remote repositories share.
#[derive(Debug)]
pub(crate) struct Remotes {
    pub(crate) store: Arc<Store>,
    pub(crate) recorder: Arc<Recorder>,
    /// The runtime of fetches, where no client can cancel them.
    pub(crate) back: Handle,
    /// Threads for work that reads files or takes long.
    pub(crate) workers: Arc<Workers>,
    pub(crate) upstreams: UpstreamFactory,
    pub(crate) flights: Flights,
    /// The bound of downloads that no request waits for any more.
    pub(crate) abandoned: Arc<Bound>,
    /// Memory for bytes that have arrived and are not written yet.
    pub(crate) pieces: PieceBuffers,
    /// The requests that wait for upstreams.
    pub(crate) waiters: Waiters,
    /// Large files that stay open.
    pub(crate) opened: OpenFiles<Origin, KeptFile>,
    /// Facts about cached files without a look.
    pub(crate) known_files: KnownFiles,
    /// The lists of paths that some upstreams publish.
    pub(crate) lists: PathLists,
    /// The bound of memory for the indexes of upstreams.
    pub(crate) indexes: Arc<Bound>,
    /// The bound of the answers of Koji hubs that are being read.
    pub(crate) koji_answers: Arc<Bound>,
    /// The bound of memory for the maps of Koji repositories.
    pub(crate) koji_maps: Arc<Bound>,
    /// Upstreams, or files of one, that are called at once for one answer.
    pub(crate) width: usize,
    /// Looks for the date of a file, by its format.
    pub(crate) date_lookup: DateLookup,
    /// What was first seen at upstreams and is about to be written.
    pub(crate) first_sights: FirstSightQueues,
    /// Hints that upstreams changed.
    pub(crate) hints: HintBoard,
}

/// A remote repository and the tools that it needs.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub(crate) remotes: Arc<Remotes>,
    pub(crate) repository: Arc<Repository>,
    /// The place of the request. It is weak, so work that continues after the request does not keep it.
    pub(crate) place: Weak<Place>,
    /// The look that a group made for this request.
    pub(crate) looked_up: Option<Arc<LookedUp>>,
}

/// A cached file.
#[derive(Debug, Clone)]
pub(crate) struct KeptFile {
    pub(crate) known: Arc<store::CachedFile>,
    pub(crate) held: Held,
}

/// The known state of a path.
#[derive(Debug, Clone)]
pub(crate) enum Remembered {
    File(KeptFile),
    MissingUntil(Millis),
}

/// The result of a look for a path in the cache, and how many fetches of the path had ended before. A fetch that begins
/// while no other has ended need not look again.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) found: Option<Remembered>,
    pub(crate) landings: u64,
}

impl Remotes {
    /// Builds the shared state. Fetches run on the runtime that calls this.
    pub(crate) fn new(
        store: Arc<Store>,
        recorder: Arc<Recorder>,
        workers: Arc<Workers>,
        limits: UpstreamLimits,
        upstreams: UpstreamFactory,
        waiters: Waiters,
        date_lookup: DateLookup,
    ) -> Arc<Self> {
        let flights = Flights::new(limits.fetches);
        flights.bounds().into_iter().for_each(|bound| recorder.register(bound.clone()));
        let opened = OpenFiles::new("upstreams", limits.open_files);
        recorder.register(opened.bound().clone());
        let known_files = KnownFiles::new();
        recorder.register(known_files.bound().clone());
        let abandoned = abandoned::bound();
        recorder.register(abandoned.clone());
        let pieces = PieceBuffers::new();
        recorder.register(pieces.bound().clone());
        let lists = PathLists::new(limits.prefixes_bytes);
        recorder.register(lists.bound().clone());
        let indexes = Bound::new(BoundName::UpstreamIndexes, "", limits.indexes_bytes);
        recorder.register(indexes.clone());
        let koji_answers = Bound::new(BoundName::KojiAnswers, "", KOJI_ANSWER_MAX);
        recorder.register(koji_answers.clone());
        let koji_maps = Bound::new(BoundName::KojiMaps, "", limits.koji_maps_bytes);
        recorder.register(koji_maps.clone());
        let first_sights = FirstSightQueues::new();
        recorder.register(first_sights.bound().clone());
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
            pieces,
            waiters,
            opened,
            known_files,
            lists,
            indexes,
            koji_answers,
            koji_maps,
            width: limits.width.max(1),
            date_lookup,
            first_sights,
            hints,
        })
    }

    /// A remote repository, for the request with this place.
    pub(crate) fn remote(self: &Arc<Self>, repository: &Arc<Repository>, place: &Arc<Place>) -> Remote {
        let (remotes, repository, place) = (self.clone(), repository.clone(), Arc::downgrade(place));
        Remote { remotes, repository, place, looked_up: None }
    }

    /// Refuses settings that no upstream can be built from, such as references to missing or unusable secrets. This may
    /// read files.
    pub(crate) fn check(&self, record: &RemoteRecord) -> Result<(), BadSetting> {
        self.upstreams.check(record)
    }

    /// The state of each host that was called, and the repositories that use it.
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

    pub(crate) fn late_digests(&self) -> LateDigests<'_> {
        LateDigests { workers: &self.remotes.workers, store: &self.remotes.store }
    }

    /// Takes a place for waiting for this upstream. This fails if too many requests wait.
    pub(crate) fn may_wait(&self) -> Result<()> {
        let Some(place) = self.place.upgrade() else { return Ok(()) };
        place.wait(&self.remotes.waiters, self.repository.id).map_err(Error::TooManyWait)
    }

    /// The event of a part of the request that runs beside others.
    pub(crate) fn part(&self) -> Box<Event> {
        self.place.upgrade().unwrap_or_default().part(self.now())
    }

    /// The known state of a path: an open large file, or the entry in the cache.
    pub(crate) async fn recall(&self, file: &File<'_>, event: &mut Event) -> Result<Option<Remembered>, store::Error> {
        let holds = |stamp: &Stamp| self.remotes.store.revisions().holds(stamp, self.now());
        if let Some(kept) = self.remotes.opened.find(self.repository.origin, file.path, holds) {
            return Ok(Some(Remembered::File(kept)));
        }
        let (recalled, stamp) = self.look_up(file, event).await?;
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

    /// The stamp that an open file is valid with: its folder, and the upstream. The rules are checked at each request.
    pub(crate) fn stamp(&self, file: &File<'_>) -> Stamp {
        let id = self.repository.id;
        let units = [Unit::Of(id, file.folder), Unit::Upstream(id)];
        self.remotes.store.revisions().stamp(units, Millis(self.now().0 + TOUCH_INTERVAL_MS))
    }

    /// Keeps what the next request needs: a large file open, and the row of one that does not change. `stamp` was taken before the
    /// file was looked up.
    pub(crate) fn leave_open(&self, file: &File<'_>, kept: &KeptFile, stamp: Stamp) {
        self.know(file, &kept.known, stamp);
        if let Held::File(_) = &kept.held {
            self.remotes.opened.keep(self.repository.origin, file.path, kept.clone(), stamp);
        }
    }
}
