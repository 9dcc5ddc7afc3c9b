//! Answers, explanations and previews show what a policy hides, and which exception makes a version visible.

use super::explain::{event, explained, said};
use super::preview::{preview, preview_of};
use super::{JAR, Scene};
use crate::world::metadata;
use serde_json::{Value, json};

/// A policy with a cooldown of a week.
fn cooldown() -> Value {
    json!({ "include_hosted": true, "policy": { "cooldown_s": 604_800 } })
}

/// A policy that hides a group of packages.
fn denied() -> Value {
    json!({ "include_hosted": true, "policy": { "deny": ["org.example"] } })
}

/// A file that `near` has and `far` was proven not to have.
fn known() -> Scene {
    let scene = Scene::new();
    scene.near.file(&format!("/{JAR}"), "near");
    scene.get(JAR).expect(200);
    scene.world.anon().file("far", JAR).expect(404);
    scene
}

fn let_through(scene: &Scene, name: &str) {
    let wanted = json!({ "package": "org.example:lamp:1.0", "why": "it mends a leak" });
    scene.world.admin().post_json(&format!("/api/v1/repositories/{name}/exceptions"), &wanted).expect(201);
}

/// The detail of the member of that name.
fn detail<'a>(record: &'a Value, member: &str) -> &'a str {
    let members = record["members"].as_array().unwrap();
    members.iter().find(|one| one["member"] == member).unwrap()["detail"].as_str().unwrap_or_default()
}

#[test]
fn what_is_hidden_is_told_with_the_rule_that_hides_it() {
    let scene = known();
    scene.world.change("all", &denied());
    let told = explained(&scene.world, "all", JAR);
    assert_eq!((&told["status"], &told["reason"]), (&json!(403), &json!("hidden_by_policy")));
    assert!(said(&told).contains(&("near", "blocked")), "{told}");
    assert!(detail(&told, "near").contains("policy of `all`: `org.example` is denied"), "{told}");
    assert_eq!(detail(&event(&scene.world, &scene.get(JAR).expect(403)), "near"), detail(&told, "near"));
}

#[test]
fn metadata_tells_which_versions_policy_leaves_out_and_why() {
    let (scene, path) = (Scene::new(), "org/example/lamp/maven-metadata.xml");
    scene.near.file(&format!("/{path}"), metadata(&["1.0", "2.0"]));
    scene.world.change("all", &json!({ "include_hosted": true, "policy": { "deny": ["org.example:lamp:2.0"] } }));
    let answer = scene.get(path).expect(200);
    assert!(!answer.text().contains("2.0"), "{}", answer.text());
    for told in [event(&scene.world, &answer), explained(&scene.world, "all", path)] {
        let near = detail(&told, "near");
        assert!(near.contains("1 of 2 versions"), "{near}");
        assert!(near.contains("`org.example:lamp:2.0` is hidden by the policy of `all`"), "{near}");
    }
}

#[test]
fn what_is_too_young_and_let_through_tells_who_said_so_and_why() {
    let scene = Scene::new();
    scene.world.admin().put("ours", JAR, b"ours").expect(201);
    scene.world.change("ours", &cooldown());
    assert_eq!(explained(&scene.world, "ours", JAR)["status"], 403);
    let told = explained(&scene.world, "all", JAR);
    assert!(detail(&told, "ours").contains("policy of `ours`"), "{told}");
    let_through(&scene, "ours");
    for (repository, detail) in [
        ("ours", explained(&scene.world, "ours", JAR)["detail"].as_str().unwrap().to_owned()),
        ("all", detail(&explained(&scene.world, "all", JAR), "ours").to_owned()),
    ] {
        assert!(detail.contains(" said so at ") && detail.ends_with(": it mends a leak"), "{repository}: {detail}");
    }
}

#[test]
fn a_preview_of_a_policy_shows_what_it_would_hide() {
    let scene = known();
    let hidden = json!([{
        "path": format!("/repository/all/{JAR}"), "requests": 1,
        "before": { "status": 200, "member": "near" }, "after": { "status": 403, "member": null },
    }]);
    assert_eq!(preview_of(&scene.world, 1, &denied())["changes"], hidden);
    // The policy of a member applies in the groups that contain it.
    assert_eq!(preview(&scene.world, "near", &denied())["changes"], hidden);
    assert_eq!(
        preview(&scene.world, "near", &json!({ "include_hosted": true, "policy": { "deny": ["org.other"] } }))["changes"],
        json!([])
    );
    scene.get(JAR).expect(200);
}
