//! The log of recent rows: its contents, when its files are removed, and failures to write it.

use super::{job, options};
use crate::disk::fault::SimDisk;
use crate::disk::{Disk, Failpoint};
use crate::journal::rebuild::rebuild_on;
use crate::truth::suite::{R, batch, publish};
use crate::{Lane, Layout, Problem, Seq, Store, StoreOptions};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn open(data: &Path, disk: &SimDisk) -> Arc<Store> {
    let disk = Arc::new(disk.clone());
    Store::open(StoreOptions { disk, ship_every: Duration::from_secs(3600), ..options(data) }).unwrap()
}

fn logs(store: &Store, disk: &SimDisk) -> Vec<String> {
    let names = disk.list(&store.layout().segments()).unwrap();
    names.into_iter().filter(|name| name.ends_with(".recent")).collect()
}

async fn commit(store: &Store, number: u32) -> Seq {
    store.commit(batch(vec![], vec![publish("rack", number)]), &mut job()).await.unwrap()
}

/// The problems of a check, without those of blobs: these tests have only rows.
fn problems(store: &Store) -> Vec<Problem> {
    let found = store.check(false, &mut |_| ()).unwrap().problems;
    found.into_iter().filter(|problem| !matches!(problem, Problem::BlobMissing(_))).collect()
}

/// The rows that a rebuild restores after a crash that lost the truth.
fn rebuilt(data: &Path, disk: &SimDisk) -> Seq {
    let layout = Layout::new(data);
    crate::disk::database_files::remove_database(&layout.truth()).unwrap();
    rebuild_on(Arc::new(disk.clone()), &layout, &mut |_| ()).unwrap().last
}

/// The disk in its current state, for another store: the process that wrote it is killed.
fn kill(store: Arc<Store>, disk: &SimDisk) {
    disk.crash_at(0);
    drop(store);
    disk.restart(crate::disk::fault::Loss::Process);
}

#[tokio::test]
async fn a_file_goes_once_segments_have_its_rows_and_none_is_left_after_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(folder.path());
    let store = open(folder.path(), &disk);
    commit(&store, 1).await;
    commit(&store, 2).await;
    assert_eq!(logs(&store, &disk), [format!("{:020}.recent", 1)]);
    kill(store, &disk);
    let store = open(folder.path(), &disk);
    commit(&store, 3).await;
    assert_eq!(logs(&store, &disk).len(), 2, "a process appends to no file of another");
    assert_eq!(problems(&store), []);
    store.ship_now(&mut job()).await.unwrap();
    let mut large = publish("rack", 4);
    if let crate::Change::Entry { entry, .. } = &mut large {
        entry.facts = serde_json::json!("x".repeat(2 << 20));
    }
    assert_eq!(logs(&store, &disk).len(), 1, "the file that is open stays");
    store.commit(batch(vec![], vec![large]), &mut job()).await.unwrap();
    commit(&store, 5).await;
    assert_eq!(logs(&store, &disk), [3, 5].map(|first| format!("{first:020}.recent")), "the large one is complete");
    store.close();
    assert_eq!(logs(&store, &disk), Vec::<String>::new());
}

#[tokio::test]
async fn what_cannot_be_logged_is_acknowledged_and_the_next_segment_has_it() {
    for point in [Failpoint::Create, Failpoint::Write] {
        let folder = tempfile::tempdir().unwrap();
        let disk = SimDisk::new(folder.path());
        let store = open(folder.path(), &disk);
        disk.fail_next(point);
        assert_eq!(commit(&store, 1).await, Seq(1), "the truth has it");
        assert_eq!(store.read_only(), None, "no state is unknown");
        store.ship_now(&mut job()).await.unwrap();
        commit(&store, 2).await;
        kill(store, &disk);
        assert_eq!(rebuilt(folder.path(), &disk), Seq(2));
    }
}

#[tokio::test]
async fn a_log_whose_sync_failed_is_not_acknowledged_and_nothing_more_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(folder.path());
    let store = open(folder.path(), &disk);
    disk.fail_next(Failpoint::SyncFile);
    store.commit(batch(vec![], vec![publish("rack", 1)]), &mut job()).await.unwrap_err();
    assert_eq!(store.read_only(), Some(crate::ReadOnly::Poisoned));
    assert_eq!(
        store.unit(R, "rack", Lane::Change, &mut job()).await.unwrap().entries.len(),
        1,
        "no stale answer is served"
    );
}

#[tokio::test]
async fn rows_after_one_that_was_not_logged_are_put_aside_by_a_rebuild() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(folder.path());
    let store = open(folder.path(), &disk);
    commit(&store, 1).await;
    disk.fail_next(Failpoint::Write);
    commit(&store, 2).await;
    commit(&store, 3).await;
    kill(store, &disk);
    assert_eq!(rebuilt(folder.path(), &disk), Seq(1));
    assert!(disk.list(folder.path()).unwrap().contains(&format!("{:020}.recent.old", 3)));
    let store = open(folder.path(), &disk);
    assert_eq!(commit(&store, 4).await, Seq(2));
    assert_eq!(problems(&store), []);
}

#[tokio::test]
async fn a_truth_that_is_older_than_the_log_is_refused_and_check_says_which_row_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(folder.path());
    let store = open(folder.path(), &disk);
    commit(&store, 1).await;
    kill(store, &disk);
    let layout = Layout::new(folder.path());
    crate::disk::database_files::remove_database(&layout.truth()).unwrap();
    let lost = Store::open(StoreOptions { disk: Arc::new(disk.clone()), ..options(folder.path()) }).unwrap_err();
    assert!(lost.hint().unwrap().contains("daylight rebuild"), "{lost}");
    drop(crate::Sqlite::writer(&layout.truth()).unwrap());
    let report = crate::check::check_on(&disk, &layout, false, None, &mut |_| ()).unwrap();
    assert_eq!(report.problems, [Problem::RecentRowDiffers(Seq(1))]);
}
