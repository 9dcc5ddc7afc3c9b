//! The catalog on a real PostgreSQL: the suite of all catalogs, and what only a database does.

mod failover;
mod node;
mod nodes;
pub(crate) mod server;
mod shared_objects;
mod turns;

use super::options::DatabaseOptions;
use super::{Folder, Ordered};
use crate::disk::RealDisk;
use crate::disk::cluster::ClusterId;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::journal::record::Seq;
use crate::tests::same::assert_same;
use crate::truth::catalog::{Committed, Expect, JournalReads as _, SettingReads as _, Transactions as _};
use crate::truth::suite::{R, any_batch, batch, made, publish, run, setting};
use crate::{ClockDoubt, Error, Model, Sqlite};
use proptest::prelude::*;
use serde_json::json;
use server::Server;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use telemetry::{Clock, Log, Millis, Recorder};

/// A node with a folder, whose clock is set and therefore not compared with that of the database.
pub(super) fn node(data: &Path, options: DatabaseOptions) -> Result<Ordered, Error> {
    node_at(data, options, Clock::at(Millis(1_000)))
}

pub(super) fn node_at(data: &Path, options: DatabaseOptions, clock: Clock) -> Result<Ordered, Error> {
    let layout = Layout::new(data);
    let space = Arc::new(Space::new(Arc::new(RealDisk), data.to_owned(), 0, Log::silent()));
    let cluster = ClusterId::read(&RealDisk, &layout, space)?;
    let recorder = Recorder::silent(clock.clone());
    let copy = Sqlite::writer(&layout.truth())?.into_copy()?;
    let folder = Folder { id: 0, cluster };
    let mut ordered = Ordered::new(copy, options, folder, clock, Log::silent(), &recorder)?;
    ordered.catch_up()?;
    Ok(ordered)
}

/// A node that keeps its folder.
fn kept(folder: tempfile::TempDir, options: DatabaseOptions) -> Ordered {
    node(&folder.keep(), options).unwrap()
}

#[test]
fn postgres_does_what_a_catalog_must() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let inside = || tempfile::tempdir_in(folder.path()).unwrap();
    run(|| kept(inside(), server.options(&server.database())));
}

#[test]
fn nodes_that_write_by_turns_do_what_one_would_also_when_answers_and_appends_are_lost() {
    let server = Server::start();
    let group = (prop::collection::vec(any_batch(), 0..4), 0..2usize, prop::bool::weighted(0.8), 0..6u8);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 8,
        max_shrink_iters: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let compared = runner.run(&prop::collection::vec(group, 1..8), |groups| {
        let (database, folder) = (server.database(), tempfile::tempdir().unwrap());
        let doors = [server.door(), server.door()];
        let mut nodes = ["a", "b"].map(|name| {
            let options = server.options_by(&database, doors[usize::from(name == "b")].clone());
            std::fs::create_dir(folder.path().join(name)).unwrap();
            node(&folder.path().join(name), options).unwrap()
        });
        let mut model = Model::default();
        for (batches, who, commits, fault) in groups {
            doors[who].faults.loses_answer.store(fault == 1, Ordering::Release);
            doors[who].faults.loses_append.store(fault == 2, Ordering::Release);
            if commits {
                let answers = nodes[who].commit_batches(&batches).unwrap();
                prop_assert_eq!(answers, model.commit_batches(&batches).unwrap());
            } else {
                nodes[who].begin(&batches).unwrap();
                nodes[who].rollback();
            }
        }
        for node in &mut nodes {
            node.follow();
            assert_same(node, &mut model);
        }
        Ok(())
    });
    compared.unwrap();
}

impl Ordered {
    fn follow(&mut self) {
        let after = self.last().unwrap();
        let rows = self.others(after).unwrap();
        self.take_in(&rows.rows).unwrap();
    }
}

#[test]
fn an_append_whose_answer_is_lost_is_made_once() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let (database, door) = (server.database(), server.door());
    let mut node = node(folder.path(), server.options_by(&database, door.clone())).unwrap();
    let link = node.link();
    let lost = || link.state().counts.lost_answers.load(Ordering::Relaxed);
    for fault in [&door.faults.loses_answer, &door.faults.loses_append] {
        let before = (node.last().unwrap().0, lost());
        fault.store(true, Ordering::Release);
        assert_eq!(made(&mut node, vec![setting("a", json!(1)), setting("b", json!(2))]).0, before.0 + 2);
        assert!(!fault.load(Ordering::Acquire) && lost() == before.1 + 1);
    }
    assert_eq!(
        server.sql(&database, "SELECT count(*), max(seq), (SELECT seq FROM daylight.counter) FROM daylight.journal"),
        "4|4|4"
    );
}

#[test]
fn a_batch_is_decided_by_what_another_node_has_written_and_the_rows_come_with_the_refusal() {
    let (server, folders) = (Server::start(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let database = server.database();
    let [mut one, mut other] = [0, 1].map(|n: usize| node(folders[n].path(), server.options(&database)).unwrap());
    made(&mut one, vec![publish("rack", 1)]);
    let key = || Expect::KeyFree { repository: R, key: "rack-1".into() };
    assert_eq!(other.begin(&[batch(vec![key()], vec![publish("rack", 1)])]).unwrap(), [Ok(Seq(1))]);
    let Committed::Behind(rows) = other.commit().unwrap() else { panic!("it is behind") };
    assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [Seq(1)]);
    other.take_in(&rows).unwrap();
    assert!(other.begin(&[batch(vec![key()], vec![publish("rack", 1)])]).unwrap()[0].is_err());
    other.rollback();
    assert_same(&mut one, &mut other);
}

#[test]
fn a_note_is_replaced_only_as_it_was_read() {
    let (server, folders) = (Server::start(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let database = server.database();
    let [mut one, mut other] = [0, 1].map(|n: usize| node(folders[n].path(), server.options(&database)).unwrap());
    let mut seen = Vec::new();
    one.change_note("n", &mut |read| {
        seen.push(read.map(str::to_owned));
        if seen.len() == 1 {
            other.change_note("n", &mut |_| Some("quicker".to_owned())).unwrap();
        }
        Some("late".to_owned())
    })
    .unwrap();
    assert_eq!(seen, [None, Some("quicker".to_owned())]);
    other.change_note("n", &mut |read| (read == Some("late")).then(|| "last".to_owned())).unwrap();
    assert_eq!(server.sql(&database, "SELECT body FROM daylight.note"), "last");
    assert_eq!(one.last().unwrap(), Seq(0), "a note is no change");
}

#[test]
fn a_node_whose_clock_is_off_from_that_of_the_database_writes_nothing() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let (database, clock) = (server.database(), Clock::default());
    let mut node = node_at(folder.path(), server.options(&database), clock.clone()).unwrap();
    for (off_ms, is_refused) in [(0, false), (4_000, false), (60_000, true), (-60_000, true), (0, false)] {
        clock.correct(off_ms);
        let before = node.last().unwrap();
        node.begin(&[batch(vec![], vec![setting("a", json!(off_ms))])]).unwrap();
        match node.commit().unwrap() {
            Committed::Failed(Error::Clock(ClockDoubt::OffFromDatabase(ms))) => {
                assert!(is_refused && (ms - off_ms).abs() < 4_000, "{ms}");
                assert_eq!(node.last().unwrap(), before);
            }
            Committed::Made => assert!(!is_refused, "{off_ms}"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(node.setting("a").unwrap(), Some(json!(0)));
}
