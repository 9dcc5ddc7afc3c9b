//! Hooks for groups of gems: all remote members look, until one of them has the announced version.

use super::{REFERENCE, REMOTE, SECRET, Scene, listing, payload, signature};
use crate::world::{FIRST, Upstream};
use serde_json::json;

const GROUP: &str = "all-gems";

/// A scene with a group of a hosted repository, the remote one and a second remote one. Clients have read all of them.
fn grouped() -> (Scene, Upstream) {
    let (scene, second) = (Scene::signed(), Upstream::start());
    second.says("/versions", listing(&[]));
    scene.world.remote_of("gem", "second", &second.url());
    let members = [FIRST, REMOTE, "second"];
    scene.world.make(&json!({ "name": GROUP, "format": "gem", "members": members, "hook_secret": REFERENCE }));
    scene.world.anon().get(&format!("/repository/{GROUP}/versions")).expect(200);
    (scene, second)
}

fn lists(scene: &Scene, version: &str) -> bool {
    let versions = scene.world.anon().get(&format!("/repository/{GROUP}/versions")).expect(200);
    versions.text().lines().any(|line| line.starts_with(&format!("lamp {version} ")))
}

fn figure(scene: &Scene, repository: &str, name: &str) -> serde_json::Value {
    let told = scene.world.admin().get(&format!("/api/v1/repositories/{repository}")).expect(200);
    told.json()["hooks"][name].clone()
}

#[test]
fn a_push_upstream_is_seen_through_the_group_within_a_second_of_its_hook() {
    let (scene, second) = grouped();
    assert!(lists(&scene, "1.0.0"));
    scene.lists(&["1.0.0", "2.0.0"]);
    assert!(!lists(&scene, "2.0.0"));
    let path = format!("/hooks/{GROUP}");
    let post = |key: &str| {
        let signed = signature("2.0.0", key);
        scene.world.anon().ask("POST", &path, &[("Authorization", &signed)], payload("2.0.0").as_bytes())
    };
    post("hash").expect(403);
    post(SECRET).expect(202);
    // The clock stands still, so no client causes a look.
    super::await_true("the group lists it", || lists(&scene, "2.0.0"));
    // The other member does not list it, and need not.
    second.await_count("/versions", 2);
    scene.at("12:00:02");
    super::await_true("nothing waits", || figure(&scene, "second", "waiting") == 0);
    for (repository, refused) in [(GROUP, 1), (REMOTE, 0), ("second", 0)] {
        let figures = ["taken", "refused"].map(|name| figure(&scene, repository, name));
        assert_eq!(figures, [json!(1), json!(refused)], "{repository}");
    }
    assert_eq!((figure(&scene, REMOTE, "lag_ms"), figure(&scene, "second", "lag_ms")), (json!(0), json!(null)));
}

#[test]
fn without_a_hook_clients_of_the_group_see_it_within_65_seconds_and_behind_a_stale_cache_within_125() {
    let (scene, _second) = grouped();
    scene.lists(&["1.0.0", "2.0.0"]);
    scene.at("12:01:05");
    super::await_true("the group lists it", || lists(&scene, "2.0.0"));
    // The next look meets a cache that serves the older index once.
    scene.at("12:02:06");
    super::await_true("it was looked at", || scene.looks() >= 3);
    scene.settle();
    scene.lists(&["1.0.0", "2.0.0", "3.0.0"]);
    scene.at("12:03:10");
    super::await_true("the group lists it", || lists(&scene, "3.0.0"));
}
