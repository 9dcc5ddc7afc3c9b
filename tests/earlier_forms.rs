//! Folders that programs of each earlier form wrote: they open, and what came later works on what was written before it.
//!
//! `form-N.tar.gz` is what a program of form N left, its events aside. On 2050-01-01 `lamp-1.0.0`, `lamp-1.1.0` and `oil-1.0.0` were pushed,
//! `secret-1.0.0` to the repository `vault`, and two jars to `trees` (form 1 knew only gems). On the day after, `lamp-1.1.0` was
//! yanked, the second jar deleted, and `vault` removed.

use crate::long_run::{blobs, collect_at, digest};
use crate::world::{FIRST, Said, World, program};
use flate2::read::GzDecoder;
use serde_json::json;
use std::collections::BTreeSet;

const FORMS: [&[u8]; 3] = [
    include_bytes!("earlier_forms/form-1.tar.gz"),
    include_bytes!("earlier_forms/form-2.tar.gz"),
    include_bytes!("earlier_forms/form-3.tar.gz"),
];
const LAMP: &str = "gems-private/gems/lamp-1.0.0.gem";
const OIL: &str = "gems-private/gems/oil-1.0.0.gem";
const YANKED: &str = "gems-private/gems/lamp-1.1.0.gem";
const YANKED_THEN: &str = "gems-private@2050-01-01T20:00:00Z/gems/lamp-1.1.0.gem";
const SECRET: &str = "vault/gems/secret-1.0.0.gem";
const JAR: &str = "trees/org/example/lamp/1.0/lamp-1.0.jar";
const DELETED: &str = "trees/org/example/lamp/1.1/lamp-1.1.jar";

/// A data folder as a program of that form left it.
fn folder(form: usize) -> World {
    let world = World::stopped_in_conformance();
    tar::Archive::new(GzDecoder::new(FORMS[form - 1])).unpack(world.data().parent().unwrap()).unwrap();
    world
}

fn has_trees(form: usize) -> bool {
    form > 1
}

fn status(world: &World, path: &str) -> u16 {
    world.anon().get(&format!("/repository/{path}")).status
}

fn bytes(world: &World, path: &str) -> Vec<u8> {
    world.anon().get(&format!("/repository/{path}")).expect(200).body
}

/// Runs a command of the program.
fn run(arguments: &[&str]) -> Said {
    program(arguments).output().unwrap().into()
}

fn undo(world: &World, what: &str) -> u16 {
    world.admin().post_json(&format!("/api/v1/repositories/{what}"), &json!({})).status
}

const UNDO_DELETION: &str = "trees/contents/org/example/lamp/1.1";

/// Checks the content while every removal can still be undone.
fn assert_first_days(world: &World, form: usize) {
    for path in [LAMP, OIL, YANKED_THEN] {
        assert_eq!(status(world, path), 200, "{path}");
    }
    assert_eq!([YANKED, SECRET].map(|path| status(world, path)), [404; 2]);
    if has_trees(form) {
        assert_eq!((bytes(world, JAR).as_slice(), status(world, DELETED)), (&b"jar 1.0"[..], 404));
    }
}

fn horizon_and_undo(form: usize) {
    let mut world = folder(form);
    let data = world.data();
    let rehearsed = run(&["upgrade", "--rehearse", "--json", "--data", data.to_str().unwrap()]).good();
    let rehearsed: serde_json::Value = serde_json::from_str(&rehearsed).unwrap();
    assert_eq!((&rehearsed["form_before"], &rehearsed["differing"]), (&json!(form), &json!([])), "{rehearsed}");
    world.resume();
    collect_at(&world, "2050-01-08T00:00:00.000Z");
    assert_first_days(&world, form);
    // The undo window of seven days ends.
    let (lamp, oil) = (bytes(&world, LAMP), bytes(&world, OIL));
    let yanked = bytes(&world, YANKED_THEN);
    let jars = |text: &str| has_trees(form).then(|| text.as_bytes().to_vec());
    let live: Vec<Vec<u8>> = [lamp.clone(), oil.clone()].into_iter().chain(jars("jar 1.0")).collect();
    // Rows of earlier forms do not distinguish a deletion from a yank.
    let withdrawn: Vec<Vec<u8>> = [yanked.clone()].into_iter().chain(jars("jar 1.1")).collect();
    let only = |expected: &[&[Vec<u8>]]| {
        let expected: BTreeSet<_> = expected.iter().flat_map(|some| some.iter()).map(|bytes| digest(bytes)).collect();
        assert_eq!(blobs(&world).into_keys().collect::<BTreeSet<_>>(), expected);
    };
    collect_at(&world, "2050-01-09T00:00:00.000Z");
    collect_at(&world, "2050-01-10T00:00:00.000Z");
    only(&[&live, &withdrawn]);
    assert_eq!(undo(&world, "vault/restore"), 404);
    if has_trees(form) {
        assert_eq!(undo(&world, UNDO_DELETION), 404);
    }
    // From 2051-02-06 on the yank is older than the horizon.
    collect_at(&world, "2051-02-05T23:00:00.000Z");
    collect_at(&world, "2051-02-06T00:00:00.000Z");
    assert_eq!(bytes(&world, YANKED_THEN), yanked);
    only(&[&live, &withdrawn]);
    collect_at(&world, "2051-02-07T00:00:00.000Z");
    only(&[&live]);
    let then = world.anon().get(&format!("/repository/{YANKED_THEN}")).expect(410);
    assert!(then.text().contains("deleted on 2051-02-07T"), "{}", then.text());
    assert_eq!((bytes(&world, LAMP), bytes(&world, OIL)), (lamp, oil));
}

fn origins_and_copies(form: usize) {
    let mut world = folder(form);
    let (data, copies) = (world.data(), tempfile::tempdir().unwrap());
    let (data, target) = (data.to_str().unwrap(), copies.path().join("backup"));
    let target = target.to_str().unwrap();
    // The folder before a server of the present form opens it.
    run(&["backup", target, "--data", data]).good();
    world.resume();
    collect_at(&world, "2050-01-08T00:00:00.000Z");
    assert_first_days(&world, form);
    let admin = world.admin();
    let origin = [("Daylight-Published", "2024-05-01T12:00:00Z")];
    let lamp = bytes(&world, LAMP);
    let said = admin.ask("POST", &format!("/repository/{FIRST}/api/v1/gems"), &origin, &lamp).expect(200);
    assert!(said.text().ends_with("its origin was set"), "{}", said.text());
    assert_eq!(undo(&world, "vault/restore"), 200);
    assert_eq!(status(&world, SECRET), 200);
    if has_trees(form) {
        admin.ask("PUT", &format!("/repository/{JAR}"), &origin, b"jar 1.0").expect(200);
        assert_eq!(undo(&world, UNDO_DELETION), 200);
    }
    run(&["backup", target, "--data", data]).good();
    world.stop();

    let mut restored = World::stopped_in_conformance();
    let data = restored.data();
    let data = data.to_str().unwrap();
    run(&["restore", target, "--data", data]).good();
    run(&["check", "--verify", "--data", data]).good();
    for way in ["restored", "rebuilt"] {
        if way == "rebuilt" {
            restored.stop();
            std::fs::remove_file(restored.data().join("truth.sqlite")).unwrap();
            assert!(restored.run("rebuild").status.success());
        }
        restored.resume();
        collect_at(&restored, &format!("2050-01-{}T00:00:00.000Z", if way == "restored" { "09" } else { "10" }));
        assert_eq!(bytes(&restored, LAMP), lamp, "{way}");
        for path in [OIL, YANKED_THEN, SECRET] {
            assert_eq!(status(&restored, path), 200, "{way}: {path}");
        }
        let told = restored.anon().file(FIRST, "api/v1/versions/lamp.json").expect(200).json();
        assert_eq!(told[0]["created_at"], "2024-05-01T12:00:00.000Z", "{way}");
        if has_trees(form) {
            let jar = restored.anon().get(&format!("/repository/{JAR}")).expect(200);
            assert_eq!(jar.header("last-modified"), Some("Wed, 01 May 2024 12:00:00 GMT"), "{way}");
            assert_eq!(bytes(&restored, DELETED), b"jar 1.1", "{way}");
        }
    }
}

#[test]
fn a_folder_of_the_first_form_gives_bytes_back_after_the_time_for_undoing_and_the_horizon() {
    horizon_and_undo(1);
}

#[test]
fn a_folder_of_the_second_form_gives_bytes_back_after_the_time_for_undoing_and_the_horizon() {
    horizon_and_undo(2);
}

#[test]
fn a_folder_of_the_third_form_gives_bytes_back_after_the_time_for_undoing_and_the_horizon() {
    horizon_and_undo(3);
}

#[test]
fn a_folder_of_the_first_form_takes_origins_and_undoes_and_so_do_its_copies() {
    origins_and_copies(1);
}

#[test]
fn a_folder_of_the_second_form_takes_origins_and_undoes_and_so_do_its_copies() {
    origins_and_copies(2);
}

#[test]
fn a_folder_of_the_third_form_takes_origins_and_undoes_and_so_do_its_copies() {
    origins_and_copies(3);
}
