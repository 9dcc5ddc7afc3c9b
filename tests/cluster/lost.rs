//! A node loses its data folder, and a database loses its last commits.

use super::{VARIABLES, journal, settings, settings_of, world_on};
use crate::objects::shared;
use crate::rebuild::{everything, fill};
use crate::world::{
    Answer, FIRST, Gem, Index, ObjectProduct, ObjectServer, Postgres, World, await_true, eventually, program,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs;

#[test]
fn an_empty_folder_becomes_the_one_that_was_lost() {
    let postgres = Postgres::start();
    let mut world = world_on(&postgres);
    fill(&world);
    world.gem_group("all", &[FIRST]);
    let group = |world: &World| world.anon().file("all", "versions").expect(200).text().to_owned();
    let (before, rows, versions) = (everything(&world), journal(&postgres), group(&world));
    let index = Index::read(&world.admin(), FIRST);
    world.kill();
    let lost = world.data().with_file_name("lost");
    fs::rename(world.data(), &lost).unwrap();
    world.resume();
    // Every index is made of rows.
    assert_eq!((Index::read(&world.admin(), FIRST), group(&world)), (index, versions));
    assert_eq!(journal(&postgres), rows, "a start on an empty folder changes nothing");
    world.await_log("this data folder has none");
    let lacking = world.anon().file(FIRST, "gems/lamp-1.0.0.gem").expect(503);
    assert!(lacking.text().contains("lacks the bytes of this file"), "{}", lacking.text());
    let ready = world.anon().get("/health/ready").expect(200);
    assert!(ready.text().contains("degraded: published files without bytes: 1"), "{}", ready.text());
    world.stop();
    fs::remove_dir_all(world.data().join("blobs")).unwrap();
    fs::rename(lost.join("blobs"), world.data().join("blobs")).unwrap();
    world.resume();
    assert_eq!(everything(&world), before);
    world.admin().push(FIRST, &Gem::new("lamp", "3.0.0")).expect(200);
    world.stop();
    let said = world.run("check");
    assert!(said.status.success(), "{said:?}");
}

#[test]
fn with_object_storage_an_empty_folder_becomes_the_one_that_was_lost_with_everything_in_it() {
    let (postgres, storage) = (Postgres::start(), shared(ObjectProduct::SeaweedFs));
    let settings = settings(&postgres) + &storage.settings("lost/folder", &storage.url());
    let mut world = World::start_with_file_and(&settings, VARIABLES);
    fill(&world);
    world.tree("files", "raw");
    world.admin().put("files", "a/b.bin", &[7; 100_000]).expect(201);
    let (before, rows) = (everything(&world), journal(&postgres));
    world.kill();
    fs::remove_dir_all(world.data()).unwrap();
    world.resume();
    assert_eq!(everything(&world), before);
    assert_eq!(world.admin().file("files", "a/b.bin").expect(200).body, [7; 100_000]);
    assert_eq!(journal(&postgres), rows, "a start on an empty folder changes nothing");
    world.admin().push(FIRST, &Gem::new("lamp", "3.0.0")).expect(200);
    world.stop();
    let said = world.run("check");
    assert!(said.status.success(), "{said:?}");
}

#[test]
fn what_a_promoted_standby_lacks_is_put_back_from_the_copy() {
    let mut postgres = Postgres::start();
    let mut world = world_on(&postgres);
    fill(&world);
    let standby = postgres.standby();
    for version in ["3.0.0", "3.1.0", "3.2.0"] {
        world.admin().push(FIRST, &Gem::new("lamp", version)).expect(200);
    }
    let rows = journal(&postgres);
    postgres.fail_over(standby);
    // A change is refused if that took longer than changes wait.
    await_true("changes go on", || world.admin().push(FIRST, &Gem::new("lamp", "3.3.0")).status == 200);
    world.await_log("put back");
    let now = journal(&postgres);
    assert_eq!((&now[..rows.len()], now.len()), (&rows[..], rows.len() + 1));
    // The same while the node does not run.
    let standby = postgres.standby();
    world.admin().yank(FIRST, "lamp", "3.3.0").expect(200);
    let rows = journal(&postgres);
    world.kill();
    postgres.fail_over(standby);
    world.resume();
    world.admin().push(FIRST, &Gem::new("lamp", "3.4.0")).expect(200);
    assert_eq!(journal(&postgres)[..rows.len()], rows);
}

#[test]
fn a_process_that_starts_during_a_failover_waits_for_the_nodes_that_it_cannot_know() {
    let mut postgres = Postgres::start();
    let [mut one, other] = ["a", "b"].map(|name| World::start_with_file_and(&settings_of(&postgres, name), VARIABLES));
    one.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let standby = postgres.standby();
    one.stop();
    other.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    let rows = journal(&postgres);
    let other = Pid::from_raw(other.id()).unwrap();
    kill_process(other, Signal::STOP).unwrap();
    postgres.fail_over(standby);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            one.resume();
            one.admin().push(FIRST, &Gem::new("lamp", "2.0.0")).expect(200);
        });
        let later =
            "SELECT EXISTS (SELECT FROM daylight.nodes_since WHERE at < clock_timestamp() - interval '2 seconds')";
        await_true("the first node has connected", || postgres.sql(later) == "t");
        kill_process(other, Signal::CONT).unwrap();
    });
    let now = journal(&postgres);
    assert_eq!((&now[..rows.len()], now.len()), (&rows[..], rows.len() + 1));
}

/// A node on the database and the object storage below this prefix.
fn both(postgres: &Postgres, storage: &ObjectServer, prefix: &str) -> World {
    World::start_with_file_and(&(settings(postgres) + &storage.settings(prefix, &storage.url())), VARIABLES)
}

/// Waits until all changes are in segments in object storage.
pub(super) fn await_segments(world: &World, rows: usize) {
    let copied = format!("daylight_objects_journal_seq {rows}\n");
    eventually(|| {
        let metrics = world.admin().get("/metrics").expect(200).text().to_owned();
        if metrics.contains(&copied) { Ok(()) } else { Err(format!("not {copied} in {metrics}")) }
    });
}

#[test]
fn what_a_promoted_standby_lacks_comes_back_from_object_storage_when_the_machine_is_lost_too() {
    let (mut postgres, storage) = (Postgres::start(), shared(ObjectProduct::SeaweedFs));
    let mut world = both(&postgres, &storage, "lost/both");
    fill(&world);
    let standby = postgres.standby();
    for version in ["3.0.0", "3.1.0", "3.2.0"] {
        world.admin().push(FIRST, &Gem::new("lamp", version)).expect(200);
    }
    let (before, rows) = (everything(&world), journal(&postgres));
    await_segments(&world, rows.len());
    world.kill();
    fs::remove_dir_all(world.data()).unwrap();
    postgres.fail_over(standby);
    world.resume();
    // It needs no bytes, and would have the number of a push that was acknowledged.
    world.admin().yank(FIRST, "lamp", "2.0.0").expect(200);
    let now = journal(&postgres);
    assert_eq!((&now[..rows.len()], now.len()), (&rows[..], rows.len() + 1));
    assert!(world.log().contains("put back"), "{}", world.log());
    let others = |all: Vec<(String, Answer)>| -> Vec<_> {
        // What the yank changed.
        let changed = |path: &str| {
            path.starts_with("/api/") || path.contains("lamp-2.0.0") || path.contains(FIRST) && !path.contains("/gems/")
        };
        all.into_iter().filter(|(path, _)| !changed(path)).collect()
    };
    assert_eq!(others(everything(&world)), others(before));
    let index = Index::read(&world.admin(), FIRST);
    assert!(index.offered.contains_key(&("lamp".to_owned(), "3.2.0".to_owned())), "{index:?}");
}

#[test]
fn nothing_of_object_storage_is_put_back_over_what_others_wrote_to_the_standby() {
    let (mut postgres, storage) = (Postgres::start(), shared(ObjectProduct::SeaweedFs));
    let mut world = both(&postgres, &storage, "lost/parted");
    let standby = postgres.standby();
    for version in ["3.0.0", "3.1.0", "3.2.0"] {
        world.admin().push(FIRST, &Gem::new("lamp", version)).expect(200);
    }
    await_segments(&world, journal(&postgres).len());
    world.kill();
    fs::remove_dir_all(world.data()).unwrap();
    postgres.fail_over(standby);
    // The other node has no object storage, so it finds no rows there.
    postgres.sql("DELETE FROM daylight.note WHERE name = 'objects'");
    let other = World::start_with_file_and(&settings_of(&postgres, "b"), VARIABLES);
    other.admin().push(FIRST, &Gem::new("oil", "3.0.0")).expect(200);
    let rows = journal(&postgres);
    world.resume();
    let refused = world.admin().push(FIRST, &Gem::new("lamp", "3.3.0")).expect(503);
    assert!(refused.text().contains("hint: "), "{refused:?}");
    world.anon().file(FIRST, "info/oil").expect(200);
    assert_eq!(journal(&postgres), rows, "nothing is overwritten");
}

#[test]
fn a_cleanup_and_a_rehearsed_upgrade_do_with_both_what_they_do_on_one_disk() {
    let (postgres, storage) = (Postgres::start(), shared(ObjectProduct::SeaweedFs));
    let world = both(&postgres, &storage, "lost/cleanup");
    for version in ["1.0.0", "1.1.0", "1.2.0", "1.3.0"] {
        world.admin().push(FIRST, &Gem::new("lamp", version)).expect(200);
    }
    world.change(FIRST, &json!({ "keep_versions": 1 }));
    let objects = || storage.objects("lost/cleanup").into_iter().filter(|key| key.contains("/blobs/")).count();
    assert_eq!(objects(), 4);
    let rows = journal(&postgres).len();
    let ran = |arguments: &[&str]| {
        let ran = world.command(arguments).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    let plan = ran(&["cleanup"]);
    assert!(plan.contains("3 with 3 files"), "{plan}");
    assert_eq!((journal(&postgres).len(), objects()), (rows, 4), "a plan changes nothing");
    ran(&["cleanup", "--no-undo", "--yes"]);
    assert_eq!(objects(), 1, "the objects are deleted at once");
    let lines = world.anon().file(FIRST, "info/lamp").expect(200).text().to_owned();
    assert!(lines.contains("1.3.0 ") && !lines.contains("1.2.0 "), "{lines}");
    let last = journal(&postgres).len();
    assert!(last > rows);
    let rehearsed = program(&["upgrade", "--rehearse", "--json", "--data"]).arg(world.data()).output().unwrap();
    let rehearsed: serde_json::Value = serde_json::from_slice(&rehearsed.stdout).unwrap();
    assert_eq!((&rehearsed["seq"], &rehearsed["differing"]), (&json!(last), &json!([])));
    assert_eq!(journal(&postgres).len(), last, "a rehearsal changes nothing");
}

#[test]
fn a_node_whose_history_is_another_one_writes_nothing_and_says_so() {
    let mut postgres = Postgres::start();
    let mut first = world_on(&postgres);
    fill(&first);
    let standby = postgres.standby();
    first.admin().push(FIRST, &Gem::new("lamp", "3.0.0")).expect(200);
    first.kill();
    postgres.fail_over(standby);
    // Somebody else writes on where the standby ended.
    let second = World::start_with_file_and(&settings_of(&postgres, "b"), VARIABLES);
    second.admin().push(FIRST, &Gem::new("oil", "3.0.0")).expect(200);
    let rows = journal(&postgres);
    first.resume();
    let index = Index::read(&first.admin(), FIRST);
    assert!(index.offered.contains_key(&("lamp".to_owned(), "3.0.0".to_owned())), "{index:?}");
    let refused = first.admin().push(FIRST, &Gem::new("lamp", "3.1.0")).expect(503);
    assert!(refused.text().contains("hint: "), "{refused:?}");
    assert_eq!(journal(&postgres), rows, "nothing is overwritten");
    second.admin().push(FIRST, &Gem::new("oil", "3.1.0")).expect(200);
}
