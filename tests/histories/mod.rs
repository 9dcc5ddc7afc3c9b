//! Histories of several nodes with one database and one object storage: clients change and read on nodes that chance chooses, while a node, the
//! database, the object storage or a connection fails. A judge of its own compares what they were told with the promises.
//! `DAYLIGHT_HISTORIES` sets their number; the default is 20. A history that fails tells its seed and its number: with `DAYLIGHT_SEED` chance decides
//! the same, and with `DAYLIGHT_HISTORY` it is the only one.

mod chance;
mod clients;
mod faults;
mod journal;
mod judge;
mod record;

use crate::cluster;
use crate::objects::shared;
use crate::world::{Index, Nodes, ObjectProduct, ObjectServer, SetAtEnd};
use chance::Chance;
use clients::Scene;
use faults::Fault;
use judge::{History, judge};
use record::Record;
use std::fmt::Debug;
use std::hash::{BuildHasher as _, RandomState};
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const NODES: usize = 3;
const WRITERS: usize = 4;
/// The changes that each writer makes in a history.
const CHANGES: usize = 8;

fn set<T: FromStr<Err: Debug>>(variable: &str) -> Option<T> {
    std::env::var(variable).ok().map(|value| value.parse().unwrap())
}

/// How many histories there are: `usual`, if nothing else is set.
fn histories(usual: usize) -> usize {
    set("DAYLIGHT_HISTORIES").unwrap_or(usual)
}

/// Lets so many histories happen, each with its fault, and judges them.
fn all(nodes: &mut Nodes, count: usize, fault: impl Fn(usize) -> Fault, grace: Duration) {
    let seed: u64 = set("DAYLIGHT_SEED").unwrap_or_else(|| RandomState::new().hash_one(0));
    let only = set("DAYLIGHT_HISTORY");
    for number in only.map_or(0..count, |number: usize| number..number + 1) {
        println!(
            "DAYLIGHT_SEED={seed} DAYLIGHT_HISTORY={number} DAYLIGHT_HISTORIES={}: {:?}",
            histories(20),
            fault(number)
        );
        one(nodes, (seed, number), fault(number), grace);
    }
}

/// Lets clients work while something fails, and judges what they were told.
fn one(nodes: &mut Nodes, (seed, number): (u64, usize), fault: Fault, grace: Duration) {
    let people = nodes.admins();
    let record = Record::new(History { grace, ..History::default() });
    let scene = Scene { number, nodes: &people, record: &record };
    let first = nodes.postgres.sql("SELECT seq FROM daylight.counter");
    let chance = move |thread: usize| Chance::of(seed, number, thread);
    scene.begin(&mut chance(0));
    let (prepared, over) = (fault.prepare(nodes), &AtomicBool::new(false));
    std::thread::scope(|scope| {
        let scene = &scene;
        let change = move |writer: usize| scene.change(writer, CHANGES, &mut chance(1 + writer));
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || change(writer))).collect();
        let read = move |node: usize| scene.read(node, over, &mut chance(1 + WRITERS + node));
        (0..NODES).for_each(|node| drop(scope.spawn(move || read(node))));
        let _over = SetAtEnd(over);
        let is_over = || writers.iter().all(|writer| writer.is_finished());
        faults::strike(nodes, prepared, &record, &mut chance(1 + WRITERS + NODES), &is_over);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
    for node in 0..NODES {
        nodes.await_whole(node);
        scene.read_all(node);
    }
    let (gems, others) = (scene.gems(), scene.others());
    let indexes: Vec<Index> = people.iter().map(|person| Index::read(person, &gems)).collect();
    assert!(indexes.windows(2).all(|pair| pair[0] == pair[1]), "{indexes:?}");
    let text = nodes.postgres.sql(&format!("SELECT seq, body FROM daylight.journal WHERE seq > {first} ORDER BY seq"));
    let mut history = record.end();
    history.rows = journal::rows(&text, &gems, &others);
    if let Err(broken) = judge(&history) {
        panic!("history {number} ({fault:?}), with {} nodes: {broken}", people.len());
    }
    let acknowledged = history.writes.iter().filter(|write| write.is_acknowledged()).count();
    let fresh = history.reads.iter().filter(|read| read.is_fresh).count();
    assert!(
        fresh > 0 && acknowledged > 0,
        "history {number} ({fault:?}) has no acknowledged change, or no fresh answer"
    );
    println!(
        "history {number} ({fault:?}): {acknowledged} of {} changes acknowledged, {fresh} of {} reads fresh, {} lists",
        history.writes.len(),
        history.reads.len(),
        history.listings.len()
    );
}

#[test]
fn what_is_acknowledged_is_seen_through_every_node_at_once_and_kept_whatever_fails() {
    let count = histories(20);
    let mut nodes = cluster::nodes(NODES, (ObjectServer::start(ObjectProduct::SeaweedFs).into(), "histories"), "");
    all(&mut nodes, count, |number| Fault::of(number, count > 20), Duration::ZERO);
    for number in 0..NODES {
        let world = &mut nodes.node(number).world;
        world.stop();
        let said = world.run("check");
        assert!(said.status.success(), "{said:?}");
    }
}

#[test]
fn where_a_change_is_acknowledged_here_it_is_seen_everywhere_within_a_second() {
    // The object storage, which others use, too, does not fail here.
    let count = histories(20) / 5;
    let mut nodes =
        cluster::nodes(NODES, (shared(ObjectProduct::SeaweedFs), "histories/here"), "acknowledge = \"here\"\n");
    all(&mut nodes, count, |number| Fault::of(number % 4, false), Duration::from_secs(1));
}
