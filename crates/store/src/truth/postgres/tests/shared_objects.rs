//! Several nodes on one database and one object storage: one of them collects, and one copies the journal.

use super::server::Server;
use crate::journal::segments::Segment;
use crate::tests::objects::in_memory;
use crate::tests::{job, options, publication};
use crate::truth::suite::{R, batch, entry, repository, setting};
use crate::{
    Batch, BlobLife, Change, CommitError, DatabaseOptions, Digest, Error, Objects, Seq, State, Store, StoreOptions,
    Withdrawal,
};
use futures_util::TryStreamExt as _;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use telemetry::Millis;

fn open(data: &Path, database: DatabaseOptions, objects: &Objects) -> Arc<Store> {
    let blob_life = BlobLife { collect_after: Duration::ZERO, ..BlobLife::default() };
    let (database, objects) = (Some(database), Some(objects.clone()));
    Store::open(StoreOptions { database, objects, blob_life, ..options(data) }).unwrap()
}

async fn upload(store: &Store, number: u32) -> Digest {
    let ((bytes, change), event) = (publication("rack", number), &mut job());
    let mut staged = store.stage(event).await.unwrap();
    staged.write(bytes.into(), event).await.unwrap();
    let kept = staged.keep(event).await.unwrap();
    let digest = kept.hashes.sha256;
    let batch = Batch { holds: vec![kept.hold], ..batch(vec![], vec![change]) };
    store.commit(batch, event).await.unwrap();
    digest
}

/// The last numbers of the segments there, and whether they have all rows up to the last one.
async fn segments(objects: &Objects) -> (Seq, bool) {
    let listed: Vec<_> = objects.store.list(Some(&objects.segments())).try_collect().await.unwrap();
    let mut all: Vec<Segment> = listed.iter().filter_map(|meta| Segment::parse(meta.location.filename()?)).collect();
    all.sort();
    let last = crate::journal::segments::last_row(&all);
    (last, crate::journal::segments::gaps(&all).is_empty())
}

#[tokio::test]
async fn one_node_deletes_an_object_and_the_other_ones_only_their_copies() {
    let (server, folders) = (Server::start(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let (database, objects) = (server.database(), in_memory());
    let stores = folders.each_ref().map(|folder| open(folder.path(), server.options(&database), &objects));
    stores.iter().for_each(|store| store.on_followed(|_| ()));
    let collector = loop {
        match stores.each_ref().map(|store| store.collects()) {
            [true, false] => break 0,
            [false, true] => break 1,
            both => assert_ne!(both, [true, true]),
        }
        tokio::task::yield_now().await;
    };
    let [one, other] = [&stores[collector], &stores[1 - collector]];
    one.commit(batch(vec![], vec![repository(0, "first", &[], false)]), &mut job()).await.unwrap();
    let digest = upload(one, 1).await;
    other.follow(&mut job()).await.unwrap();
    assert_eq!(other.read_blob(digest, &mut job()).await.unwrap(), "rack-1");
    let is_on_disk = |store: &Store| store.layout().blob(&digest).file.is_file();
    let has_object = async || objects.store.list(Some(&objects.blobs(digest.0[0]))).try_next().await.unwrap().is_some();
    assert!(is_on_disk(one) && is_on_disk(other) && has_object().await);
    let why = Withdrawal::Purged { why: "a secret".into() };
    let entry = entry("rack", 1, State::Live).withdrawn(why, Millis(1_000));
    one.commit(batch(vec![], vec![Change::Entry { repository: R, entry }]), &mut job()).await.unwrap();
    other.follow(&mut job()).await.unwrap();
    let last = other.last();
    assert!(other.next_collection().is_some(), "the change of another node makes it look, too");
    assert_eq!(other.collect(&mut job()).await.unwrap().collected, 1);
    assert_eq!((is_on_disk(other), has_object().await, other.last()), (false, true, last));
    assert_eq!(one.collect(&mut job()).await.unwrap().collected, 1);
    assert_eq!((is_on_disk(one), has_object().await, one.last()), (false, false, Seq(last.0 + 1)));
    assert_eq!(other.collect(&mut job()).await.unwrap().collected, 0);
    stores.iter().for_each(|store| store.close());
}

#[tokio::test]
async fn one_node_copies_the_journal_and_the_next_one_goes_on_where_it_ended() {
    let (server, folders) = (Server::start(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let (database, objects) = (server.database(), in_memory());
    let [one, other] = folders.each_ref().map(|folder| open(folder.path(), server.options(&database), &objects));
    one.commit(batch(vec![], vec![repository(0, "first", &[], false)]), &mut job()).await.unwrap();
    let mut number = 0;
    let holder =
        |store: &Store| {
            store.leases().holders().iter().any(|(name, node)| {
                name == "segments" && store.nodes().iter().any(|row| row.is_self && row.name == *node)
            })
        };
    for (writer, living) in [(&one, vec![&one, &other]), (&other, vec![&other])] {
        if living.len() == 1 {
            one.close();
        }
        number += 1;
        upload(writer, number).await;
        let last = writer.last();
        loop {
            for store in &living {
                store.ship_now(&mut job()).await.unwrap();
            }
            if segments(&objects).await == (last, true) {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert!(living.iter().filter(|store| holder(store)).count() <= 1);
    }
    let names: Vec<_> = objects.store.list(Some(&objects.segments())).try_collect::<Vec<_>>().await.unwrap();
    assert!(names.len() as u64 <= other.last().0, "no row was copied twice: {names:?}");
    other.close();
}

#[tokio::test]
async fn where_histories_have_parted_an_upload_is_refused_for_that_and_not_for_what_object_storage_has() {
    let (server, folders) = (Server::start(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let (databases, objects) = ([server.database(), server.database()], in_memory());
    let first = || repository(0, "first", &[], false);
    let other = open(folders[0].path(), server.options(&databases[0]), &objects);
    for number in 0..3 {
        other.commit(batch(vec![], vec![setting("a", json!(number))]), &mut job()).await.unwrap();
    }
    while segments(&objects).await.0 < other.last() {
        other.ship_now(&mut job()).await.unwrap();
    }
    other.close();
    let database = || Some(server.options(&databases[1]));
    let alone = Store::open(StoreOptions { database: database(), ..options(folders[1].path()) }).unwrap();
    for change in [first(), setting("a", json!(1))] {
        alone.commit(batch(vec![], vec![change]), &mut job()).await.unwrap();
    }
    alone.close();
    server.promote(&databases[1], 1);
    server.add_foreign(&databases[1], 1);
    let parted = open(folders[1].path(), server.options(&databases[1]), &objects);
    let ((bytes, change), event) = (publication("rack", 1), &mut job());
    let mut staged = parted.stage(event).await.unwrap();
    staged.write(bytes.into(), event).await.unwrap();
    let holds = vec![staged.keep(event).await.unwrap().hold];
    let refused = parted.commit(Batch { holds, ..batch(vec![], vec![change]) }, event).await;
    assert!(matches!(refused, Err(CommitError::Error(Error::Parted { .. }))), "{refused:?}");
    assert_eq!(parted.this_node().unwrap().seen, Seq(2), "it tells what it has");
    parted.close();
}
