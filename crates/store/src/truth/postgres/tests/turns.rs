//! Which node writes first: after a failover one that has changes which the database lacks, and among many one that has lost often.

use super::node::{open, publish};
use super::nodes::until;
use super::server::Server;
use crate::Seq;
use std::sync::atomic::Ordering;

/// One beat, or one append, by a statement.
fn beat(node: &str, number: u64, seen: u64) -> String {
    format!(
        "SELECT is_ours FROM daylight.beat('{node}', 'of {node}', {number}, '{node}', NULL, {seen}, true, 'serving', '', '', 2, false, '{{}}')"
    )
}

fn append(node: &str, after: u64, id: &str, lost: u32) -> String {
    format!(
        "SELECT answer FROM daylight.append({after}, '{id}', '{node}', 'of {node}', NULL, false, {lost}, ARRAY['{id}'])"
    )
}

/// A database with tables, without nodes, whose table of nodes is not young.
fn tables(server: &Server) -> String {
    let (database, folder) = (server.database(), tempfile::tempdir().unwrap());
    open(folder.path(), server.options(&database)).unwrap().close();
    server.sql(&database, "DELETE FROM daylight.node");
    database
}

#[tokio::test]
async fn what_a_promoted_standby_lacks_comes_back_before_a_node_writes_that_was_cut_off() {
    let (server, folders) = (Server::start(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let (database, doors) = (server.database(), [server.door(), server.door()]);
    let [whole, lacking] =
        [0, 1].map(|n: usize| open(folders[n].path(), server.options_by(&database, doors[n].clone())).unwrap());
    publish(&whole, 1).await.unwrap();
    doors[1].faults.is_deaf.store(true, Ordering::Release);
    for number in 2..=3 {
        publish(&whole, number).await.unwrap();
    }
    let rows = server.sql(&database, "SELECT body FROM daylight.journal ORDER BY seq");
    doors[0].faults.is_deaf.store(true, Ordering::Release);
    server.fail_over(&database, 1);
    doors[1].faults.is_deaf.store(false, Ordering::Release);
    let comes_back = async {
        // The other one was the first to connect, and wants to write.
        until(|| server.sql(&database, "SELECT count(*) FROM daylight.node") == "1").await;
        assert!(!lacking.freshness().is_fresh(), "an acknowledged change may be missing");
        doors[0].faults.is_deaf.store(false, Ordering::Release);
    };
    let (written, ()) = tokio::join!(publish(&lacking, 4), comes_back);
    assert_eq!(written.unwrap(), Seq(4));
    let now = server.sql(&database, "SELECT body FROM daylight.journal ORDER BY seq");
    assert!(now.starts_with(&rows) && now.lines().count() == 4, "{now}");
    assert_eq!(publish(&whole, 5).await.unwrap(), Seq(5));
    [whole, lacking].iter().for_each(|store| store.close());
}

#[tokio::test]
async fn after_a_failover_nothing_new_is_written_until_each_node_can_have_connected() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let database = server.database();
    let store = open(folder.path(), server.options(&database)).unwrap();
    publish(&store, 1).await.unwrap();
    server.fail_over(&database, 1);
    assert_eq!(publish(&store, 2).await.unwrap(), Seq(2));
    let is_old = "SELECT at < clock_timestamp() - interval '1100 milliseconds' FROM daylight.nodes_since";
    assert_eq!(server.sql(&database, is_old), "t");
    store.close();
}

#[test]
fn a_node_of_another_history_is_not_waited_for() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let (database, door) = (server.database(), server.door());
    let parted = open(folder.path(), server.options_by(&database, door.clone())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for number in 1..=3 {
        runtime.block_on(publish(&parted, number)).unwrap();
    }
    door.faults.is_deaf.store(true, Ordering::Release);
    server.promote(&database, 1);
    server.add_foreign(&database, 1);
    door.faults.is_deaf.store(false, Ordering::Release);
    let seen = || server.sql(&database, "SELECT seen FROM daylight.node");
    let is_old = "SELECT at < clock_timestamp() - interval '1100 milliseconds' FROM daylight.nodes_since";
    while seen() != "0" || server.sql(&database, is_old) != "t" {
        std::thread::yield_now();
    }
    assert_eq!(server.sql(&database, &append("other", 2, "x", 0)), "made");
    parted.close();
}

#[test]
fn a_beat_that_is_executed_after_a_later_one_changes_nothing() {
    let server = Server::start();
    let database = tables(&server);
    let said = [beat("a", 5, 7), beat("a", 4, 3)].map(|beat| server.sql(&database, &beat));
    assert_eq!(said, ["t", "t"]);
    let row = || server.sql(&database, "SELECT seen, number, beat FROM daylight.node");
    assert_eq!(row(), "7|5|1");
    // The first beat of the next start has a smaller number.
    server.sql(&database, &beat("a", 1, 8).replace("'of a'", "'of a later'"));
    assert_eq!(row(), "8|1|2");
}

#[test]
fn a_node_that_has_lost_often_writes_next() {
    let server = Server::start();
    let database = tables(&server);
    let all = [
        beat("quick", 1, 0),
        beat("slow", 1, 0),
        append("quick", 0, "q1", 0),
        append("slow", 0, "s", 8),
        append("quick", 1, "q2", 0),
        append("slow", 1, "s", 9),
        append("quick", 2, "q3", 0),
    ];
    assert_eq!(server.sql(&database, &all.join("; ")), "t\nt\nmade\nmoved\nwait\nmade\nmade");
}
