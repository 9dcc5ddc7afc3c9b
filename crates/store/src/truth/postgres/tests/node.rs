//! A store whose changes a database orders.

use super::server::Server;
use crate::tests::shared::change_in_turn;
use crate::tests::{job, keep, options, publication};
use crate::truth::suite::{batch, repository};
use crate::{CommitError, DatabaseOptions, Error, JournalReads as _, Layout, Seq, Sqlite, Store, StoreOptions};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn open(data: &Path, database: DatabaseOptions) -> Result<Arc<Store>, Error> {
    Store::open(StoreOptions { database: Some(database), ..options(data) })
}

pub(super) async fn publish(store: &Store, number: u32) -> Result<Seq, CommitError> {
    let (bytes, change) = publication("rack", number);
    keep(store, &bytes).await?;
    store.commit(batch(vec![], vec![change]), &mut job()).await
}

fn journal(data: &Path) -> Vec<(Seq, String)> {
    Sqlite::reader(&Layout::new(data).truth()).unwrap().journal_text(Seq(0), 1000, usize::MAX).unwrap()
}

#[tokio::test]
async fn an_empty_folder_becomes_the_old_one_and_a_node_with_a_copy_starts_without_the_database() {
    let (mut server, folders) = (Server::start(), [(); 3].map(|()| tempfile::tempdir().unwrap()));
    let database = server.database();
    let one = open(folders[0].path(), server.options(&database)).unwrap();
    one.commit(batch(vec![], vec![repository(0, "first", &[], false)]), &mut job()).await.unwrap();
    for number in 1..4 {
        publish(&one, number).await.unwrap();
    }
    one.close();
    let other = open(folders[1].path(), server.options(&database)).unwrap();
    assert_eq!(other.last(), Seq(4));
    other.close();
    assert_eq!(journal(folders[0].path()), journal(folders[1].path()));

    server.kill();
    let hurried = DatabaseOptions { patience: Duration::from_millis(200), ..server.options(&database) };
    let without = open(folders[1].path(), hurried.clone()).unwrap();
    assert!(without.database().unwrap().is_away() && without.last() == Seq(4));
    assert!(matches!(publish(&without, 4).await, Err(CommitError::Error(Error::DatabaseAway { .. }))));
    assert!(matches!(open(folders[2].path(), hurried), Err(Error::NoCopy { .. })));
    server.restart();
    while without.database().unwrap().is_away() {
        tokio::task::yield_now().await;
    }
    // Its timeout is shorter than the time in which others could put something back.
    let published = loop {
        match publish(&without, 5).await {
            Err(CommitError::Error(Error::DatabaseAway { .. })) => {}
            published => break published.unwrap(),
        }
    };
    assert_eq!(published, Seq(5));
    without.close();
    let alone = Store::open(options(folders[1].path()));
    assert!(matches!(&alone, Err(Error::InCluster(_))), "{alone:?}");
}

#[tokio::test]
async fn a_lost_copy_is_filled_from_the_segments_and_what_the_database_lost_is_put_back() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let (database, data) = (server.database(), folder.path());
    let store = open(data, server.options(&database)).unwrap();
    for number in 1..6 {
        publish(&store, number).await.unwrap();
    }
    store.close();
    let before = journal(data);
    crate::disk::database_files::remove_database(&Layout::new(data).truth()).unwrap();
    server.sql(&database, "DELETE FROM daylight.journal WHERE seq > 2; UPDATE daylight.counter SET seq = 2");
    let store = open(data, server.options(&database)).unwrap();
    assert_eq!(store.last(), Seq(5));
    store.close();
    assert_eq!(journal(data), before);
    assert_eq!(server.sql(&database, "SELECT count(*) FROM daylight.journal"), "5");
}

#[tokio::test]
async fn a_node_notices_what_another_has_written_without_being_asked() {
    let (server, folders) = (Server::start(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let database = server.database();
    let [one, other] = [0, 1].map(|n: usize| open(folders[n].path(), server.options(&database)).unwrap());
    publish(&one, 1).await.unwrap();
    while other.last() < Seq(1) {
        tokio::task::yield_now().await;
    }
    assert_eq!(publish(&other, 2).await.unwrap(), Seq(2));
    while one.last() < Seq(2) {
        tokio::task::yield_now().await;
    }
    [one, other].iter().for_each(|store| store.close());
    assert_eq!(journal(folders[0].path()), journal(folders[1].path()));
}

#[tokio::test]
async fn of_many_changes_by_two_nodes_at_once_none_is_lost_and_each_unit_is_changed_in_turn() {
    let (server, folders) = (Server::start(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let database = server.database();
    let stores = [0, 1].map(|n: usize| open(folders[n].path(), server.options(&database)).unwrap());
    change_in_turn([&stores[0], &stores[1]], 15).await;
    for store in &stores {
        store.close();
    }
    assert_eq!(journal(folders[0].path()), journal(folders[1].path()));
}
