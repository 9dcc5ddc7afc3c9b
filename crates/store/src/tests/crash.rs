//! Every point at which a run can stop, one after the other, on a disk that loses unsynced data.

use super::{job, keep, options, publication};
use crate::disk::fault::{Loss, SimDisk};
use crate::disk::{Disk, Failpoint};
use crate::truth::suite::{R, batch, repository, withdraw};
use crate::{Change, CommitError, Error, JournalReads as _, Layout, Seq, Sqlite, State, Store, StoreOptions};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The acknowledged changes: keys with their state, and the last row that was reported as shipped.
#[derive(Debug, Default)]
struct Acknowledged {
    entries: BTreeMap<String, State>,
    shipped: Seq,
}

fn open(data: &Path, disk: &SimDisk) -> Result<Arc<Store>, Error> {
    let disk = Arc::new(disk.clone());
    Store::open(StoreOptions { disk, ship_every: Duration::from_secs(3600), blob_threads: 1, ..options(data) })
}

async fn change(store: &Store, acknowledged: &mut Acknowledged, change: Change) -> Result<(), CommitError> {
    store.commit(batch(vec![], vec![change.clone()]), &mut job()).await?;
    if let Change::Entry { entry, .. } = change {
        acknowledged.entries.insert(entry.key, entry.state);
    }
    Ok(())
}

async fn run(store: &Store, acknowledged: &mut Acknowledged) -> Result<(), CommitError> {
    change(store, acknowledged, repository(0, "first", &[], false)).await?;
    for number in 1..4 {
        let (bytes, publish) = publication("rack", number);
        keep(store, &bytes).await?;
        change(store, acknowledged, publish).await?;
        if number != 2 {
            acknowledged.shipped = store.ship_now(&mut job()).await?;
        }
    }
    drop(store.stage(&mut job()).await?);
    change(store, acknowledged, withdraw("rack", 1)).await?;
    keep(store, b"rack-2").await?;
    acknowledged.shipped = store.ship_now(&mut job()).await?;
    Ok(())
}

/// Runs until the `n`th point, or to the end. The store is closed when this returns.
async fn run_until(data: &Path, disk: &SimDisk, n: usize) -> Acknowledged {
    let mut acknowledged = Acknowledged::default();
    disk.crash_at(n);
    if let Ok(store) = open(data, disk) {
        let ended = run(&store, &mut acknowledged).await;
        assert!(ended.is_ok() || disk.crashed(), "{ended:?}");
        store.close();
    }
    acknowledged
}

async fn assert_nothing_is_lost(data: &Path, disk: &SimDisk, acknowledged: &Acknowledged, when: &str) {
    if acknowledged.shipped > Seq(0) {
        let segments = crate::journal::segments::list(disk, &Layout::new(data)).unwrap();
        let reached = segments.last().map(|segment| segment.last);
        assert!(
            reached >= Some(acknowledged.shipped) && crate::journal::segments::gaps(&segments).is_empty(),
            "{when}: {segments:?}"
        );
    }
    let store = open(data, disk).unwrap_or_else(|e| panic!("{when}: {e}"));
    let mut event = job();
    for (key, state) in &acknowledged.entries {
        let entry = store.entry(R, key, &mut event).await.unwrap().unwrap_or_else(|| panic!("{when}: {key} is lost"));
        // A withdrawal that was not acknowledged may be committed nevertheless.
        assert!(entry.state == *state || entry.state == State::Withdrawn, "{when}: {key}");
    }
    for entry in store.unit(R, "rack", crate::Lane::Change, &mut event).await.unwrap().entries {
        let blob = store.open_blob(entry.hashes.sha256, &mut event).await;
        let (mut file, _) = blob.unwrap_or_else(|e| panic!("{when}: {} has no bytes: {e}", entry.key));
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, entry.key.as_bytes(), "{when}");
    }
    assert!(store.shipped() >= acknowledged.shipped, "{when}");
    assert_whole(disk, &Layout::new(data).blobs_by_digest(), when);
    let report = store.check(true, &mut |_| ()).unwrap();
    let strays = |problem: &crate::Problem| !matches!(problem, crate::Problem::Stray(_));
    assert_eq!(report.problems.into_iter().find(strays), None, "{when}");
    // Then the store continues to work.
    let (bytes, publish) = publication("rake", 1);
    keep(&store, &bytes).await.unwrap();
    store.commit(batch(vec![], vec![publish]), &mut event).await.unwrap();
    assert_eq!(store.ship_now(&mut event).await.unwrap(), store.last());
}

/// A file has the name of its digest only if it is complete, whether a row points at it or not.
fn assert_whole(disk: &SimDisk, folder: &Path, when: &str) {
    for name in disk.list(folder).unwrap() {
        let path = folder.join(&name);
        if name.len() == 2 {
            assert_whole(disk, &path, when);
            continue;
        }
        let mut bytes = Vec::new();
        disk.open(&path).unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(crate::Hashes::of(&bytes).sha256.to_string(), name, "{when}");
    }
}

/// Whether the truth is also lost and rebuilt.
#[derive(Clone, Copy)]
enum Truth {
    Kept,
    Lost,
}

/// Removes the truth, and rebuilds it if any change was ever committed.
fn lose_truth(data: &Path, disk: &SimDisk, when: &str) {
    let layout = Layout::new(data);
    crate::disk::database_files::remove_database(&layout.truth()).unwrap();
    match crate::journal::rebuild::rebuild_on(Arc::new(disk.clone()), &layout, &mut |_| ()) {
        Ok(_) | Err(Error::NoSegments(_)) => {}
        // The folder of segments does not exist yet.
        Err(Error::Io { what: "list", .. }) => {}
        Err(error) => panic!("{when}: {error}"),
    }
}

async fn crash_everywhere(losses: &[Loss], truth: Truth) {
    for n in 0.. {
        let mut ended = false;
        for loss in losses {
            let folder = tempfile::tempdir().unwrap();
            let disk = SimDisk::new(folder.path());
            let acknowledged = run_until(folder.path(), &disk, n).await;
            ended = !disk.crashed();
            let when = format!("{loss:?} at point {n}, {:?}", disk.trace().last());
            disk.restart(*loss);
            if let Truth::Lost = truth {
                lose_truth(folder.path(), &disk, &when);
            }
            assert_nothing_is_lost(folder.path(), &disk, &acknowledged, &when).await;
        }
        if ended {
            break;
        }
    }
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_when_the_machine_stops_anywhere() {
    crash_everywhere(&[1, 2, 3].map(Loss::Machine), Truth::Kept).await;
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_when_a_crash_anywhere_takes_the_truth_too() {
    crash_everywhere(&[Loss::Machine(1), Loss::Process], Truth::Lost).await;
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_when_the_process_is_killed_anywhere() {
    crash_everywhere(&[Loss::Process], Truth::Kept).await;
}

#[tokio::test]
async fn nothing_is_lost_when_the_machine_stops_while_a_killed_process_s_leftovers_are_put_right() {
    for (first, second) in (0..).step_by(7).zip(0..14) {
        let folder = tempfile::tempdir().unwrap();
        let disk = SimDisk::new(folder.path());
        let acknowledged = run_until(folder.path(), &disk, first).await;
        disk.restart(Loss::Process);
        disk.crash_at(second);
        drop(open(folder.path(), &disk));
        disk.restart(Loss::Machine(first as u64));
        assert_nothing_is_lost(folder.path(), &disk, &acknowledged, &format!("at {first}, then at {second}")).await;
    }
}

#[tokio::test]
async fn the_scenario_passes_every_failpoint_of_the_list_and_syncs_before_it_commits() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(folder.path());
    run_until(folder.path(), &disk, usize::MAX >> 1).await;
    let trace = disk.trace();
    for point in Failpoint::ALL {
        assert!(trace.contains(point), "{point:?} was never passed");
    }
    let (mut bytes, mut names, mut logged) = (0, 0, true);
    for point in trace {
        match point {
            Failpoint::Write => bytes += 1,
            Failpoint::Rename => names += 1,
            Failpoint::SyncFolder => names = 0,
            Failpoint::BeforeCommit => {
                assert_eq!((bytes, names), (0, 0), "bytes are on disk before a row points at them")
            }
            Failpoint::AfterCommit => logged = false,
            Failpoint::SyncFile => (bytes, logged) = (0, true),
            Failpoint::BeforeAcknowledgement => assert!(logged, "the log has the row before it is acknowledged"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn after_a_failed_sync_nothing_is_written_until_a_restart() {
    for failing in [Failpoint::SyncFile, Failpoint::SyncFolder] {
        let folder = tempfile::tempdir().unwrap();
        let disk = SimDisk::new(folder.path());
        let store = open(folder.path(), &disk).unwrap();
        let mut event = job();
        let hashes = keep(&store, b"before").await.unwrap();
        disk.fail_next(failing);
        assert!(matches!(keep(&store, b"during").await, Err(Error::Io { .. })));
        assert!(matches!(keep(&store, b"after").await, Err(Error::Poisoned)));
        let commit = store.commit(batch(vec![], vec![]), &mut event).await;
        assert!(matches!(commit, Err(CommitError::Error(Error::Poisoned))));
        store.open_blob(hashes.sha256, &mut event).await.unwrap();
        store.close();
        drop(store);
        let store = open(folder.path(), &disk).unwrap();
        keep(&store, b"after").await.unwrap();
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_opened_is_an_error_and_nothing_is_in_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(folder.path());
    let store = open(folder.path(), &disk).unwrap();
    let renames = || disk.trace().iter().filter(|point| **point == Failpoint::Rename).count();
    keep(&store, b"before").await.unwrap();
    let before = renames();
    disk.fail_next(Failpoint::OpenFolder);
    assert!(matches!(keep(&store, b"before").await, Err(Error::Io { what: "open", .. })));
    assert_eq!(renames(), before, "no name exists that may be lost");
    // The same in a new folder.
    disk.fail_next(Failpoint::OpenFolder);
    assert!(matches!(keep(&store, b"another").await, Err(Error::Io { what: "open", .. })));
    let (bytes, publish) = publication("rack", 1);
    keep(&store, &bytes).await.unwrap();
    store.commit(batch(vec![], vec![publish]), &mut job()).await.unwrap();
}

#[tokio::test]
async fn a_commit_that_fails_before_its_end_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(folder.path());
    let store = open(folder.path(), &disk).unwrap();
    disk.fail_next(Failpoint::BeforeCommit);
    let (_, publish) = publication("rack", 1);
    store.commit(batch(vec![], vec![publish.clone()]), &mut job()).await.unwrap_err();
    assert_eq!(store.unit(R, "rack", crate::Lane::Change, &mut job()).await.unwrap().seq, Seq(0));
    assert_eq!(store.commit(batch(vec![], vec![publish]), &mut job()).await.unwrap(), Seq(1));
    assert_eq!(Sqlite::reader(&store.layout().truth()).unwrap().last().unwrap(), Seq(1));
}

#[tokio::test]
async fn damaged_bytes_and_segments_are_found_by_check_and_healed_by_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(folder.path());
    let store = open(folder.path(), &disk).unwrap();
    run(&store, &mut Acknowledged::default()).await.unwrap();
    let layout = store.layout();
    let entry = store.entry(R, "rack-3", &mut job()).await.unwrap().unwrap();
    let blob = layout.blob(&entry.hashes.sha256).file;
    disk.damage(&blob, b"rack-4").unwrap();
    let segments: Vec<_> =
        disk.list(&layout.segments()).unwrap().into_iter().filter(|name| name.ends_with(".jsonl")).collect();
    disk.damage(&layout.segments().join(&segments[0]), b"{}\n").unwrap();
    disk.unlink(&layout.segments().join(&segments[1])).unwrap();
    let found = |verify| {
        let problems = store.check(verify, &mut |_| ()).unwrap().problems;
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert!(!found(false).contains("digest") && found(true).contains("has the digest"), "{}", found(true));
    assert!(found(false).contains("no segment has the rows 3 to 4"), "{}", found(false));
    assert!(found(false).contains("do not have the hash in its name"));
    keep(&store, b"rack-3").await.unwrap();
    assert!(!found(true).contains("digest"));
}
