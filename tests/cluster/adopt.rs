//! The data folder of one machine moves into a database and object storage.

use super::{VARIABLES, journal, settings};
use crate::rebuild::{everything, fill};
use crate::world::{FIRST, Gem, ObjectProduct, ObjectServer, Postgres, World, program};
use std::fs;
use std::process::{Command, Stdio};

/// A command on the folder of a stopped server, with its settings.
fn offline(world: &World, arguments: &[&str]) -> Command {
    let mut command = program(arguments);
    command.arg("--data").arg(world.data()).arg("--config").arg(world.data().with_file_name("daylight.toml"));
    command.envs(VARIABLES.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn adopt(world: &World) -> Command {
    offline(world, &["cluster", "adopt", "--json"])
}

#[test]
fn a_folder_moves_in_although_the_command_is_killed_and_an_empty_folder_becomes_it() {
    let (postgres, storage) = (Postgres::start(), ObjectServer::start(ObjectProduct::S3Proxy));
    let mut world = World::start_with_file_and("", VARIABLES);
    fill(&world);
    let before = everything(&world);
    world.stop();
    world.configure(&format!("{}{}", settings(&postgres), storage.settings("moved", &storage.url())));
    let said = String::from_utf8(offline(&world, &["serve"]).output().unwrap().stderr).unwrap();
    assert!(said.contains("daylight cluster adopt"), "{said}");
    assert_eq!(postgres.sql("SELECT count(*) FROM daylight.journal"), "0", "nothing moves by itself");
    for objects in [1, 4, 8] {
        let mut killed = adopt(&world).spawn().unwrap();
        while killed.try_wait().unwrap().is_none() && storage.objects("moved").len() < objects {}
        let _ = killed.kill();
        killed.wait().unwrap();
    }
    let done = adopt(&world).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let moved: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((moved["last"].as_u64(), &moved["missing"]), (Some(journal(&postgres).len() as u64), &0.into()));
    let again = adopt(&world).output().unwrap();
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((&again["last"], &again["sent"]), (&moved["last"], &0.into()), "nothing is left to be moved");
    fs::rename(world.data(), world.data().with_file_name("former")).unwrap();
    world.resume();
    assert_eq!(everything(&world), before);
    world.admin().push(FIRST, &Gem::new("lamp", "3.0.0")).expect(200);
}

#[test]
fn a_folder_moves_nowhere_without_settings_and_into_no_database_of_others() {
    let mut world = World::start_with_file_and("", VARIABLES);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.stop();
    let said = |world: &World| String::from_utf8(adopt(world).output().unwrap().stderr).unwrap();
    assert!(said(&world).contains("neither `cluster.database` nor `store.objects` is set"), "{}", said(&world));
    let postgres = Postgres::start();
    let other = super::world_on(&postgres);
    let rows = journal(&postgres);
    world.configure(&settings(&postgres));
    assert!(said(&world).contains("has changes of its own"), "{}", said(&world));
    assert_eq!(journal(&postgres), rows);
    drop(other);
    world.configure("");
    world.resume();
    world.anon().file(FIRST, "gems/lamp-1.0.0.gem").expect(200);
}
