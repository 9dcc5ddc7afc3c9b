//! Nested groups: each member is seen through the rules of all groups on the way.

use super::{FIRST, GROUP, REMOTE, Scene};
use crate::world::{Answer, Follower, Index};
use serde_json::json;

const OUTER: &str = "outer";

fn scene() -> Scene {
    let scene = super::scene();
    scene.push("oil", "1.0.0");
    scene.publish("lamp", "1.0.0");
    scene.publish("lamp", "2.0.0");
    scene.at("2026-11-02T12:02:00Z");
    scene.world.gem_group(OUTER, &[GROUP]);
    scene
}

fn get(scene: &Scene, group: &str, path: &str) -> Answer {
    scene.world.anon().file(group, path)
}

fn listed(scene: &Scene, repository: &str) -> Vec<String> {
    Index::listed(&scene.world.anon(), repository)
}

#[test]
fn what_the_outer_group_denies_is_seen_through_the_inner_one() {
    let scene = scene();
    let deny = |group: &str, what: &[&str]| {
        scene.world.change(group, &json!({ "include_hosted": true, "policy": { "deny": what } }));
    };
    let all = ["lamp 1.0.0", "lamp 2.0.0", "oil 1.0.0"];
    assert_eq!(listed(&scene, OUTER), all);
    deny(OUTER, &["lamp:2.0.0", "oil"]);
    assert_eq!(listed(&scene, OUTER), ["lamp 1.0.0"]);
    assert_eq!(listed(&scene, GROUP), all);
    for path in ["gems/lamp-2.0.0.gem", "gems/oil-1.0.0.gem", "quick/Marshal.4.8/lamp-2.0.0.gemspec.rz"] {
        assert!(get(&scene, OUTER, path).status >= 400, "{path}");
        get(&scene, GROUP, path).expect(200);
    }
    deny(GROUP, &["lamp:1.0.0"]);
    assert_eq!(listed(&scene, OUTER), [""; 0]);
    assert_eq!(listed(&scene, GROUP), ["lamp 2.0.0", "oil 1.0.0"]);
    assert_eq!(listed(&scene, REMOTE), ["lamp 1.0.0", "lamp 2.0.0"]);
    assert_eq!(listed(&scene, FIRST), ["oil 1.0.0"]);
}

#[test]
fn what_is_too_young_for_the_outer_group_is_shown_when_it_is_old_enough() {
    let scene = scene();
    scene.world.change(OUTER, &json!({ "include_hosted": true, "policy": { "cooldown_s": 12 * 3600 } }));
    // A version that was first seen two minutes after noon is too young.
    assert!(!listed(&scene, OUTER).iter().any(|gem| gem.starts_with("lamp")));
    scene.at("2026-11-03T11:00:00Z");
    scene.publish("lamp", "3.0.0");
    scene.at("2026-11-03T12:00:00Z");
    let lamps = |group: &str| listed(&scene, group).iter().filter(|gem| gem.starts_with("lamp")).count();
    assert_eq!((lamps(GROUP), lamps(OUTER)), (3, 2));
    assert!(get(&scene, OUTER, "gems/lamp-3.0.0.gem").status >= 400);
    let mut reader = Follower::new(&scene.world, OUTER);
    scene.at("2026-11-03T23:59:00Z");
    assert_eq!((lamps(OUTER), reader.news(&scene.world)), (2, vec![]));
    // It costs clients its line.
    scene.at("2026-11-04T00:01:00Z");
    let news = reader.news(&scene.world);
    assert!(news.len() == 1 && news[0].starts_with("lamp 3.0.0 "), "{news:?}");
    assert_eq!(lamps(OUTER), 3);
    get(&scene, OUTER, "gems/lamp-3.0.0.gem").expect(200);
}
