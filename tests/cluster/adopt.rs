//! The data folder of one machine moves into a database and object storage.

use super::{VARIABLES, journal, settings};
use crate::crash::kills;
use crate::rebuild::{everything, fill};
use crate::world::{Connection, FIRST, Gem, ObjectProduct, ObjectServer, Person, Postgres, World};
use std::fs;
use std::process::{Command, Stdio};

const FILES: &str = "files";

/// How many files the folder has besides a few packages: 40, or `DAYLIGHT_FILES`.
fn files() -> usize {
    std::env::var("DAYLIGHT_FILES").map_or(40, |count| count.parse().unwrap())
}

fn path(number: usize) -> String {
    format!("/repository/{FILES}/{}/{number}.txt", number % 100)
}

fn content(number: usize) -> Vec<u8> {
    format!("lamp {number}\n").repeat(1 + number % 50).into_bytes()
}

/// Calls something for each file, on a few connections.
fn each_file(world: &World, call: impl Fn(&Person, &mut Connection, usize) + Sync) {
    const CLIENTS: usize = 4;
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (call, person) = (&call, world.admin());
            scope.spawn(move || {
                let mut connection = person.connect().unwrap();
                (client..files()).step_by(CLIENTS).for_each(|number| call(&person, &mut connection, number));
            });
        }
    });
}

fn adopt(world: &World) -> Command {
    let mut adopt = world.offline(&["cluster", "adopt", "--json"]);
    adopt.stdout(Stdio::piped()).stderr(Stdio::piped());
    adopt
}

#[test]
fn a_folder_moves_in_although_the_command_is_killed_and_an_empty_folder_becomes_it() {
    let (postgres, storage) = (Postgres::start(), ObjectServer::start(ObjectProduct::SeaweedFs));
    let mut world = World::start_with_file_and("", VARIABLES);
    fill(&world);
    world.tree(FILES, "raw");
    each_file(&world, |person, connection, number| {
        let put = person.on(connection, "PUT", &path(number), &[], &content(number)).unwrap();
        put.expect(201);
    });
    let before = everything(&world);
    world.stop();
    world.configure(&format!("{}{}", settings(&postgres), storage.settings("moved", &storage.url())));
    let said = String::from_utf8(world.offline(&["serve"]).output().unwrap().stderr).unwrap();
    assert!(said.contains("daylight cluster adopt"), "{said}");
    assert_eq!(postgres.sql("SELECT count(*) FROM daylight.journal"), "0", "nothing moves by itself");
    let (kills, blobs) = (kills(3), files() + 10);
    for kill in 0..kills {
        let mut killed = adopt(&world).spawn().unwrap();
        let is_enough = || storage.objects("moved").len() > kill * blobs / kills;
        while killed.try_wait().unwrap().is_none() && !is_enough() {}
        let _ = killed.kill();
        killed.wait().unwrap();
    }
    let done = adopt(&world).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let moved: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((moved["last"].as_u64(), &moved["missing"]), (Some(journal(&postgres).len() as u64), &0.into()));
    let again = adopt(&world).output().unwrap();
    assert!(again.status.success(), "{again:?}");
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((&again["last"], &again["sent"]), (&moved["last"], &0.into()), "nothing is left to be moved");
    fs::rename(world.data(), world.data().with_file_name("former")).unwrap();
    world.resume();
    assert_eq!(everything(&world), before);
    each_file(&world, |person, connection, number| {
        let got = person.on(connection, "GET", &path(number), &[], b"").unwrap().expect(200);
        assert_eq!(got.body, content(number), "{}", path(number));
    });
    world.admin().push(FIRST, &Gem::new("lamp", "3.0.0")).expect(200);
    println!("{} files moved with {kills} kills: {moved}", files());
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
