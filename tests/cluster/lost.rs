//! A node loses its data folder, and a database loses its last commits.

use super::{VARIABLES, journal, settings, world_on};
use crate::objects::shared;
use crate::rebuild::{everything, fill};
use crate::world::{FIRST, Gem, Index, ObjectProduct, Postgres, World};
use std::fs;

#[test]
fn an_empty_folder_becomes_the_one_that_was_lost() {
    let postgres = Postgres::start();
    let mut world = world_on(&postgres);
    fill(&world);
    let (before, rows) = (everything(&world), journal(&postgres));
    let index = Index::read(&world.admin(), FIRST);
    world.kill();
    let lost = world.data().with_file_name("lost");
    fs::rename(world.data(), &lost).unwrap();
    world.resume();
    // Every index is made of rows.
    assert_eq!(Index::read(&world.admin(), FIRST), index);
    assert_eq!(journal(&postgres), rows, "a start on an empty folder changes nothing");
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
    world.admin().push(FIRST, &Gem::new("lamp", "3.3.0")).expect(200);
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
fn a_node_whose_history_is_another_one_writes_nothing_and_says_so() {
    let mut postgres = Postgres::start();
    let mut first = world_on(&postgres);
    fill(&first);
    let standby = postgres.standby();
    first.admin().push(FIRST, &Gem::new("lamp", "3.0.0")).expect(200);
    first.kill();
    postgres.fail_over(standby);
    // Somebody else writes on where the standby ended.
    let second = World::start_with_file_and(&settings(&postgres), VARIABLES);
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
