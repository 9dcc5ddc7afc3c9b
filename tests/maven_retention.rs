//! The retention of snapshots: builds are removed by number and age, and after a release.

use crate::maven_hosted::{all, build, metadata};
use crate::world::World;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[test]
fn of_a_snapshot_as_many_builds_are_kept_as_its_repository_says() {
    let world = World::start();
    let wanted = serde_json::json!({
        "name": "trees", "format": "maven", "kind": "hosted", "versions": "snapshots", "retention": { "builds": 2 }
    });
    world.admin().post_json("/api/v1/repositories", &wanted).expect(201);
    for number in 1..=5 {
        build(&world.admin(), &format!("2026010{number}.120000"), number);
    }
    let there = |number: u32| {
        let base = format!("org/example/lamp/1.0-SNAPSHOT/lamp-1.0-2026010{number}.120000-{number}");
        let status = |ending: &str| world.anon().file("trees", &format!("{base}{ending}")).status == 200;
        [".jar", "-sources.jar", ".pom"].map(status)
    };
    // No client waits for it.
    let end = Instant::now() + Duration::from_secs(60);
    while (1..=3).any(|number| there(number) != [false; 3]) {
        assert!(Instant::now() < end, "{:?}", [1, 2, 3].map(there));
    }
    assert_eq!([4, 5].map(there), [[true; 3]; 2]);
    let made = metadata(&world, "org/example/lamp/1.0-SNAPSHOT").expect(200);
    assert_eq!(all(&made, "value"), ["1.0-20260105.120000-5"; 3]);
    assert_eq!(all(&metadata(&world, "org/example/lamp").expect(200), "version"), ["1.0-SNAPSHOT"]);
}

#[test]
fn a_change_of_the_retention_says_how_many_bytes_it_frees() {
    let world = World::start();
    world.tree("trees", "maven");
    for number in 1..=3 {
        build(&world.admin(), &format!("2026010{number}.120000"), number);
    }
    let listed = world.admin().get("/api/v1/repositories/trees/contents").expect(200).json();
    let files = listed["contents"].as_array().unwrap();
    let is_last = |file: &Value| file["path"].as_str().unwrap().contains("-20260103.");
    let kept: Vec<&Value> = files.iter().filter(|file| is_last(file)).map(|file| &file["sha256"]).collect();
    // Files of the last build may have the same bytes.
    let gone: BTreeMap<String, u64> = (files.iter().filter(|file| !kept.contains(&&file["sha256"])))
        .map(|file| (file["sha256"].to_string(), file["size_bytes"].as_u64().unwrap()))
        .collect();
    let set = |retention: Value| {
        let change = json!({"retention": retention});
        world.change("trees", &change).json()
    };
    let kept_all = set(json!({"builds": 3}));
    assert_eq!((&kept_all["frees_bytes"], kept_all.get("pruned")), (&json!(0), None));
    let preview = world.admin().post_json("/api/v1/repositories/trees/preview", &json!({"retention": {"builds": 1}}));
    let preview = preview.expect(200).json();
    let changed = set(json!({"builds": 1}));
    let pruned = &changed["pruned"];
    assert_eq!(pruned["files"], 6, "{changed}");
    assert_eq!((&preview["pruned"]["names"], &preview["pruned"]["files"]), (&pruned["names"], &pruned["files"]));
    assert!(pruned["restorable_until"].is_string(), "{changed}");
    assert!(!gone.is_empty() && changed["frees_on"].is_string(), "{changed}");
    assert_eq!(changed["frees_bytes"], gone.values().sum::<u64>());
    assert_eq!(set(Value::Null).get("frees_bytes"), None, "without a retention nothing goes");
}

#[test]
fn a_snapshot_goes_some_days_after_its_release_but_for_what_came_since() {
    let world = World::start_in_conformance(&[]);
    let admin = world.admin();
    world.tree("trees", "maven");
    world.tree("releases", "maven");
    world.set_time("2026-11-01T00:00:00Z");
    build(&admin, "20261101.000000", 1);
    world.set_time("2026-11-02T00:00:00Z");
    admin.put("releases", "org/example/lamp/1.0/lamp-1.0.pom", b"<project/>").expect(201);
    world.set_time("2026-11-03T00:00:00Z");
    build(&admin, "20261103.000000", 2);
    let there = |build: &str| {
        world.anon().file("trees", &format!("org/example/lamp/1.0-SNAPSHOT/lamp-1.0-{build}.pom")).status == 200
    };
    let keep = |days: u64| {
        let change = serde_json::json!({"retention": {"released_days": days}});
        admin.patch_json("/api/v1/repositories/trees", &change).expect(200);
    };
    world.set_time("2026-11-05T23:59:59Z");
    keep(5);
    assert!(there("20261101.000000-1"));
    world.set_time("2026-11-07T00:00:00Z");
    keep(4);
    let end = Instant::now() + Duration::from_secs(60);
    while there("20261101.000000-1") {
        assert!(Instant::now() < end);
    }
    assert!(there("20261103.000000-2"));
    assert_eq!(all(&metadata(&world, "org/example/lamp").expect(200), "version"), ["1.0-SNAPSHOT"]);
}
