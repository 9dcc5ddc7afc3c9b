//! Nested groups: each member is seen through the rules of all groups on the way.

use super::{FIRST, GROUP, REMOTE, Scene};
use crate::world::Answer;
use serde_json::json;

const OUTER: &str = "outer";

fn scene() -> Scene {
    let scene = Scene::new();
    scene.push("oil", "1.0.0");
    scene.publish("lamp", "1.0.0");
    scene.publish("lamp", "2.0.0");
    scene.at("2026-11-02T12:02:00Z");
    scene.world.make(&json!({ "name": OUTER, "format": "gem", "kind": "group", "members": [GROUP] }));
    scene
}

fn rule(scene: &Scene, repository: &str, policy: &serde_json::Value) {
    scene.world.admin().patch_json(&format!("/api/v1/repositories/{repository}"), policy).expect(200);
}

fn get(scene: &Scene, group: &str, path: &str) -> Answer {
    scene.world.anon().file(group, path)
}

/// The versions of a gem in `/versions` and in `/info`.
fn listed(scene: &Scene, group: &str, name: &str) -> (Vec<String>, Vec<String>) {
    let versions = get(scene, group, "versions").expect(200).text().to_owned();
    let mut said: Vec<String> = Vec::new();
    for line in versions.lines().filter(|line| line.starts_with(&format!("{name} "))) {
        for token in line.split(' ').nth(1).unwrap().split(',') {
            match token.strip_prefix('-') {
                Some(gone) => said.retain(|one| one != gone),
                None => said.push(token.to_owned()),
            }
        }
    }
    let info = get(scene, group, &format!("info/{name}")).expect(200).text().to_owned();
    let lines = info.lines().skip(1).map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    (said, lines)
}

fn both(tokens: &[&str]) -> (Vec<String>, Vec<String>) {
    let tokens: Vec<String> = tokens.iter().map(|token| (*token).to_owned()).collect();
    (tokens.clone(), tokens)
}

#[test]
fn what_the_outer_group_denies_is_seen_through_the_inner_one() {
    let scene = scene();
    assert_eq!(listed(&scene, OUTER, "lamp"), both(&["1.0.0", "2.0.0"]));
    rule(&scene, OUTER, &json!({ "include_hosted": true, "policy": { "deny": ["lamp:2.0.0", "oil"] } }));
    assert_eq!(listed(&scene, OUTER, "lamp"), both(&["1.0.0"]));
    assert_eq!(listed(&scene, OUTER, "oil"), both(&[]));
    assert_eq!(listed(&scene, GROUP, "lamp"), both(&["1.0.0", "2.0.0"]));
    assert_eq!(listed(&scene, GROUP, "oil"), both(&["1.0.0"]));
    for path in ["gems/lamp-2.0.0.gem", "gems/oil-1.0.0.gem", "quick/Marshal.4.8/lamp-2.0.0.gemspec.rz"] {
        assert!(get(&scene, OUTER, path).status >= 400, "{path}");
        get(&scene, GROUP, path).expect(200);
    }
    rule(&scene, GROUP, &json!({ "include_hosted": true, "policy": { "deny": ["lamp:1.0.0"] } }));
    assert_eq!(listed(&scene, OUTER, "lamp"), both(&[]));
    assert_eq!(listed(&scene, GROUP, "lamp"), both(&["2.0.0"]));
    assert_eq!(listed(&scene, REMOTE, "lamp"), both(&["1.0.0", "2.0.0"]));
    assert_eq!(listed(&scene, FIRST, "oil"), both(&["1.0.0"]));
}

#[test]
fn what_is_too_young_for_the_outer_group_is_shown_when_it_is_old_enough() {
    let scene = scene();
    rule(&scene, OUTER, &json!({ "include_hosted": true, "policy": { "cooldown_s": 12 * 3600 } }));
    // A version that was first seen two minutes after noon is too young.
    assert_eq!(listed(&scene, OUTER, "lamp"), both(&[]));
    scene.at("2026-11-03T11:00:00Z");
    scene.publish("lamp", "3.0.0");
    scene.at("2026-11-03T12:00:00Z");
    assert_eq!(listed(&scene, GROUP, "lamp"), both(&["1.0.0", "2.0.0", "3.0.0"]));
    assert_eq!(listed(&scene, OUTER, "lamp"), both(&["1.0.0", "2.0.0"]));
    assert!(get(&scene, OUTER, "gems/lamp-3.0.0.gem").status >= 400);
    let before = get(&scene, OUTER, "versions").expect(200).text().to_owned();
    scene.at("2026-11-03T23:59:00Z");
    assert_eq!(listed(&scene, OUTER, "lamp"), both(&["1.0.0", "2.0.0"]));
    scene.at("2026-11-04T00:01:00Z");
    assert_eq!(listed(&scene, OUTER, "lamp"), both(&["1.0.0", "2.0.0", "3.0.0"]));
    assert!(get(&scene, OUTER, "versions").expect(200).text().starts_with(&before));
    get(&scene, OUTER, "gems/lamp-3.0.0.gem").expect(200);
}
