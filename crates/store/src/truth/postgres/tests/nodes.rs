//! Several nodes on one database: whose answers are fresh, when a change is acknowledged, names, leases, and rows of later versions.

use super::node::{open, publish};
use super::server::Server;
use crate::tests::options;
use crate::{CommitError, DatabaseOptions, Error, NodeState, Seq, Store};
use std::sync::atomic::Ordering;

/// Runs other tasks until it is so.
pub(super) async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}

fn folders<const N: usize>() -> [tempfile::TempDir; N] {
    [(); N].map(|()| tempfile::tempdir().unwrap())
}

#[tokio::test]
async fn an_acknowledged_change_is_in_every_node_that_calls_its_answers_fresh() {
    let (server, folders) = (Server::start(), folders::<3>());
    let database = server.database();
    let stores = folders.each_ref().map(|folder| open(folder.path(), server.options(&database)).unwrap());
    assert!(stores.iter().all(|store| store.freshness().is_fresh()), "from the first answer on");
    for number in 1..=30 {
        let writer = &stores[number as usize % 3];
        let seq = publish(writer, number).await.unwrap();
        for store in &stores {
            assert!(store.last() >= seq || !store.freshness().is_fresh(), "{seq:?}: {:?}", store.nodes());
        }
    }
    let nodes = stores[1].nodes();
    assert_eq!((nodes.len(), stores[1].living(), nodes[0].is_self), (3, 3, true));
    assert!(nodes.iter().all(|node| node.state == NodeState::Serving && node.fresh && node.form == 2), "{nodes:?}");
    stores.iter().for_each(|store| store.close());
}

#[tokio::test]
async fn a_node_that_hears_nothing_is_waited_for_once_and_calls_nothing_fresh_until_it_has_caught_up() {
    let (server, folders) = (Server::start(), folders::<2>());
    let (database, door) = (server.database(), server.door());
    let one = open(folders[0].path(), server.options(&database)).unwrap();
    let other = open(folders[1].path(), server.options_by(&database, door.clone())).unwrap();
    publish(&one, 1).await.unwrap();
    assert!(other.last() == Seq(1) && other.freshness().is_fresh());
    door.faults.is_deaf.store(true, Ordering::Release);
    // The other one trusts its copy for a while, and until then this is no acknowledgement.
    let seq = publish(&one, 2).await.unwrap();
    assert!(other.last() < seq && !other.freshness().is_fresh());
    until(|| one.nodes().iter().any(|node| !node.fresh)).await;
    publish(&one, 3).await.unwrap();
    until(|| one.living() == 1).await;
    door.faults.is_deaf.store(false, Ordering::Release);
    until(|| other.freshness().is_fresh()).await;
    assert_eq!(other.last(), Seq(3));
    let seq = publish(&one, 4).await.unwrap();
    assert_eq!(other.last(), seq);
    [one, other].iter().for_each(|store| store.close());
}

#[tokio::test]
async fn where_here_is_enough_nobody_is_waited_for() {
    let (server, folders) = (Server::start(), folders::<2>());
    let (database, door) = (server.database(), server.door());
    let here = DatabaseOptions { everywhere: false, ..server.options(&database) };
    let one = open(folders[0].path(), here).unwrap();
    let other = open(folders[1].path(), server.options_by(&database, door.clone())).unwrap();
    door.faults.is_deaf.store(true, Ordering::Release);
    let mut last = Seq(0);
    // Each would take a second, and the other one would be stale.
    for number in 1..=3 {
        last = publish(&one, number).await.unwrap();
    }
    door.faults.is_deaf.store(false, Ordering::Release);
    until(|| other.last() == last && other.freshness().is_fresh()).await;
    [one, other].iter().for_each(|store| store.close());
}

#[tokio::test]
async fn after_postgresql_was_killed_nodes_write_themselves_again_and_the_first_yes_waits() {
    let (mut server, folders) = (Server::start(), folders::<2>());
    let database = server.database();
    let [one, other] = [0, 1].map(|n: usize| open(folders[n].path(), server.options(&database)).unwrap());
    publish(&one, 1).await.unwrap();
    for number in 2..4 {
        server.kill();
        server.restart();
        let seq = publish(&one, number).await.unwrap();
        assert!(other.last() >= seq || !other.freshness().is_fresh());
        until(|| one.freshness().is_fresh() && other.freshness().is_fresh() && other.last() == seq).await;
    }
    [one, other].iter().for_each(|store| store.close());
}

#[test]
fn no_two_living_nodes_have_one_name_and_that_of_a_killed_one_is_free() {
    let (server, folders) = (Server::start(), folders::<3>());
    let database = server.database();
    let named = |door| DatabaseOptions {
        node: "a".to_owned(),
        node_url: "first.test".to_owned(),
        ..server.options_by(&database, door)
    };
    let door = server.door();
    let one = open(folders[0].path(), named(door.clone())).unwrap();
    match open(folders[1].path(), named(server.door())) {
        Err(Error::NameTaken { name, url }) => assert_eq!((&*name, &*url), ("a", "first.test")),
        other => panic!("{other:?}"),
    }
    // As if it was killed: the row stands still.
    door.faults.is_deaf.store(true, Ordering::Release);
    let other = open(folders[1].path(), named(server.door())).unwrap();
    assert!(other.freshness().is_fresh());
    door.faults.is_deaf.store(false, Ordering::Release);
    while one.nodes().iter().any(|node| node.is_self) {
        std::thread::yield_now();
    }
    assert!(!one.freshness().is_fresh(), "it has lost its name");
    other.close();
    while !one.freshness().is_fresh() {
        std::thread::yield_now();
    }
    one.close();
    // A name is free at once after a clean stop, and for the same folder always.
    open(folders[2].path(), named(server.door())).unwrap().close();
}

#[tokio::test]
async fn one_node_holds_a_lease_and_another_gets_it_when_that_one_stops_or_hears_nothing() {
    let (server, folders) = (Server::start(), folders::<2>());
    let (database, door) = (server.database(), server.door());
    let one = open(folders[0].path(), server.options_by(&database, door.clone())).unwrap();
    until(|| one.holds("collect")).await;
    let other = open(folders[1].path(), server.options(&database)).unwrap();
    assert!(!other.holds("collect"));
    // It is acknowledged after a beat.
    publish(&other, 1).await.unwrap();
    assert!(one.holds("collect") && !other.holds("collect"));
    door.faults.is_deaf.store(true, Ordering::Release);
    until(|| {
        let (first, second) = (one.holds("collect"), other.holds("collect"));
        assert!(!(first && second));
        second
    })
    .await;
    door.faults.is_deaf.store(false, Ordering::Release);
    until(|| one.freshness().is_fresh()).await;
    assert!(other.holds("collect") && !one.holds("collect"));
    assert_eq!(one.leases().holders().len(), 1);
    other.drain();
    until(|| one.holds("collect")).await;
    assert!(!other.holds("collect"));
    [one, other].iter().for_each(|store| store.close());
}

#[tokio::test]
async fn without_a_database_a_node_has_all_leases_and_is_fresh() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(options(folder.path())).unwrap();
    assert!(store.holds("collect") && store.freshness().is_fresh() && store.freshness().lets_hold());
    assert_eq!((store.living(), store.nodes().len()), (1, 0));
}

#[tokio::test]
async fn a_row_that_no_node_can_have_written_is_not_taken_in_and_nothing_is_written_after_it() {
    let row = |v: u32, seq: u64| {
        format!("{{\"v\":{v},\"seq\":{seq},\"at\":1,\"by\":\"x\",\"change\":\"setting\",\"key\":\"k\",\"value\":{v}}}")
    };
    let unknown = r#"{"v":3,"seq":2,"at":1,"by":"x","change":"miracle"}"#.to_owned();
    let server = Server::start();
    for (seq, row, why) in [
        (2, unknown, "reads up to `2`"),
        (2, row(3, 2), "reads up to `2`"),
        (2, row(2, 7), "`7`"),
        (2, "{}".to_owned(), "missing field"),
        // The second one is missing.
        (3, row(2, 3), "the journal has `3` where `2` must follow"),
    ] {
        let (database, folder) = (server.database(), tempfile::tempdir().unwrap());
        let store = open(folder.path(), server.options(&database)).unwrap();
        publish(&store, 1).await.unwrap();
        let quoted = row.replace('\'', "''");
        server.sql(
            &database,
            &format!(
                "INSERT INTO daylight.journal VALUES ({seq}, '{quoted}', 'x', 'x'); UPDATE daylight.counter SET seq = {seq}"
            ),
        );
        until(|| store.database().unwrap().unfollowed().is_some()).await;
        let told = store.database().unwrap().unfollowed().unwrap();
        assert!(told.contains(why), "{told}");
        let refused = publish(&store, 2).await;
        assert!(matches!(refused, Err(CommitError::Error(Error::DatabaseAhead { .. }))), "{refused:?}");
        until(|| !store.freshness().is_fresh()).await;
        assert_eq!(store.last(), Seq(1));
        store.close();
        // Its reads go on also after a restart.
        let store = open(folder.path(), server.options(&database)).unwrap();
        assert!(store.last() == Seq(1) && store.database().unwrap().unfollowed().is_some());
        store.close();
    }
}

#[tokio::test]
async fn nothing_is_written_that_a_living_node_does_not_read() {
    let (server, folders) = (Server::start(), folders::<2>());
    let database = server.database();
    let named = |node: &str| DatabaseOptions { node: node.to_owned(), ..server.options(&database) };
    let one = open(folders[0].path(), named("newer")).unwrap();
    let other = open(folders[1].path(), named("older")).unwrap();
    // As if an earlier version of the program beat there.
    server.sql(
        &database,
        "CREATE FUNCTION reads_less() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.form = 1; RETURN NEW; END'; \
         CREATE TRIGGER reads_less BEFORE UPDATE ON daylight.node FOR EACH ROW WHEN (NEW.name = 'older') \
         EXECUTE FUNCTION reads_less()",
    );
    until(|| one.nodes().iter().any(|node| node.form == 1)).await;
    let refused = publish(&one, 1).await;
    let Err(CommitError::Error(error @ Error::NodeBehind { .. })) = refused else { panic!("{refused:?}") };
    let told = error.to_string();
    assert!(told.contains("`older`") && told.contains("up to `1`, and this is form `2`"), "{told}");
    assert!(error.hint().is_some_and(|hint| hint.contains("`older`")));
    assert_eq!((one.last(), server.sql(&database, "SELECT seq FROM daylight.counter")), (Seq(0), "0".to_owned()));
    other.close();
    until(|| one.living() == 1).await;
    assert_eq!(publish(&one, 2).await.unwrap(), Seq(1));
    one.close();
}

#[tokio::test]
async fn tables_of_the_first_form_are_brought_to_this_one_and_programs_of_that_form_write_no_more() {
    let (server, folders) = (Server::start(), folders::<2>());
    let database = server.database();
    let one = open(folders[0].path(), server.options(&database)).unwrap();
    publish(&one, 1).await.unwrap();
    one.close();
    server.sql(
        &database,
        "DROP TABLE daylight.node, daylight.lease, daylight.nodes_since; UPDATE daylight.cluster SET form = 1; \
         DROP FUNCTION daylight.beat; DROP FUNCTION daylight.others; DROP FUNCTION daylight.append",
    );
    let other = open(folders[1].path(), server.options(&database)).unwrap();
    publish(&other, 2).await.unwrap();
    assert!(other.last() == Seq(2) && other.freshness().is_fresh());
    assert_eq!(server.sql(&database, "SELECT form FROM daylight.cluster"), "2");
    other.close();
}
