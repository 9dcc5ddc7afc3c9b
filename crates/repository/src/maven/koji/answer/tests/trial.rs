//! A Koji repository with a map in memory and a server of its files on loopback, which counts what it is asked for.

use crate::author::Author;
use crate::bad_setting::BadSetting;
use crate::content::{Content, Source};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::maven::koji::change::{Change, MappedBuild, MappedFile, Tagging};
use crate::maven::koji::map::KojiMap;
use crate::maven::koji::state::Known;
use crate::record::{KojiRecord, PolicyRecord, RemoteRecord, RepositoryRecord};
use crate::references::References;
use crate::repository::Repository;
use crate::repository::shared::Shared;
use crate::tree::by_format::look_for_date;
use crate::upstream::factory::UpstreamFactory;
use crate::upstream::trace::FetchTrace;
use crate::upstream::{Remote, Remotes, UpstreamLimits};
use crate::waiters::{Waiters, WaitersLimits};
use crate::workers::Workers;
use client::{Hosts, HostsOptions, Secret};
use format::koji::model::{BuildId, EventId, FileDigest, KojiEvent, Nvr, TagId};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use store::{Hashes, PoolOptions, RepositoryId, RepositoryKind, Seq, Store, StoreOptions, Threads};
use telemetry::{Bound, BoundName, Clock, Event, Millis, Op, PoolName, Reason, Recorder};
use tempfile::TempDir;

pub(crate) const DAY: i64 = 86_400_000;
/// The moment of the tests.
pub(crate) const NOW: i64 = 100 * DAY;

#[derive(Debug)]
struct NoReferences;

impl References for NoReferences {
    fn secret(&self, reference: &str) -> Result<Secret, BadSetting> {
        Err(BadSetting::new(reference.to_owned(), "none"))
    }

    fn pem(&self, path: &str) -> Result<Vec<u8>, BadSetting> {
        Err(BadSetting::new(path.to_owned(), "none"))
    }
}

/// The server of files: the bytes at each path, and the requests so far.
#[derive(Debug, Default)]
pub(crate) struct Files {
    pub(crate) at: Mutex<HashMap<String, Vec<u8>>>,
    pub(crate) asked: Mutex<Vec<String>>,
    /// Whether each body has no length and goes on for 64 MiB.
    pub(crate) is_endless: AtomicBool,
}

pub(crate) struct Trial {
    pub(crate) remote: Remote,
    pub(crate) files: Arc<Files>,
    pub(crate) clock: Clock,
    map: Mutex<KojiMap>,
    _folder: TempDir,
}

impl Trial {
    pub(crate) async fn begin() -> Self {
        Self::with(|_| ()).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut RepositoryRecord)) -> Self {
        let trial = Self::unread(change, 1 << 20, 1 << 20).await;
        trial.keep(None);
        trial
    }

    /// The same before a first look, with these limits of the rows in the journal and of maps, in bytes.
    pub(crate) async fn unread(
        change: impl FnOnce(&mut RepositoryRecord),
        first_seen_max_bytes: u64,
        koji_maps_bytes: u64,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::at(Millis(NOW));
        let recorder = Recorder::silent(clock.clone());
        let options = StoreOptions {
            floor_bytes: 0,
            first_seen_max_bytes,
            ..StoreOptions::new(folder.path(), clock.clone(), recorder.clone())
        };
        let store = Store::open(options).unwrap();
        let options = PoolOptions {
            threads: Threads::Working("work"),
            pool: PoolName::WorkThreads,
            bound: BoundName::WorkThreads,
            capacity: 8,
            wait: Op::WorkWait,
        };
        let workers = Arc::new(Workers::start(options, &recorder, vec![()]).unwrap());
        let limits = UpstreamLimits {
            prefixes_bytes: 1 << 20,
            indexes_bytes: 1 << 20,
            koji_maps_bytes,
            open_files: 16,
            fetches: 64,
            width: 4,
        };
        let upstreams =
            UpstreamFactory::new(Hosts::new(recorder.clone(), HostsOptions::default()), Arc::new(NoReferences));
        let waiters = Waiters::new(WaitersLimits { all: 64, each_repository: 64, each_client: 64 }, &recorder);
        let remotes = Remotes::new(store.clone(), recorder, workers, limits, upstreams, waiters, look_for_date);
        let files = Arc::new(Files::default());
        let mut record = RepositoryRecord::new("builds", "maven", RepositoryKind::Remote, Millis(0));
        let koji = KojiRecord {
            hub: format!("{}/kojihub", serve(&files)),
            files: format!("{}/top", serve(&files)),
            tags: vec!["release".to_owned()],
            inherit: false,
            duplicates: None,
        };
        record.remote = Some(Box::new(RemoteRecord { koji: Some(Box::new(koji)), ..RemoteRecord::default() }));
        change(&mut record);
        let added = store::Change::Repository { id: RepositoryId(0), record: record.stored().unwrap() };
        let batch = Author::SERVER.batch(Millis(NOW), Vec::new(), vec![added]);
        let id = RepositoryId(store.commit(batch, &mut Event::job("test", Millis(NOW))).await.unwrap().0);
        let shared = Arc::new(Shared::new(id, &Bound::new(BoundName::Indexes, "", 1)));
        let stored = Arc::new(record.stored().unwrap());
        let repository = Arc::new(Repository::new(id, record, stored, Format::Maven, shared));
        let remote = Remote { remotes, repository, place: Weak::new(), looked_up: None };
        Self { remote, files, clock, map: Mutex::default(), _folder: folder }
    }

    /// The same after a start of the server: all that was in memory is gone.
    pub(crate) fn restarted(&self) -> Remote {
        let Remote { repository, .. } = &self.remote;
        let (id, record) = (repository.id, repository.record.clone());
        let shared = Arc::new(Shared::new(id, &Bound::new(BoundName::Indexes, "", 1)));
        let stored = repository.stored.clone();
        let repository = Arc::new(Repository::new(id, record, stored, Format::Maven, shared));
        Remote { repository, ..self.remote.clone() }
    }

    fn keep(&self, failed: Option<Reason>) {
        let map = Arc::new(self.map.lock().unwrap().clone());
        let known = Known {
            checked: Millis(NOW - 30_000),
            tried: Millis(NOW),
            failed,
            event: EventId(1_000),
            ..Known::new(self.remote.repository.origin, map)
        };
        self.remote.repository.shared.koji().replace(known);
    }

    /// Looks fail for this reason from now on.
    pub(crate) fn fail(&self, reason: Reason) {
        self.keep(Some(reason));
    }

    pub(crate) fn apply(&self, changes: &[Change], at: i64, seq: u64) {
        self.map.lock().unwrap().apply(changes, Millis(at), Seq(seq));
        self.keep(None);
    }

    /// Puts a build into the tag, with these files, which the server has, too.
    pub(crate) fn tag(&self, build: Build<'_>, at: i64, seq: u64) {
        let Build { id, nvr, event, files } = build;
        for (path, bytes) in files {
            let (folder, name) = path.rsplit_once('/').unwrap();
            let place = format!("/top/packages/{}/1.0/1/maven/{folder}/{name}", nvr);
            self.files.at.lock().unwrap().insert(place, bytes.to_vec());
        }
        self.apply(&changes(id, nvr, event, files), at, seq);
    }

    pub(crate) async fn fetch(&self, path: &str) -> (Result<Content>, FetchTrace) {
        fetch(&self.remote, path).await
    }

    /// The text of a file, or the error.
    pub(crate) async fn text(&self, path: &str) -> Result<String> {
        Ok(String::from_utf8(bytes(self.fetch(path).await.0?)).unwrap())
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.files.asked.lock().unwrap().clone()
    }

    /// The same repository as of a moment.
    pub(crate) fn as_of(&self, past: crate::as_of::Past) -> Remote {
        let Remote { repository, .. } = &self.remote;
        let repository = Arc::new(repository.seen(repository.rules.clone(), Some(past)));
        Remote { repository, ..self.remote.clone() }
    }
}

/// A build `NVR-1.0-1` that is tagged at an event.
#[derive(Clone, Copy)]
pub(crate) struct Build<'a> {
    pub(crate) id: u32,
    pub(crate) nvr: &'a str,
    pub(crate) event: u64,
    pub(crate) files: &'a [(&'a str, &'a [u8])],
}

pub(crate) fn changes(id: u32, name: &str, event: u64, files: &[(&str, &[u8])]) -> Vec<Change> {
    let file = |(path, bytes): &(&str, &[u8])| {
        let (folder, name) = path.rsplit_once('/').unwrap();
        let md5 = Hashes::of(bytes).md5.unwrap();
        let digit = |at: usize| u8::from_str_radix(&md5[2 * at..2 * at + 2], 16).unwrap();
        let digest = FileDigest::Md5(std::array::from_fn(digit));
        MappedFile { folder: folder.to_owned(), name: name.to_owned(), size_bytes: bytes.len() as u64, digest }
    };
    let nvr = Nvr { name: name.to_owned(), version: "1.0".to_owned(), release: "1".to_owned() };
    let files = files.iter().map(file).collect();
    vec![
        Change::Tag { tag: TagId(1), name: "release".to_owned() },
        Change::Build(MappedBuild { id: BuildId(id), nvr, volume: "DEFAULT".to_owned(), files, deleted: false }),
        Change::Tagged(Tagging {
            build: BuildId(id),
            tag: TagId(1),
            tag_name: "release".to_owned(),
            tagged: event_of(event),
            tagged_by: Some("ann".to_owned()),
        }),
    ]
}

/// An event, one day after the one before.
pub(crate) fn event_of(id: u64) -> KojiEvent {
    KojiEvent { id: EventId(id), at_ms: i64::try_from(id).unwrap() * DAY }
}

pub(crate) async fn fetch(remote: &Remote, path: &str) -> (Result<Content>, FetchTrace) {
    let (mut trace, mut event) = (FetchTrace::default(), Event::job("test", Millis(NOW)));
    let file = remote.repository.file(path);
    let found = crate::maven::koji::answer::fetch(remote, &file, &mut trace, &mut event).await;
    (found, trace)
}

pub(crate) fn bytes(content: Content) -> Vec<u8> {
    match &content.source {
        Source::Memory(bytes) => bytes.to_vec(),
        _ => content.bytes().unwrap().to_vec(),
    }
}

/// The reason of an upstream's failure.
pub(crate) fn reason(found: Result<Content>) -> Reason {
    match found {
        Err(Error::Upstream(failure)) => failure.reason,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn cooldown(record: &mut RepositoryRecord, days: u64) {
    record.policy = Some(Box::new(PolicyRecord { cooldown_s: Some(days * 86_400), ..PolicyRecord::default() }));
}

/// Serves the files on a port of its own. The thread ends with the process of the test.
#[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
fn serve(files: &Arc<Files>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let files = files.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines.next().and_then(std::result::Result::ok).unwrap_or_default();
            let head: BTreeMap<usize, String> =
                lines.map_while(std::result::Result::ok).take_while(|line| !line.is_empty()).enumerate().collect();
            drop(head);
            let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            files.asked.lock().unwrap().push(path.clone());
            if files.is_endless.load(Ordering::Relaxed) {
                let head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec();
                let pieces = std::iter::once(head).chain(std::iter::repeat_n(vec![b'y'; 1 << 20], 64));
                let _ = pieces.map(|piece| stream.write_all(&piece)).find(std::result::Result::is_err);
                continue;
            }
            let found = files.at.lock().unwrap().get(&path).cloned();
            let (status, body) = found.map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    url
}
