//! Calls of programs to a group that are not about one gem.

use super::{FIRST, GROUP, REMOTE, Scene, scene};
use crate::world::Gem;
use serde_json::{Value, json};

fn ask(scene: &Scene, path: &str) -> Value {
    scene.get(&format!("api/v1/{path}")).expect(200).json()
}

/// The names and versions in an answer.
fn gems(told: &Value) -> Vec<String> {
    let text = |gem: &Value, key: &str| gem[key].as_str().unwrap().to_owned();
    told.as_array().unwrap().iter().map(|gem| text(gem, "name") + " " + &text(gem, "version")).collect()
}

#[test]
fn a_search_finds_the_gems_of_all_members_each_as_its_owner_has_it() {
    let scene = scene();
    scene.publish("lamp", "1.0.0");
    scene.publish("lamp", "1.1.0");
    scene.push("lamp-oil", "2.0.0");
    scene.publish("lamp-oil", "9.0.0");
    scene.push("lamp-wick", "3.0.0");
    scene.publish("wick", "1.0.0");
    scene.at("2026-11-02T13:00:00Z");
    let found = ask(&scene, "search.json?query=lamp");
    assert_eq!(gems(&found), ["lamp 1.1.0", "lamp-oil 2.0.0", "lamp-wick 3.0.0"]);
    assert_eq!(found[0]["gem_uri"], format!("{}gems/lamp-1.1.0.gem", scene.world.url(GROUP)));
    assert_eq!((&found[0]["sha"], found[1]["sha"].as_str().map(str::len)), (&Value::Null, Some(64)));
    assert_eq!(gems(&ask(&scene, "search.json?query=lamp&page=2")), [""; 0]);
    assert_eq!(ask(&scene, "search/autocomplete.json?query=lam"), json!(["lamp", "lamp-oil", "lamp-wick"]));
    scene.get("api/v1/search.json").expect(400);
    scene.world.admin().yank(FIRST, "lamp-oil", "2.0.0").expect(200);
    assert_eq!(gems(&ask(&scene, "search.json?query=lamp")), ["lamp 1.1.0", "lamp-wick 3.0.0"]);
}

#[test]
fn what_is_new_and_who_owns_a_gem_is_told_of_hosted_members() {
    let scene = scene();
    scene.world.repository("more", false);
    scene.world.change(GROUP, &json!({ "members": [FIRST, REMOTE, "more"] }));
    scene.publish("wick", "1.0.0");
    scene.push("oil", "2.0.0");
    scene.at("2026-11-02T13:00:00Z");
    let admin = scene.world.admin();
    admin.push("more", &Gem::new("can", "1.0.0")).expect(200);
    // The name is owned by the first member.
    admin.push("more", &Gem::new("oil", "7.0.0")).expect(200);
    scene.at("2026-11-02T14:00:00Z");
    scene.push("oil", "2.1.0");
    let just = ask(&scene, "activity/just_updated.json");
    assert_eq!(gems(&just), ["oil 2.1.0", "can 1.0.0", "oil 2.0.0"]);
    assert_eq!(gems(&ask(&scene, "activity/latest.json")), ["can 1.0.0", "oil 2.0.0"]);
    let between = "timeframe_versions.json?from=2026-11-02T12:30:00Z&to=2026-11-02T13:30:00Z";
    assert_eq!(gems(&ask(&scene, between)), ["can 1.0.0"]);
    let own = admin.file(GROUP, "api/v1/gems.json").expect(200).json();
    assert_eq!(gems(&own), ["can 1.0.0", "oil 2.1.0"]);
    let of = |name: &str| ask(&scene, &format!("gems/{name}/owners.json"));
    assert_eq!(of("oil"), scene.world.anon().file(FIRST, "api/v1/gems/oil/owners.json").expect(200).json());
    assert_eq!(of("can"), scene.world.anon().file("more", "api/v1/gems/can/owners.json").expect(200).json());
    let upstream_s = scene.get("api/v1/gems/wick/owners.json").expect(501);
    assert!(upstream_s.text().contains("ask the upstream, `gem owner wick --host URL`"), "{}", upstream_s.text());
    scene.get("api/v1/gems/nothing/owners.json").expect(404);
    scene.world.gem_group("upstreams", &[REMOTE]);
    let refused = scene.world.anon().file("upstreams", "api/v1/activity/latest.json").expect(501);
    assert!(refused.text().contains("upstreams do not list new gems"), "{}", refused.text());
}
