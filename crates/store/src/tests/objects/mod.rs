//! A store with object storage: where bytes are, which survive, and which writes are refused.

mod collecting;
mod lost;
mod lying;
mod segments;

use super::{job, keep, options, publication};
use crate::truth::suite::{R, batch, publish, repository};
use crate::{Batch, BlobLife, Change, CommitError, Digest, Error, Expect, Hashes, Objects, Seq, Store, StoreOptions};
use lying::{Fault, Lying};
use object_store::ObjectStoreExt as _;
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use telemetry::{Clock, Event, Millis, Recorder, RecorderOptions, Sink};
use tokio::runtime::{Builder, Handle};

/// The runtime of the client of object storage, on a thread of its own.
static RUNTIME: LazyLock<Handle> = LazyLock::new(|| {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    handle
});

/// Object storage in memory.
pub(crate) fn in_memory() -> Objects {
    of(Arc::new(InMemory::new()))
}

fn of(store: Arc<dyn object_store::ObjectStore>) -> Objects {
    Objects {
        store,
        prefix: "test".into(),
        url: "s3://bucket/test".into(),
        runtime: RUNTIME.clone(),
        local_max_bytes: 1 << 30,
        patience: Duration::from_secs(30),
    }
}

/// A store with its folder and its object storage.
struct World {
    folder: tempfile::TempDir,
    clock: Clock,
    objects: Objects,
    there: Arc<Lying>,
    store: Arc<Store>,
}

fn open_with(data: &Path, clock: &Clock, objects: Option<Objects>) -> Result<Arc<Store>, Error> {
    let blob_life = BlobLife { collect_after: Duration::ZERO, ..BlobLife::default() };
    Store::open(StoreOptions { clock: clock.clone(), objects, blob_life, ..options(data) })
}

impl World {
    async fn new() -> Self {
        let there = Arc::new(Lying::default());
        Self::with(of(there.clone()), there).await
    }

    async fn with(objects: Objects, there: Arc<Lying>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::at(Millis(1_000_000));
        let store = open_with(folder.path(), &clock, Some(objects.clone())).unwrap();
        let world = Self { folder, clock, objects, there, store };
        world.change(repository(0, "first", &[], false)).await.unwrap();
        world
    }

    fn reopen(&mut self, objects: Objects) {
        self.store.close();
        self.objects = objects.clone();
        self.store = open_with(self.folder.path(), &self.clock, Some(objects)).unwrap();
    }

    async fn change(&self, change: Change) -> Result<(), CommitError> {
        let batch = Batch { at: self.clock.now(), ..batch(vec![], vec![change]) };
        self.store.commit(batch, &mut job()).await.map(drop)
    }

    /// Uploads and publishes bytes, as a push does.
    async fn publish(&self, number: u32) -> Result<Digest, CommitError> {
        let (bytes, change) = publication("rack", number);
        self.upload(bytes, change).await
    }

    async fn upload(&self, bytes: Vec<u8>, change: Change) -> Result<Digest, CommitError> {
        let event = &mut job();
        let mut staged = self.store.stage(event).await.unwrap();
        staged.write(bytes.into(), event).await.unwrap();
        let kept = self.store.keep(staged, event).await.map_err(CommitError::from)?;
        let digest = kept.hashes.sha256;
        let batch = Batch { at: self.clock.now(), holds: vec![kept.hold], ..batch(vec![], vec![change]) };
        self.store.commit(batch, event).await.map(|_| digest)
    }

    fn key(&self, digest: &Digest, generation: u64) -> Key {
        self.objects.blob(digest, crate::Seq(generation))
    }

    async fn has_object(&self, digest: &Digest, generation: u64) -> bool {
        self.there.inner.head(&self.key(digest, generation)).await.is_ok()
    }

    fn is_on_disk(&self, digest: &Digest) -> bool {
        self.store.layout().blob(digest).file.is_file()
    }

    /// Removes the local file of a blob, as if it had not been used for long.
    #[expect(clippy::disallowed_methods, reason = "loss")]
    fn lose(&self, digest: &Digest) {
        std::fs::remove_file(self.store.layout().blob(digest).file).unwrap();
    }

    async fn read(&self, digest: Digest) -> Result<bytes::Bytes, Error> {
        self.store.read_blob(digest, &mut job()).await
    }
}

#[tokio::test]
async fn published_bytes_are_an_object_before_their_row_and_come_back_when_the_disk_lacks_them() {
    let world = World::new().await;
    let digest = world.publish(1).await.unwrap();
    assert!(world.has_object(&digest, 0).await && world.is_on_disk(&digest));
    world.lose(&digest);
    assert_eq!(world.read(digest).await.unwrap(), "rack-1");
    assert!(world.is_on_disk(&digest));
    world.lose(&digest);
    assert_eq!(world.store.open_blob(digest, &mut job()).await.unwrap().1, 6);
    world.lose(&digest);
    let event = &mut job();
    let staged = world.store.stage_published(Hashes::of(b"rack-1"), event).await.unwrap().unwrap();
    assert_eq!(staged.beginning(4, event).await.unwrap(), b"rack");
    let never = Hashes::of(b"never").sha256;
    assert!(matches!(world.read(never).await, Err(Error::BlobMissing(digest)) if digest == never));
}

#[tokio::test]
async fn bytes_are_sent_before_their_batch_is_made_and_once_however_often_it_is_refused() {
    let world = World::new().await;
    let (event, (bytes, change)) = (&mut job(), publication("rack", 1));
    let mut staged = world.store.stage(event).await.unwrap();
    staged.write(bytes.into(), event).await.unwrap();
    let kept = world.store.keep(staged, event).await.unwrap();
    assert!(world.has_object(&kept.hashes.sha256, 0).await);
    for (expect, made) in [(vec![Expect::JournalAt(Seq(0))], false), (vec![], true)] {
        let (at, holds) = (world.clock.now(), vec![kept.hold.clone()]);
        let batch = Batch { at, holds, ..batch(expect, vec![change.clone()]) };
        assert_eq!(world.store.commit(batch, event).await.is_ok(), made);
    }
    assert_eq!(world.there.asked("PUT test/blobs").len(), 1);
}

#[tokio::test]
async fn while_object_storage_is_away_nothing_is_published_and_what_is_on_the_disk_is_read() {
    let world = World::new().await;
    let digest = world.publish(1).await.unwrap();
    for fault in [Fault::Fails, Fault::Refuses, Fault::WritesAndFails] {
        world.there.set(fault);
        let refused = world.publish(2).await.unwrap_err();
        let error = error_of(refused);
        let is_right = match fault {
            Fault::Refuses => matches!(error, Error::ObjectsRefuse { .. }),
            _ => matches!(error, Error::ObjectsAway { .. }),
        };
        assert!(is_right && error.hint().is_some(), "{error}");
        assert!(fault != Fault::Fails || world.store.objects().unwrap().away().is_some());
        assert_eq!(world.read(digest).await.unwrap(), "rack-1");
    }
    world.there.set(Fault::None);
    let second = world.publish(2).await.unwrap();
    assert!(world.has_object(&second, 0).await);
    // Its thread may have met the failure last, and tries again.
    while world.store.objects().unwrap().is_away() {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.store.objects().unwrap().away(), None);
}

fn error_of(refused: CommitError) -> Error {
    match refused {
        CommitError::Error(error) => error,
        CommitError::Conflict(conflict) => panic!("{conflict}"),
    }
}

#[tokio::test]
async fn an_operation_without_an_answer_ends_with_the_patience() {
    let mut world = World::new().await;
    let digest = world.publish(1).await.unwrap();
    world.store.close();
    world.lose(&digest);
    world.there.set(Fault::Hangs);
    let impatient = Objects { patience: Duration::from_millis(50), ..world.objects.clone() };
    world.store = open_with(world.folder.path(), &world.clock, Some(impatient)).unwrap();
    for refused in [world.read(digest).await.unwrap_err(), world.publish(2).await.map_err(error_of).unwrap_err()] {
        assert!(matches!(refused, Error::ObjectsAway { .. }), "{refused}");
    }
}

#[tokio::test]
async fn other_bytes_than_those_of_the_object_are_never_served_and_are_asked_for_again() {
    let world = World::new().await;
    let digest = world.publish(1).await.unwrap();
    world.lose(&digest);
    for (fault, count) in [(Fault::OtherBytes, 2), (Fault::Truncates, 4)] {
        world.there.set(fault);
        let refused = world.read(digest).await.unwrap_err();
        assert!(matches!(refused, Error::ObjectDamaged { .. }), "{refused}");
        assert_eq!(world.there.asked("GET test/blobs").len(), count);
        assert!(!world.is_on_disk(&digest));
    }
    world.there.set(Fault::None);
    assert_eq!(world.read(digest).await.unwrap(), "rack-1");
}

#[tokio::test]
async fn a_row_without_its_object_is_an_error_of_its_own_and_the_object_comes_back_with_its_bytes() {
    let world = World::new().await;
    world.there.set(Fault::Forgets);
    let digest = world.publish(1).await.unwrap();
    world.there.set(Fault::None);
    assert!(!world.has_object(&digest, 0).await);
    assert_eq!(world.read(digest).await.unwrap(), "rack-1", "the disk has it");
    world.lose(&digest);
    let missing = world.read(digest).await.unwrap_err();
    assert!(matches!(&missing, Error::ObjectMissing { key, .. } if key.ends_with(".0")), "{missing}");
    let other =
        crate::Entry { hashes: Hashes::of(b"rack-1"), ..crate::truth::suite::entry("rake", 1, crate::State::Live) };
    let change = Change::Entry { repository: R, entry: other };
    world.upload(b"rack-1".to_vec(), change).await.unwrap();
    assert!(world.has_object(&digest, 0).await, "published again");
}

#[tokio::test]
async fn requests_for_one_blob_share_a_fetch() {
    let world = World::new().await;
    let digest = world.publish(1).await.unwrap();
    world.lose(&digest);
    let held = world.there.hold_gets();
    let mut reads = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = world.store.clone();
        reads.spawn(async move { store.read_blob(digest, &mut job()).await.unwrap() });
    }
    while world.store.waiting_for(&digest) < 8 {
        tokio::task::yield_now().await;
    }
    held.add_permits(100);
    assert!(reads.join_all().await.iter().all(|bytes| bytes == "rack-1"));
    assert_eq!(world.there.asked("GET test/blobs").len(), 1);
}

/// 70 MiB: five parts, and five pieces.
#[tokio::test]
async fn a_large_blob_is_sent_in_parts_and_fetched_in_pieces() {
    let world = World::new().await;
    let bytes: Vec<u8> =
        (0..70_u32 << 18).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let hashes = Hashes::of(&bytes);
    let entry = crate::Entry { hashes: hashes.clone(), ..crate::truth::suite::entry("large", 1, crate::State::Live) };
    world.upload(bytes, Change::Entry { repository: R, entry }).await.unwrap();
    assert_eq!(world.there.asked("PARTS").len(), 1);
    world.lose(&hashes.sha256);
    let (_, size_bytes) = world.store.open_blob(hashes.sha256, &mut job()).await.unwrap();
    assert_eq!((size_bytes, world.there.asked("GET test/blobs").len()), (70 << 20, 5));
}

#[tokio::test]
async fn the_disk_has_the_blobs_that_were_used_last_and_object_storage_all() {
    let there = Arc::new(Lying::default());
    let world = World::with(Objects { local_max_bytes: 20, ..of(there.clone()) }, there).await;
    let mut all = Vec::new();
    for number in 1..=9 {
        all.push(world.publish(number).await.unwrap());
        world.read(all[0]).await.unwrap();
    }
    let there = || all.iter().filter(|digest| world.is_on_disk(digest)).count();
    while there() > 3 {
        tokio::task::yield_now().await;
    }
    assert!(world.is_on_disk(&all[0]), "it was used");
    for (number, digest) in (1..).zip(&all) {
        assert_eq!(world.read(*digest).await.unwrap(), format!("rack-{number}"));
    }
}

#[tokio::test]
async fn a_folder_that_had_no_object_storage_is_copied_to_it_and_then_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::at(Millis(1_000_000));
    let store = open_with(folder.path(), &clock, None).unwrap();
    let change = |change| Batch { at: clock.now(), ..batch(vec![], vec![change]) };
    store.commit(change(repository(0, "first", &[], false)), &mut job()).await.unwrap();
    let mut digests = Vec::new();
    for number in 1..=40 {
        digests.push(keep(&store, format!("rack-{number}").as_bytes()).await.unwrap().sha256);
        store.commit(change(publish("rack", number)), &mut job()).await.unwrap();
    }
    store.close();
    let there = Arc::new(Lying::default());
    let objects = of(there.clone());
    let store = open_with(folder.path(), &clock, Some(objects.clone())).unwrap();
    let all = || digests.iter().map(|digest| objects.blob(digest, crate::Seq(0)));
    for key in all() {
        while there.inner.head(&key).await.is_err() {
            tokio::task::yield_now().await;
        }
    }
    store.close();
    let unset = open_with(folder.path(), &clock, None).unwrap_err();
    assert!(matches!(&unset, Error::ObjectsUnset { url, .. } if url == "s3://bucket/test"), "{unset}");
    let elsewhere = Objects { url: "s3://bucket/other".into(), ..objects };
    let other = open_with(folder.path(), &clock, Some(elsewhere)).unwrap_err();
    assert!(matches!(&other, Error::ObjectsOther { .. }) && other.hint().is_some(), "{other}");
}

/// The names of the jobs that have ended.
#[derive(Debug, Clone, Default)]
struct Jobs(Arc<Mutex<Vec<&'static str>>>);

impl Sink for Jobs {
    fn name(&self) -> &'static str {
        "jobs"
    }

    fn write(&mut self, events: &[Event]) -> std::io::Result<()> {
        self.0.lock().unwrap().extend(events.iter().map(|event| event.method));
        Ok(())
    }
}

#[tokio::test]
async fn a_start_that_sends_no_blob_compares_all_of_them_in_a_few_jobs() {
    let (folder, clock, jobs) = (tempfile::tempdir().unwrap(), Clock::at(Millis(1_000_000)), Jobs::default());
    let recording = RecorderOptions { buffered_events: 1_000, ..RecorderOptions::of(clock.clone()) };
    let recorder = Recorder::start(recording, vec![Box::new(jobs.clone())]);
    let more = StoreOptions { clock, objects: Some(in_memory()), recorder: recorder.clone(), ..options(folder.path()) };
    let store = Store::open(more).unwrap();
    store.adopt(&mut |_| {}, &mut job()).await.unwrap();
    store.close();
    recorder.stop(Duration::from_secs(30));
    let kept = jobs.0.lock().unwrap().iter().filter(|job| **job == "objects.keep").count();
    // There are 256 first bytes of digests. Other work, such as a segment, ends a job.
    assert!((1..16).contains(&kept), "{kept}");
}
