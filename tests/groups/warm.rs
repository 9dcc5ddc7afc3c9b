//! What a second build through a group costs: which of its requests look in the cache, by their events.

use super::{JAR, Scene, group};
use crate::world::{Answer, Upstream, World};
use serde_json::{Value, json};

const POM: &str = "org/example/lamp/1.0/lamp-1.0.pom";

/// The event of an answer.
fn event(world: &World, answer: &Answer) -> Value {
    world.event(answer.header("daylight-event").unwrap())
}

/// How many reads of the cache's database an answer took, in the members, too.
fn looks(world: &World, answer: &Answer) -> u64 {
    let event = event(world, answer);
    let of = |ops: &Value| ops["cache.read"]["count"].as_u64().unwrap_or(0);
    of(&event["ops"]) + event["members"].as_array().into_iter().flatten().map(|member| of(&member["ops"])).sum::<u64>()
}

/// Whether a page answers a request.
fn is_page(world: &World, answer: &Answer) -> bool {
    event(world, answer)["layer"] == "page"
}

#[test]
fn after_a_restart_a_file_takes_one_look_in_the_cache_and_its_checksum_none() {
    let mut scene = Scene::new();
    scene.far.file(&format!("/{POM}"), "<project/>");
    scene.far.file(&format!("/{JAR}"), vec![7; 300_000]);
    for path in [POM, JAR] {
        scene.get(path).expect(200);
    }
    scene.world.restart();
    let looked = |path: &str| looks(&scene.world, &scene.get(path).expect(200));
    assert_eq!(looked(POM), 1, "the facts about the folder and the file in one turn");
    assert_eq!(looked(&format!("{POM}.sha1")), 0);
    assert_eq!(looked(JAR), 1, "the facts are in memory");
    assert_eq!(looked(&format!("{JAR}.sha1")), 0);
    for path in [POM, JAR] {
        assert_eq!(looked(path), 0, "{path}");
    }
}

#[test]
fn a_checksum_that_is_asked_for_first_brings_the_row_of_its_file() {
    let mut scene = Scene::new();
    scene.far.file(&format!("/{POM}"), "<project/>");
    scene.get(POM).expect(200);
    scene.world.restart();
    let sum = scene.get(&format!("{POM}.sha1")).expect(200);
    assert_eq!(sum.text(), scene.get(POM).header("x-checksum-sha1").unwrap());
    assert_eq!(looks(&scene.world, &sum), 1);
}

#[test]
fn pages_stay_after_a_change_of_a_repository_that_shares_no_group_with_theirs() {
    let mut scene = Scene::new();
    let alone = Upstream::start();
    scene.world.remote("alone", &alone.url());
    group(&scene.world, "others", &["alone"]);
    scene.far.file(&format!("/{POM}"), "<project/>");
    scene.get(POM).expect(200);
    scene.world.restart();
    let change = |name: &str| {
        let denied = json!({"policy": {"deny": ["org.example:other"]}});
        scene.world.admin().patch_json(&format!("/api/v1/repositories/{name}"), &denied).expect(200);
    };
    let answered = || {
        scene.get(POM).expect(200);
        is_page(&scene.world, &scene.get(POM).expect(200))
    };
    assert!(answered());
    for name in ["alone", "others"] {
        change(name);
        assert!(is_page(&scene.world, &scene.get(POM).expect(200)), "{name} has no part in the answer");
    }
    for name in ["near", "all", "far"] {
        change(name);
        assert!(!is_page(&scene.world, &scene.get(POM).expect(200)), "{name} has a part in the answer");
        assert!(answered());
    }
    let hides = json!({"policy": {"deny": ["org.example:lamp"]}});
    scene.world.admin().patch_json("/api/v1/repositories/far", &hides).expect(200);
    scene.get(POM).expect(403);
}

#[test]
fn after_a_change_of_the_group_open_files_and_rows_of_its_members_are_used_again() {
    let mut scene = Scene::new();
    scene.far.file(&format!("/{JAR}"), vec![7; 300_000]);
    scene.get(JAR).expect(200);
    // A stop writes the first sight of the version, which voids what was made before.
    scene.world.restart();
    scene.get(JAR).expect(200);
    let denied = json!({"policy": {"deny": ["org.example:other"]}});
    scene.world.admin().patch_json("/api/v1/repositories/all", &denied).expect(200);
    for path in [JAR, &format!("{JAR}.sha1")] {
        assert_eq!(looks(&scene.world, &scene.get(path).expect(200)), 0, "{path}");
    }
}

#[test]
fn a_purge_is_seen_by_the_next_request_whatever_is_in_memory() {
    let scene = Scene::new();
    scene.far.file(&format!("/{POM}"), "<project/>");
    for path in [POM, &format!("{POM}.sha1")] {
        scene.get(path).expect(200);
    }
    scene.far.file(&format!("/{POM}"), "<project></project>");
    scene.world.admin().ask("DELETE", &format!("/api/v1/repositories/far/contents/{POM}"), &[], b"").expect(200);
    assert_eq!(scene.get(POM).expect(200).text(), "<project></project>");
    let sum = scene.get(&format!("{POM}.sha1")).expect(200);
    assert_eq!(sum.text(), scene.get(POM).header("x-checksum-sha1").unwrap());
}
