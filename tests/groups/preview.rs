//! A preview compares changed settings with real requests before the change is made.

use super::explain::command;
use super::{JAR, Scene};
use crate::world::World;
use serde_json::{Value, json};

const OTHER: &str = "org/example/lamp/2.0/lamp-2.0.jar";

/// The answers that would change, by path.
pub(super) fn preview(world: &World, name: &str, wanted: &Value) -> Value {
    world.admin().post_json(&format!("/api/v1/repositories/{name}/preview"), wanted).expect(200).json()
}

/// The same after this number of paths was requested. Paths are counted after the reply.
pub(super) fn preview_of(world: &World, paths: u64, wanted: &Value) -> Value {
    let told = (0..100).map(|_| preview(world, "all", wanted)).find(|told| told["paths"] == paths);
    told.unwrap_or_else(|| panic!("{}", preview(world, "all", wanted)))
}

#[test]
fn another_order_of_members_shows_what_would_come_from_another_one_and_changes_nothing() {
    let scene = Scene::new();
    for upstream in [&scene.near, &scene.far] {
        upstream.file(&format!("/{JAR}"), "both");
    }
    scene.far.file(&format!("/{OTHER}"), "far");
    scene.get(JAR).expect(200);
    scene.world.anon().file("far", JAR).expect(200);
    scene.get(OTHER).expect(200);
    let asked = scene.near.asked().len() + scene.far.asked().len();
    let same = preview_of(&scene.world, 2, &json!({ "members": ["ours", "near", "far"] }));
    assert_eq!(same["changes"], json!([]));
    let turned = preview_of(&scene.world, 2, &json!({ "members": ["far", "near", "ours"] }));
    assert_eq!(
        turned["changes"],
        json!([{
            "path": format!("/repository/all/{JAR}"), "requests": 1,
            "before": { "status": 200, "member": "near" }, "after": { "status": 200, "member": "far" },
        }])
    );
    let alone = preview_of(&scene.world, 2, &json!({ "members": ["ours"] }));
    let after: Vec<&Value> = alone["changes"].as_array().unwrap().iter().map(|change| &change["after"]).collect();
    assert_eq!(after, [&json!({ "status": 404, "member": null }); 2]);
    // No upstream was called, and nothing has changed.
    assert_eq!(scene.near.asked().len() + scene.far.asked().len(), asked);
    let settings = scene.world.admin().get("/api/v1/repositories/all").expect(200).json();
    assert_eq!(settings["members"], json!(["ours", "near", "far"]));
    scene.world.admin().post_json("/api/v1/repositories/all/preview", &json!({ "members": ["nobody"] })).expect(400);
}

#[test]
fn people_are_shown_a_preview_as_a_table() {
    let scene = Scene::new();
    scene.near.file(&format!("/{JAR}"), "near");
    scene.get(JAR).expect(200);
    preview_of(&scene.world, 1, &json!({ "members": ["ours"] }));
    let said = command(&scene.world, &["repo", "set", "all", "--member", "ours", "--preview"]);
    let (out, err) = [said.stdout, said.stderr].map(|text| String::from_utf8(text).unwrap()).into();
    let row = out.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(row, [&format!("/repository/all/{JAR}"), "1", "200", "near", "404"]);
    assert!(err.contains("of 1 paths requested since 20") && err.ends_with("nothing was changed\n"), "{err}");
}
