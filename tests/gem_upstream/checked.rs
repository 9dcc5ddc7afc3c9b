//! `daylight check --index` of a remote gem repository: the stored state matches the upstream's index, or each mismatch
//! is named.

use super::shelf::{Shelf, before, good, lamp_and_oil};
use super::{LATER, REMOTE};
use crate::world::{Gem, Says, World, hex};
use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::process::{Command, Output};
use store::{Batch, Change, JournalReads as _, SettingReads as _, Sqlite, Transactions as _};

fn check(world: &World, flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daylight"));
    command.args(["check", "--index", REMOTE, "--server", &format!("http://{}", world.address())]).args(flags);
    command.env_clear().env("DAYLIGHT_TOKEN", world.admin().secret()).output().unwrap()
}

/// The result, and the exit code.
fn found(world: &World) -> (Option<i32>, Value) {
    let said = check(world, &["--json"]);
    let told: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    (said.status.code(), told["repositories"][0].clone())
}

/// A server with the cached files of two gems.
fn kept() -> (Shelf, World) {
    let shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    for path in ["versions", "info/lamp", "info/oil", "gems/lamp-1.0.0.gem", "gems/oil-1.0.0.gem"] {
        world.anon().file(REMOTE, path).expect(200);
    }
    (shelf, world)
}

#[test]
fn what_is_kept_of_an_upstream_is_checked_against_its_index_and_the_upstream_is_not_asked() {
    let (shelf, mut world) = kept();
    let asked = shelf.upstream.total();
    let good = json!({
        "name": REMOTE, "names": 2, "versions": 2, "infos": 2, "older": 0, "gems": 2, "unproven": 0, "problems": [],
    });
    assert_eq!(found(&world), (Some(0), good.clone()));
    let said = String::from_utf8(check(&world, &[]).stdout).unwrap();
    assert!(said.contains("checked 2 names with 2 versions") && said.contains("2 gems"), "{said}");
    // The same directly after a start, before any request.
    world.stop();
    world.resume();
    assert_eq!(found(&world), (Some(0), good));
    assert_eq!(shelf.upstream.total(), asked);
}

#[test]
fn what_does_not_fit_the_index_is_named_and_what_is_older_is_counted() {
    let (mut shelf, world) = kept();
    // Another package replaces the cached one, and the index is ahead of its file.
    let other = Gem::new("lamp", "1.0.0").payload(b"other").bytes();
    let info = format!("---\n1.0.0 oil:~> 1.0|checksum:{}\n", hex(&Sha256::digest(&other)));
    shelf.set_info("lamp", "1.0.0", &info);
    let before = shelf.info("oil");
    shelf.set_info("oil", "1.0.1", &(before.clone() + "1.0.1 |\n"));
    shelf.upstream.says("/info/oil", good(&before));
    world.set_time(LATER);
    assert_eq!(world.anon().file(REMOTE, "info/lamp").expect(200).text(), info);
    world.anon().file(REMOTE, "info/oil").expect(200);
    let (code, told) = found(&world);
    assert_eq!((code, &told["versions"], &told["older"], &told["gems"]), (Some(1), &json!(3), &json!(1), &json!(2)));
    let problems = told["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{told:#}");
    assert!(problems[0].as_str().unwrap().starts_with("`gems/lamp-1.0.0.gem` is kept with the SHA-256 "), "{told:#}");
    // The damaged file is never the answer, and matches again after the next request.
    shelf.upstream.says("/gems/lamp-1.0.0.gem", Says::bytes(other));
    world.anon().file(REMOTE, "gems/lamp-1.0.0.gem").expect(200);
    assert_eq!(found(&world).0, Some(0));
}

#[test]
fn rows_that_cannot_be_read_are_named() {
    let (_shelf, mut world) = kept();
    world.stop();
    let path = world.data().join("truth.sqlite");
    let select = "SELECT unit FROM first_seen WHERE unit LIKE 'versions//%'";
    let unit: String = Connection::open(&path).unwrap().query_row(select, [], |row| row.get(0)).unwrap();
    let mut truth = Sqlite::writer(&path).unwrap();
    let (repository, _) = truth.repositories().unwrap().into_iter().find(|(_, record)| record.name == REMOTE).unwrap();
    let change =
        Change::FirstSeen { repository, unit, whole: false, uncounted: true, seen: json!({ "nothing": "known" }) };
    let (by, from, at) = ("test".into(), "cli".into(), truth.last_moment().unwrap().unwrap());
    truth
        .commit_batches(&[Batch { by, from, at, changes: vec![change], ..Batch::default() }])
        .unwrap()
        .remove(0)
        .unwrap();
    drop(truth);
    world.resume();
    let (code, told) = found(&world);
    let problem = told["problems"][0].as_str().unwrap();
    assert!(code == Some(1) && problem.starts_with("the journal's rows of `/versions` cannot be read"), "{told:#}");
}
