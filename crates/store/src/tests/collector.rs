//! The collector: what it deletes and when, and what it must keep.

use super::{job, keep, options, publication};
use crate::disk::Disk as _;
use crate::disk::fault::{Loss, SimDisk};
use crate::truth::suite::{R, batch, entry, publish, repository};
use crate::{
    Batch, BlobLife, Change, Collection, CommitError, Conflict, Digest, Error, Expect, Hashes, Seq, State, Store,
    StoreOptions, Withdrawal, Withdrawals, rebuild,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Clock, Millis};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

struct World {
    folder: tempfile::TempDir,
    clock: Clock,
    store: Arc<Store>,
}

fn open(data: &Path, clock: &Clock, blob_life: BlobLife) -> Arc<Store> {
    Store::open(StoreOptions { clock: clock.clone(), blob_life, ..options(data) }).unwrap()
}

impl World {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::at(Millis(1_000_000));
        let store = open(folder.path(), &clock, BlobLife::default());
        let world = Self { folder, clock, store };
        world.change(repository(0, "first", &[], false)).await;
        world
    }

    async fn commit(&self, change: Change) -> Result<(), CommitError> {
        let batch = Batch { at: self.clock.now(), ..batch(vec![], vec![change]) };
        self.store.commit(batch, &mut job()).await.map(drop)
    }

    async fn change(&self, change: Change) {
        self.commit(change).await.unwrap();
    }

    async fn publish(&self, number: u32) -> Digest {
        let (bytes, publish) = publication("rack", number);
        let hashes = keep(&self.store, &bytes).await.unwrap();
        self.change(publish).await;
        hashes.sha256
    }

    async fn withdraw(&self, number: u32, why: Withdrawal) {
        let entry = entry("rack", number, State::Live).withdrawn(why, self.clock.now());
        self.change(Change::Entry { repository: R, entry }).await;
    }

    fn pass(&self, time: Duration) {
        self.clock.set(Some(self.clock.now().plus(time)));
    }

    async fn collect(&self) -> Collection {
        self.store.collect(&mut job()).await.unwrap()
    }

    fn has(&self, digest: &Digest) -> bool {
        self.store.layout().blob(digest).file.is_file()
    }
}

/// Bytes that no row ever named are deleted with their folder and then stored again, on a machine that stops then.
#[tokio::test]
async fn an_emptied_folder_is_removed_and_made_again_durably_for_the_next_blob() {
    for seed in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let disk = SimDisk::new(folder.path());
        let blob_life = BlobLife { collect_after: Duration::ZERO, ..BlobLife::default() };
        let options = StoreOptions { disk: Arc::new(disk.clone()), blob_life, ..options(folder.path()) };
        let store = Store::open(options.clone()).unwrap();
        let [gone, stays] = [b"gone", b"here"].map(|bytes| (store.layout().blob(&Hashes::of(bytes).sha256), bytes));
        let there = |path: &Path| disk.size(path).unwrap().is_some();
        drop(keep(&store, gone.1).await.unwrap());
        store.collect(&mut job()).await.unwrap();
        assert!(!there(&gone.0.file) && there(&gone.0.inner), "emptied");
        store.collect(&mut job()).await.unwrap();
        assert!(!there(&gone.0.inner), "removed in the next round");
        keep(&store, gone.1).await.unwrap();
        keep(&store, stays.1).await.unwrap();
        store.close();
        drop(store);
        disk.restart(Loss::Machine(seed));
        assert!(there(&gone.0.file) && there(&stays.0.file), "{seed}");
    }
}

#[tokio::test]
async fn one_row_says_of_blobs_in_many_folders_that_they_are_gone() {
    let world = World::new().await;
    for number in 1..=20 {
        world.publish(number).await;
        world.withdraw(number, Withdrawal::Pruned).await;
    }
    assert_eq!(world.collect().await.marked, 20);
    world.pass(DAY);
    let before = world.store.last();
    assert_eq!(world.collect().await.collected, 20);
    assert_eq!(world.store.last(), Seq(before.0 + 1));
}

#[tokio::test]
async fn bytes_go_after_their_period_and_two_looks_and_live_ones_stay() {
    let world = World::new().await;
    let reasons = [
        (Withdrawal::Retracted, 400 * DAY),
        (Withdrawal::Deleted, 7 * DAY),
        (Withdrawal::Cleanup { rule: "keep-versions".into(), no_undo: false }, 7 * DAY),
        (Withdrawal::Pruned, Duration::ZERO),
    ];
    let live = world.publish(9).await;
    for (number, (why, period)) in (1..).zip(reasons) {
        let gone = world.publish(number).await;
        world.withdraw(number, why).await;
        if !period.is_zero() {
            world.pass(period - Duration::from_millis(1));
            assert_eq!(world.collect().await.marked, 0, "{number}");
            world.pass(Duration::from_millis(1));
        }
        assert_eq!(world.collect().await, Collection { blobs: 2, marked: 1, ..Collection::default() }, "{number}");
        world.pass(23 * HOUR);
        assert_eq!(world.collect().await.collected, 0, "{number}");
        assert!(world.has(&gone));
        world.pass(HOUR);
        let freed = Collection { blobs: 2, collected: 1, freed_bytes: 6, ..Collection::default() };
        assert_eq!(world.collect().await, freed, "{number}");
        assert!(!world.has(&gone) && world.has(&live));
    }
    world.pass(500 * DAY);
    assert_eq!(world.collect().await, Collection { blobs: 1, ..Collection::default() });
    assert!(world.has(&live));
}

#[tokio::test]
async fn a_purge_does_not_wait_and_what_another_entry_names_stays() {
    let world = World::new().await;
    let (secret, shared) = (world.publish(1).await, world.publish(2).await);
    let other = crate::Entry { hashes: Hashes::of(b"rack-2"), ..entry("rake", 1, State::Live) };
    world.change(Change::Entry { repository: R, entry: other }).await;
    for number in [1, 2] {
        world.withdraw(number, Withdrawal::Purged { why: "a secret".into() }).await;
    }
    assert_eq!(world.collect().await.collected, 1);
    assert!(!world.has(&secret) && world.has(&shared));
}

#[tokio::test]
async fn bytes_that_nobody_published_go_and_those_of_an_upload_under_way_stay() {
    let world = World::new().await;
    let orphan = keep(&world.store, b"an upload that was refused").await.unwrap().sha256;
    let mut staged = world.store.stage(&mut job()).await.unwrap();
    staged.write(bytes::Bytes::from_static(b"rack-1"), &mut job()).await.unwrap();
    let kept = staged.keep(&mut job()).await.unwrap();
    assert_eq!(world.collect().await.marked, 2);
    world.pass(DAY);
    assert_eq!(world.collect().await.collected, 1);
    assert!(!world.has(&orphan) && world.has(&kept.hashes.sha256));
    let at = world.clock.now();
    let batch = Batch { at, holds: vec![kept.hold], ..batch(vec![], vec![publish("rack", 1)]) };
    world.store.commit(batch, &mut job()).await.unwrap();
    world.pass(DAY);
    world.collect().await;
    assert!(world.has(&kept.hashes.sha256));
}

#[tokio::test]
async fn bytes_that_an_upload_refers_to_stay_though_their_last_entry_goes_meanwhile() {
    let world = World::new().await;
    let (hashes, event) = (Hashes::of(b"rack-1"), &mut job());
    assert!(world.store.stage_published(hashes.clone(), event).await.unwrap().is_none(), "they are not here");
    world.publish(1).await;
    let staged = world.store.stage_published(hashes.clone(), event).await.unwrap().unwrap();
    assert_eq!(staged.beginning(4, event).await.unwrap(), b"rack");
    world.withdraw(1, Withdrawal::Purged { why: "a secret".into() }).await;
    assert_eq!(world.collect().await.collected, 0);
    let kept = staged.keep(event).await.unwrap();
    let other = crate::Entry { hashes, ..entry("rake", 1, State::Live) };
    let change = Change::Entry { repository: R, entry: other };
    let batch = Batch { at: world.clock.now(), holds: vec![kept.hold], ..batch(vec![], vec![change]) };
    world.store.commit(batch, event).await.unwrap();
    world.pass(DAY);
    world.collect().await;
    assert!(world.has(&kept.hashes.sha256));
    assert_eq!(world.store.check(true, &mut |_| ()).unwrap().problems, []);
}

#[tokio::test]
async fn a_mark_of_bytes_that_were_needed_again_does_not_count() {
    let world = World::new().await;
    let digest = world.publish(1).await;
    world.withdraw(1, Withdrawal::Pruned).await;
    assert_eq!(world.collect().await.marked, 1);
    world.publish(1).await;
    assert_eq!(world.collect().await.marked, 0);
    world.withdraw(1, Withdrawal::Pruned).await;
    world.pass(DAY);
    assert_eq!(world.collect().await, Collection { blobs: 1, marked: 1, ..Collection::default() });
    assert!(world.has(&digest));
}

#[tokio::test]
async fn nothing_is_deleted_while_somebody_needs_all_blobs() {
    let world = World::new().await;
    let digest = world.publish(1).await;
    world.withdraw(1, Withdrawal::Purged { why: "a secret".into() }).await;
    let pause = world.store.layout().pause_collector().unwrap();
    assert!(world.collect().await.paused && world.has(&digest));
    drop(pause);
    assert_eq!(world.collect().await.collected, 1);
}

#[tokio::test]
async fn collected_bytes_cannot_be_restored_and_a_check_and_a_rebuild_know_that_they_are_gone() {
    let world = World::new().await;
    let (gone, live) = (world.publish(1).await, world.publish(2).await);
    world.withdraw(1, Withdrawal::Deleted).await;
    world.pass(7 * DAY);
    world.collect().await;
    world.pass(DAY);
    assert_eq!(world.collect().await.collected, 1);
    let refused = world.commit(publish("rack", 1)).await.unwrap_err();
    assert!(matches!(refused, CommitError::Conflict(Conflict(Expect::BlobKept(digest))) if digest == gone));
    assert_eq!(world.store.collected(gone, &mut job()).await.unwrap(), Some(world.clock.now()));
    let clean = |report: crate::Report| assert_eq!((report.problems, report.orphans.blobs), (vec![], 0));
    clean(world.store.check(true, &mut |_| ()).unwrap());
    let World { folder, clock, store } = world;
    store.close();
    rebuild(folder.path(), &mut |_| ()).unwrap();
    let store = open(folder.path(), &clock, BlobLife::default());
    clean(store.check(true, &mut |_| ()).unwrap());
    assert!(matches!(store.open_blob(gone, &mut job()).await, Err(Error::BlobMissing(_))));
    store.open_blob(live, &mut job()).await.unwrap();
    keep(&store, b"rack-1").await.unwrap();
}

#[tokio::test]
async fn the_bytes_of_a_removed_repository_go_after_the_time_for_undoing() {
    let world = World::new().await;
    let digest = world.publish(1).await;
    let Change::Repository { record, .. } = repository(1, "first", &[], false) else { unreachable!() };
    let removed = Some(world.clock.now());
    world.change(Change::Repository { id: R, record: crate::RepositoryRecord { removed, ..record } }).await;
    world.pass(6 * DAY);
    assert_eq!(world.collect().await.marked, 0);
    world.pass(DAY);
    assert_eq!(world.collect().await.marked, 1);
    world.pass(DAY);
    assert_eq!(world.collect().await.collected, 1);
    assert!(!world.has(&digest));
    assert!(world.commit(repository(1, "first", &[], false)).await.is_err(), "its bytes are gone");
}

#[tokio::test]
async fn what_a_withdrawal_frees_is_what_nothing_else_keeps_and_when_the_last_of_it_goes() {
    let world = World::new().await;
    world.publish(1).await;
    world.publish(2).await;
    let other = crate::Entry { hashes: Hashes::of(b"rack-2"), ..entry("rake", 1, State::Live) };
    world.change(Change::Entry { repository: R, entry: other.clone() }).await;
    world.withdraw(1, Withdrawal::Deleted).await;
    world.withdraw(2, Withdrawal::Retracted).await;
    let withdrawn = [1, 2].map(|number| entry("rack", number, State::Withdrawn));
    let at = world.clock.now();
    let mut both = Withdrawals::default();
    withdrawn.iter().for_each(|entry| both.add(R, entry));
    let frees = crate::Frees { size_bytes: 6, on: Some(at.plus(8 * DAY)) };
    assert_eq!(world.store.frees(both.clone(), &mut job()).await.unwrap(), frees);
    assert_eq!(frees.to_string(), format!("frees 6 bytes on {}", at.plus(8 * DAY)));
    let other = other.withdrawn(Withdrawal::Pruned, at);
    let mut planned = Withdrawals::default();
    planned.add(R, &other);
    let alone = crate::Frees { size_bytes: 6, on: Some(at.plus(401 * DAY)) };
    assert_eq!(world.store.would_free(planned, &mut job()).await.unwrap(), alone, "the other use ends later");
    world.change(Change::Entry { repository: R, entry: other }).await;
    let frees = crate::Frees { size_bytes: 12, on: Some(at.plus(401 * DAY)) };
    assert_eq!(world.store.frees(both.clone(), &mut job()).await.unwrap(), frees);
    world.pass(401 * DAY);
    world.collect().await;
    world.pass(DAY);
    assert_eq!(world.collect().await.freed_bytes, 12);
    assert_eq!(world.store.frees(both, &mut job()).await.unwrap(), crate::Frees::default(), "gone");
    assert_eq!(crate::Frees::default().to_string(), "frees 0 bytes");
}

#[tokio::test]
async fn without_a_wait_one_round_is_enough() {
    let mut world = World::new().await;
    let life = BlobLife { undo: Duration::ZERO, collect_after: Duration::ZERO, ..BlobLife::default() };
    world.store.close();
    world.store = open(world.folder.path(), &world.clock, life);
    let digest = world.publish(1).await;
    world.withdraw(1, Withdrawal::Deleted).await;
    assert_eq!(world.collect().await.collected, 1);
    assert!(!world.has(&digest));
}

/// Acts as the loop of the server: waits for the moment that the store returns, and checks the blobs that are due.
#[tokio::test]
async fn a_round_at_each_moment_that_is_named_deletes_bytes_on_the_date_that_was_told() {
    let world = World::new().await;
    let live = world.publish(9).await;
    world.collect().await;
    assert_eq!(world.store.next_collection(), None, "all bytes are needed");
    for (number, why, period) in [(1, Withdrawal::Deleted, 8 * DAY), (2, Withdrawal::Pruned, DAY)] {
        let gone = world.publish(number).await;
        world.withdraw(number, why).await;
        let told = world.clock.now().plus(period);
        while world.has(&gone) {
            let next = world.store.next_collection().unwrap();
            assert!(next <= told, "{number}");
            world.clock.set(Some(next));
            world.store.collect_due(&mut job()).await.unwrap();
        }
        assert_eq!(world.clock.now(), told);
        assert!(world.has(&live));
        assert_eq!(world.store.next_collection(), None, "{number}");
    }
}

#[tokio::test]
async fn a_start_finds_again_when_bytes_are_due() {
    let mut world = World::new().await;
    let gone = world.publish(1).await;
    world.withdraw(1, Withdrawal::Deleted).await;
    let at = world.clock.now();
    for due in [at.plus(7 * DAY), at.plus(8 * DAY)] {
        world.store.close();
        world.store = open(world.folder.path(), &world.clock, BlobLife::default());
        world.collect().await;
        assert_eq!(world.store.next_collection(), Some(due));
        world.clock.set(Some(due));
        world.store.collect_due(&mut job()).await.unwrap();
    }
    assert!(!world.has(&gone));
}

#[tokio::test]
async fn purged_bytes_are_due_at_once_and_again_after_a_backup() {
    let world = World::new().await;
    let secret = world.publish(1).await;
    world.collect().await;
    let pause = world.store.layout().pause_collector().unwrap();
    world.withdraw(1, Withdrawal::Purged { why: "a secret".into() }).await;
    for _ in 0..2 {
        assert_eq!(world.store.next_collection(), Some(world.clock.now()));
        assert!(world.store.collect_due(&mut job()).await.unwrap().paused && world.has(&secret));
    }
    drop(pause);
    world.store.collect_due(&mut job()).await.unwrap();
    assert!(!world.has(&secret));
}
