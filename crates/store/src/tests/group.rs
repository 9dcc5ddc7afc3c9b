//! Commits that wait together are one transaction, and no reader sees it before its end.

use super::{job, options};
use crate::disk::{Disk, DiskFile, DiskFolder, Failpoint, RealDisk, SpaceBytes};
use crate::truth::suite::{R, batch, publish};
use crate::{Seq, Stamp, Store, StoreOptions, Unit};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use telemetry::Millis;

/// The machine's disk, on which each commit waits at a point until the test releases it.
#[derive(Debug)]
struct Gate {
    at: Failpoint,
    arrived: Sender<()>,
    through: Mutex<Receiver<()>>,
}

impl Disk for Gate {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.make_folder(path)
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        RealDisk.create(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }
    fn open_folder(&self, path: &Path) -> io::Result<Box<dyn DiskFolder>> {
        RealDisk.open_folder(path)
    }
    fn unlink(&self, path: &Path) -> io::Result<()> {
        RealDisk.unlink(path)
    }

    fn remove_empty_folder(&self, path: &Path) -> io::Result<bool> {
        RealDisk.remove_empty_folder(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_folder(path)
    }
    fn open(&self, path: &Path) -> io::Result<File> {
        RealDisk.open(path)
    }
    fn size(&self, path: &Path) -> io::Result<Option<u64>> {
        RealDisk.size(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(path)
    }
    fn space(&self, path: &Path) -> io::Result<SpaceBytes> {
        RealDisk.space(path)
    }
    fn point(&self, point: Failpoint) -> io::Result<()> {
        if point == self.at {
            self.arrived.send(()).unwrap();
            self.through.lock().unwrap().recv().unwrap();
        }
        Ok(())
    }
}

/// A store whose commits wait at that point. A message arrives when one waits there, and one lets it continue.
fn gated(data: &Path, at: Failpoint) -> (Arc<Store>, Receiver<()>, Sender<()>) {
    let (arrived, arrivals) = channel();
    let (let_through, through) = channel();
    let disk = Arc::new(Gate { at, arrived, through: Mutex::new(through) });
    (Store::open(StoreOptions { disk, ..options(data) }).unwrap(), arrivals, let_through)
}

#[tokio::test]
async fn whoever_can_see_a_change_finds_no_answer_from_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let (store, arrivals, let_through) = gated(folder.path(), Failpoint::AfterCommit);
    let units = [Unit::Of(R, "rack"), Unit::All(R)];
    let stamps = || units.map(|unit| store.revisions().stamp([unit], Millis(i64::MAX)));
    let holds = |stamps: &[Stamp; 2]| stamps.iter().any(|stamp| store.revisions().holds(stamp, Millis(0)));
    let before = stamps();
    let change = batch(vec![], vec![publish("rack", 1)]);
    let writing = {
        let store = store.clone();
        tokio::spawn(async move { store.commit(change, &mut job()).await.unwrap() })
    };
    tokio::task::yield_now().await;
    arrivals.recv().unwrap();
    assert_eq!(store.unit(R, "rack", crate::Lane::Change, &mut job()).await.unwrap().entries.len(), 1, "visible");
    let meanwhile = stamps();
    assert!(!holds(&before) && !holds(&meanwhile));
    let_through.send(()).unwrap();
    writing.await.unwrap();
    assert!(!holds(&before) && !holds(&meanwhile) && holds(&stamps()));
}

#[tokio::test]
async fn commits_that_wait_share_one_transaction_and_readers_see_it_only_when_it_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let (store, arrivals, let_through) = gated(folder.path(), Failpoint::BeforeCommit);
    let commit = |number| {
        let store = store.clone();
        tokio::spawn(
            async move { store.commit(batch(vec![], vec![publish("rack", number)]), &mut job()).await.unwrap() },
        )
    };
    let first = commit(1);
    tokio::task::yield_now().await;
    arrivals.recv().unwrap();
    let others: Vec<_> = (2..12).map(commit).collect();
    while store.commits_under_way() < 11 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        store.unit(R, "rack", crate::Lane::Change, &mut job()).await.unwrap().seq,
        Seq(0),
        "not committed, not visible"
    );
    let_through.send(()).unwrap();
    assert_eq!(first.await.unwrap(), Seq(1));
    arrivals.recv().unwrap();
    let_through.send(()).unwrap();
    for (other, seq) in others.into_iter().zip(2..) {
        assert_eq!(other.await.unwrap(), Seq(seq));
    }
    assert!(arrivals.try_recv().is_err(), "ten that waited were one transaction");
    assert_eq!(store.unit(R, "rack", crate::Lane::Change, &mut job()).await.unwrap().entries.len(), 11);
}

#[tokio::test]
async fn who_asks_as_of_a_moment_waits_for_what_is_being_written_and_is_told_the_same_ever_after() {
    let folder = tempfile::tempdir().unwrap();
    let (store, arrivals, let_through) = gated(folder.path(), Failpoint::BeforeCommit);
    let moment = batch(vec![], vec![]).at;
    assert_eq!(store.last_change_by(moment, &mut job()).await.unwrap(), Seq(0), "no commit runs, and none waits");
    let change = batch(vec![], vec![publish("rack", 1)]);
    let writing = {
        let store = store.clone();
        tokio::spawn(async move { store.commit(change, &mut job()).await.unwrap() })
    };
    tokio::task::yield_now().await;
    arrivals.recv().unwrap();
    let asking = {
        let store = store.clone();
        tokio::spawn(async move { store.last_change_by(moment, &mut job()).await.unwrap() })
    };
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!asking.is_finished());
    let_through.send(()).unwrap();
    assert_eq!((writing.await.unwrap(), asking.await.unwrap()), (Seq(1), Seq(1)));
}
