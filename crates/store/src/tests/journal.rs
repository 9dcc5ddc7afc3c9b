//! Segments, and the truth rebuilt from them.

use super::same::assert_same;
use super::{job, open, options};
use crate::disk::{Disk, RealDisk};
use crate::truth::suite::{any_batch, batch, publish};
use crate::{Error, Problem, Seq, Sqlite, Store, StoreOptions, Transactions as _, check, rebuild};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::path::Path;
use std::time::Duration;
use telemetry::{BoundName, Outcome};

fn remove_truth(data: &Path) {
    for name in ["truth.sqlite", "truth.sqlite-wal", "truth.sqlite-shm"] {
        let _ = RealDisk.unlink(&data.join(name));
    }
}

async fn commit_some(store: &Store, groups: usize) {
    let mut runner = TestRunner::deterministic();
    for _ in 0..groups {
        let batch = any_batch().new_tree(&mut runner).unwrap().current();
        let _ = store.commit(batch, &mut job()).await;
    }
}

#[tokio::test]
async fn rows_are_shipped_by_themselves_and_the_rest_at_close() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(StoreOptions { ship_every: Duration::from_millis(5), ..options(folder.path()) }).unwrap();
    store.commit(batch(vec![], vec![publish("rack", 1)]), &mut job()).await.unwrap();
    while store.shipped() < Seq(1) {
        tokio::task::yield_now().await;
    }
    store.close();
    drop(store);
    let store = Store::open(StoreOptions { ship_every: Duration::from_secs(3600), ..options(folder.path()) }).unwrap();
    store.commit(batch(vec![], vec![publish("rack", 2)]), &mut job()).await.unwrap();
    assert_eq!(store.shipped(), Seq(1));
    store.close();
    assert_eq!(store.shipped(), Seq(2));
    assert_eq!(RealDisk.list(&store.layout().segments()).unwrap().len(), 2);
}

#[tokio::test]
async fn a_truth_made_again_from_segments_answers_every_read_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let aside = folder.path().join("aside");
    // Only on request: on a slow machine the timer would ship a segment, and two segments are counted below.
    let by_hand = StoreOptions { ship_every: Duration::from_secs(3600), ..options(data) };
    let store = Store::open(by_hand).unwrap();
    commit_some(&store, 40).await;
    store.ship_now(&mut job()).await.unwrap();
    commit_some(&store, 40).await;
    let last = store.last();
    drop(store);
    std::fs::copy(data.join("truth.sqlite"), &aside).unwrap();
    remove_truth(data);
    let lost = Store::open(options(data)).unwrap_err();
    assert!(matches!(lost, Error::SegmentsAhead { .. }) && lost.hint().unwrap().contains("daylight rebuild"));
    let mut seen = Vec::new();
    assert_eq!(rebuild(data, &mut |progress| seen.push(progress)).unwrap().last, last);
    assert_eq!((seen.len(), seen[1].done, seen[1].total), (2, last.0, last.0));
    assert_same(&mut Sqlite::reader(&data.join("truth.sqlite")).unwrap(), &mut Sqlite::writer(&aside).unwrap());
    let store = open(data);
    assert_eq!(store.last(), last);
    assert_eq!(store.check(true, &mut |_| ()).unwrap().rows, last.0);
}

#[tokio::test]
async fn an_older_truth_is_refused_and_its_log_never_meets_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let store = open(data);
    store.commit(batch(vec![], vec![publish("rack", 1), publish("rack", 2)]), &mut job()).await.unwrap();
    drop(store);
    remove_truth(data);
    // Another, shorter truth, with a log of its own that is not in it yet.
    let mut other = Sqlite::writer(&data.join("truth.sqlite")).unwrap();
    other.commit_batches(&[batch(vec![], vec![publish("rake", 1)])]).unwrap()[0].clone().unwrap();
    std::fs::copy(data.join("truth.sqlite-wal"), data.join("kept-wal")).unwrap();
    drop(other);
    RealDisk.rename(&data.join("kept-wal"), &data.join("truth.sqlite-wal")).unwrap();
    assert!(matches!(Store::open(options(data)), Err(Error::SegmentsAhead { segments: Seq(2), truth: Seq(1) })));
    assert_eq!(rebuild(data, &mut |_| ()).unwrap().last, Seq(2));
    assert!(data.join("truth.sqlite.old").exists());
    let store = open(data);
    assert_eq!(store.units(crate::truth::suite::R, "", 9, &mut job()).await.unwrap(), ["rack"]);
}

#[tokio::test]
async fn a_rebuild_without_need_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let store = open(data);
    store.commit(batch(vec![], vec![publish("rack", 1)]), &mut job()).await.unwrap();
    drop(store);
    // The state after a killed process: committed, and not shipped.
    let mut truth = Sqlite::writer(&data.join("truth.sqlite")).unwrap();
    truth.commit_batches(&[batch(vec![], vec![publish("rack", 2)])]).unwrap()[0].clone().unwrap();
    drop(truth);
    assert_eq!(rebuild(data, &mut |_| ()).unwrap().last, Seq(2));
    assert_eq!(
        open(data).unit(crate::truth::suite::R, "rack", crate::Lane::Change, &mut job()).await.unwrap().entries.len(),
        2
    );
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "damage")]
async fn a_truth_that_cannot_be_read_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let store = open(data);
    store.commit(batch(vec![], vec![publish("rack", 1)]), &mut job()).await.unwrap();
    drop(store);
    std::fs::write(data.join("truth.sqlite"), "not a database, and longer than a page".repeat(500)).unwrap();
    let damaged = Store::open(options(data)).unwrap_err();
    assert!(damaged.hint().unwrap().contains("daylight rebuild"), "{damaged}");
    assert_eq!(rebuild(data, &mut |_| ()).unwrap().last, Seq(1));
    assert_eq!(open(data).last(), Seq(1));
}

#[tokio::test]
async fn a_hole_in_the_segments_is_filled_at_start_and_refused_by_a_rebuild() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let store = open(data);
    for number in 1..4 {
        store.commit(batch(vec![], vec![publish("rack", number)]), &mut job()).await.unwrap();
        store.ship_now(&mut job()).await.unwrap();
    }
    let segments = store.layout().segments();
    drop(store);
    let names = RealDisk.list(&segments).unwrap();
    RealDisk.unlink(&segments.join(&names[1])).unwrap();
    assert!(matches!(rebuild(data, &mut |_| ()), Err(Error::Gap { after: Seq(1), found: Seq(3) })));
    drop(open(data));
    assert_eq!(RealDisk.list(&segments).unwrap(), names, "the same rows make the same file");
    assert_eq!(rebuild(data, &mut |_| ()).unwrap().last, Seq(3));
}

#[tokio::test]
async fn a_check_of_a_folder_names_what_is_wrong_and_mends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    assert!(matches!(check(data, true, &mut |_| ()), Err(Error::NoTruth { .. })));
    let store = open(data);
    store.commit(batch(vec![], vec![publish("rack", 1)]), &mut job()).await.unwrap();
    assert!(matches!(check(data, true, &mut |_| ()), Err(Error::Locked(_))));
    let staged = store.stage(&mut job()).await.unwrap();
    std::fs::copy(data.join("version"), store.layout().temporary_blobs().join("77")).unwrap();
    drop(staged);
    store.close();
    std::fs::copy(data.join("version"), store.layout().segments().join("arriving")).unwrap();
    std::fs::copy(data.join("version"), store.layout().segments().join("77")).unwrap();
    let digest = crate::Hashes::of(b"nobody's").sha256;
    let orphan = store.layout().blob(&digest);
    std::fs::create_dir_all(orphan.inner).unwrap();
    std::fs::copy(data.join("version"), &orphan.file).unwrap();
    let missing = Problem::BlobMissing(crate::Hashes::of(b"rack-1").sha256);
    let stray = Problem::Stray(store.layout().segments().join("77"));
    for _ in 0..2 {
        let report = check(data, true, &mut |_| ()).unwrap();
        assert_eq!((report.rows, report.blobs, report.segments), (1, 1, 1));
        assert_eq!(report.problems, [missing.clone(), stray.clone()]);
        assert_eq!(report.leftovers, [store.layout().temporary_blobs().join("77")]);
        assert_eq!(report.orphans, crate::Orphans { blobs: 1, size_bytes: 2, files: vec![orphan.file.clone()] });
    }
}

#[tokio::test]
async fn a_shipped_segment_is_a_job_that_is_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let recorder = options.recorder.clone();
    let store = Store::open(options).unwrap();
    store.commit(batch(vec![], vec![publish("rack", 1)]), &mut job()).await.unwrap();
    store.close();
    let totals = recorder.totals();
    assert_eq!((totals.attempts(), totals.outcome(Outcome::Done)), (1, 1));
    let names: Vec<_> = recorder.bounds().iter().map(|bound| (bound.name(), bound.used(), bound.waiters())).collect();
    let queues = [BoundName::TruthReaders, BoundName::TruthWriter, BoundName::CacheThreads, BoundName::BlobThreads];
    for queue in queues {
        assert!(names.contains(&(queue, 0, 0)), "{names:?}");
    }
    assert!(names.iter().any(|(name, used, _)| *name == BoundName::Disk && *used > 0), "{names:?}");
}

#[tokio::test]
async fn without_segments_nothing_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(rebuild(folder.path(), &mut |_| ()), Err(Error::NoSegments(_))));
    drop(open(folder.path()));
    assert!(matches!(rebuild(folder.path(), &mut |_| ()), Err(Error::NoSegments(_))));
}
