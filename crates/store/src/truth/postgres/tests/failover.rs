//! A database that goes away, comes back, and comes back as another one.

use super::node;
use super::server::Server;
use crate::journal::record::Seq;
use crate::tests::same::assert_same;
use crate::truth::catalog::{Committed, JournalReads as _, SettingReads as _, Transactions as _};
use crate::truth::suite::{batch, made, setting};
use crate::{DatabaseRefusal, Error, Sqlite};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
fn what_was_acknowledged_stays_and_changes_go_on_after_each_kill_of_the_server() {
    let (mut server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let database = server.database();
    let mut node = node(folder.path(), server.options(&database)).unwrap();
    for round in 1..4u64 {
        assert_eq!(made(&mut node, vec![setting("round", json!(round))]), Seq(round));
        server.restart();
    }
    assert_eq!(made(&mut node, vec![setting("round", json!(4))]), Seq(4));
    assert_eq!(
        server.sql(&database, "SELECT string_agg(seq::text, ' ' ORDER BY seq) FROM daylight.journal"),
        "1 2 3 4"
    );
}

#[test]
fn while_the_server_is_away_or_paused_everything_is_read_and_changes_are_refused_until_it_is_back() {
    let (mut server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let mut options = server.options(&server.database());
    options.patience = Duration::from_millis(1);
    let mut node = hurried(&folder, &options);
    let state = node.link().state().clone();
    for fault in ["killed", "paused"] {
        match fault {
            "killed" => server.kill(),
            _ => server.pause(),
        }
        node.begin(&[batch(vec![], vec![setting("a", json!(2))])]).unwrap();
        let Ok(Committed::Failed(error @ Error::DatabaseAway { .. })) = node.commit() else { panic!("{fault}") };
        assert!(error.hint().is_some());
        while !state.is_away() {
            std::thread::yield_now();
        }
        assert!(state.away().is_some_and(|away| !away.cause.is_empty()), "{fault}");
        assert_eq!((node.last().unwrap(), node.setting("a").unwrap()), (Seq(1), Some(json!(1))), "{fault}");
        match fault {
            "killed" => server.restart(),
            _ => server.resume(),
        }
        while state.is_away() {
            std::thread::yield_now();
        }
    }
    // The paused server may have made the change that was refused. For a second others could put something back.
    let last = loop {
        match node.commit_batches(&[batch(vec![], vec![setting("a", json!(3))])]) {
            Err(Error::DatabaseAway { .. }) => {}
            answers => break answers.unwrap().remove(0).unwrap(),
        }
    };
    assert!(last > Seq(1));
    assert_eq!(node.setting("a").unwrap(), Some(json!(3)));
}

/// A connected node with one change and a shorter timeout than a connection takes.
fn hurried(folder: &tempfile::TempDir, options: &crate::DatabaseOptions) -> super::Ordered {
    let patient = crate::DatabaseOptions { patience: Duration::from_secs(20), ..options.clone() };
    made(&mut node(folder.path(), patient).unwrap(), vec![setting("a", json!(1))]);
    let node = node(folder.path(), options.clone()).unwrap();
    while node.link().state().counts.connects.load(Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    node
}

#[test]
fn changes_that_a_promoted_standby_lacks_are_put_back() {
    let (server, folders) = (Server::start(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let database = server.database();
    let mut one = node(folders[0].path(), server.options(&database)).unwrap();
    for number in 1..=300 {
        made(&mut one, vec![setting(&format!("s{number}"), json!(number))]);
    }
    for last in [299, 7, 0] {
        server.promote(&database, last);
        let before = one.last().unwrap().0;
        assert_eq!(made(&mut one, vec![setting("after", json!(last))]).0, before + 1);
        let rows = server
            .sql(&database, "SELECT count(*), max(seq), (SELECT seq FROM daylight.counter) FROM daylight.journal");
        assert_eq!(rows, format!("{0}|{0}|{0}", before + 1));
    }
    let mut empty = node(folders[1].path(), server.options(&database)).unwrap();
    assert_same(&mut one, &mut empty);
}

#[test]
fn a_database_with_other_changes_under_the_same_numbers_is_not_written_and_nothing_is_overwritten() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let database = server.database();
    let mut one = node(folder.path(), server.options(&database)).unwrap();
    made(&mut one, vec![setting("a", json!(1)), setting("b", json!(1))]);
    server.promote(&database, 1);
    server.add_foreign(&database, 1);
    let rows = || server.sql(&database, "SELECT md5(string_agg(body, ' ' ORDER BY seq)) FROM daylight.journal");
    let before = rows();
    for _ in 0..2 {
        one.begin(&[batch(vec![], vec![setting("a", json!(2))])]).unwrap();
        match one.commit().unwrap() {
            Committed::Failed(error @ Error::Parted { .. }) => {
                let hint = error.hint().unwrap_or_default();
                assert!(error.to_string().contains("`2`") && hint.contains("daylight cluster resolve"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((rows(), one.last().unwrap()), (before.clone(), Seq(2)));
    drop(one);
    let one = node(folder.path(), server.options(&database)).unwrap();
    assert!(one.link().state().is_away(), "it starts, to be read");
    assert_eq!(rows(), before);
}

#[test]
fn a_folder_belongs_to_one_database_and_one_with_changes_moves_only_into_an_empty_one() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let [first, second] = [server.database(), server.database()];
    let mut alone = Sqlite::writer(&crate::Layout::new(folder.path()).truth()).unwrap();
    for number in 1..=300 {
        made(&mut alone, vec![setting("a", json!(number))]);
    }
    drop(alone);
    let empty = tempfile::tempdir().unwrap();
    made(&mut node(empty.path(), server.options(&second)).unwrap(), vec![setting("other", json!(1))]);
    assert!(matches!(node(folder.path(), server.options(&second)), Err(Error::DatabaseOther { .. })));
    let refused = node(folder.path(), server.options(&first)).map(drop).unwrap_err();
    assert!(matches!(refused, Error::NotAdopted { rows: 300, .. }) && refused.hint().is_some(), "{refused}");
    assert_eq!(server.sql(&first, "SELECT count(*) FROM daylight.journal"), "0");
    let adopting = crate::DatabaseOptions { adopt: true, ..server.options(&first) };
    let mut moved = node(folder.path(), adopting).unwrap();
    assert_eq!(server.sql(&first, "SELECT count(*) FROM daylight.journal"), "300");
    let other = tempfile::tempdir().unwrap();
    assert_same(&mut moved, &mut node(other.path(), server.options(&first)).unwrap());
    assert!(matches!(node(other.path(), server.options(&second)), Err(Error::DatabaseOther { .. })));
}

#[test]
fn a_database_that_cannot_hold_the_journal_is_refused_with_a_reason() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    server.sql("postgres", "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    let later = server.database();
    node(folder.path(), server.options(&later)).map(drop).unwrap();
    server.sql(&later, "UPDATE daylight.cluster SET form = 99");
    for database in ["latin", later.as_str()] {
        let refused = node(folder.path(), server.options(database));
        assert!(matches!(refused, Err(Error::DatabaseOther { .. })), "{database}: {:?}", refused.map(|_| ()));
    }
}

#[test]
fn a_start_without_a_copy_waits_for_nothing_that_only_people_can_change_and_one_with_a_copy_goes_on() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let database = server.database();
    let mut first = node(folder.path(), server.options(&database)).unwrap();
    made(&mut first, vec![setting("a", json!(1))]);
    drop(first);
    server.sql("postgres", "CREATE ROLE stranger LOGIN");
    let (empty, bare) = (tempfile::tempdir().unwrap(), server.database());
    let user =
        |user: &str, database: &str| crate::DatabaseOptions { user: user.to_owned(), ..server.options(database) };
    for (options, of) in [
        (server.options("nothing"), DatabaseRefusal::Name),
        (user("nobody", &database), DatabaseRefusal::Login),
        (user("stranger", &bare), DatabaseRefusal::Rights),
    ] {
        let options = crate::DatabaseOptions { patience: Duration::from_secs(3600), ..options };
        let refused = node(empty.path(), options.clone()).map(drop).unwrap_err();
        let is_told = matches!(&refused, Error::DatabaseRefuses { of: told, .. } if *told == of);
        assert!(is_told && refused.hint().is_some(), "{of:?}: {refused}");
        let mut node = node(folder.path(), options).unwrap();
        assert_eq!(node.setting("a").unwrap(), Some(json!(1)));
        node.begin(&[batch(vec![], vec![setting("a", json!(2))])]).unwrap();
        assert!(matches!(node.commit(), Ok(Committed::Failed(Error::DatabaseRefuses { .. }))), "{of:?}");
    }
}

#[test]
fn over_a_connection_that_breaks_under_large_pages_a_copy_is_filled_by_smaller_ones() {
    let (server, folders) = (Server::start(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let database = server.database();
    let mut first = node(folders[0].path(), server.options(&database)).unwrap();
    let large = "x".repeat(10_000);
    for number in 1..=40 {
        made(&mut first, vec![setting(&format!("s{number}"), json!(large))]);
    }
    let door = server.door();
    door.faults.most_bytes.store(100_000, Ordering::Release);
    let mut second = node(folders[1].path(), server.options_by(&database, door)).unwrap();
    assert_same(&mut first, &mut second);
    assert!(second.link().state().counts.connects.load(Ordering::Relaxed) > 2);
}

#[test]
fn a_folder_whose_move_was_lost_to_another_one_belongs_to_no_database() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let (database, other) = (server.database(), tempfile::tempdir().unwrap());
    for (data, value) in [(folder.path(), 1), (other.path(), 2)] {
        let mut alone = Sqlite::writer(&crate::Layout::new(data).truth()).unwrap();
        made(&mut alone, vec![setting("a", json!(value))]);
    }
    let door = server.door();
    let first = crate::DatabaseOptions { adopt: true, ..server.options(&database) };
    let adopting = crate::DatabaseOptions { door: door.clone(), ..first.clone() };
    // Another one moves in between the look at the counter and the first append.
    let moves_in = move || drop(node(other.path(), first).unwrap());
    *telemetry::lock(&door.faults.before_append) = Some(Box::new(moves_in));
    let lost = node(folder.path(), adopting).map(drop);
    assert!(matches!(lost, Err(Error::DatabaseOther { .. })), "{lost:?}");
    assert!(!folder.path().join("cluster").exists());
}
