//! How much each repository holds: the API, the command line and the metrics show it at any time, and a restart or
//! rebuild changes nothing.

use crate::world::{FIRST, Gem, Upstream, World};
use serde_json::{Value, json};

fn holds(world: &World, name: &str) -> Value {
    let shown = world.admin().get(&format!("/api/v1/repositories/{name}")).expect(200).json();
    let list = world.admin().get("/api/v1/repositories").expect(200).json();
    let listed = list["repositories"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
    assert_eq!(listed["holds"], shown["holds"]);
    shown["holds"].clone()
}

fn metric(world: &World, line: &str) -> Option<u64> {
    let page = world.anon().get("/metrics").expect(200);
    page.text().lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn what_a_repository_holds_is_known_after_each_change_and_after_a_rebuild() {
    let mut world = World::start();
    world.repository("vault", true);
    world.tree("libs", "maven");
    world.tree("files", "raw");
    let (one, two) = (Gem::new("lamp", "1.0.0"), Gem::new("lamp", "2.0.0"));
    for gem in [&one, &two, &Gem::new("oil", "1.0.0")] {
        world.admin().push("vault", gem).expect(200);
    }
    for path in ["org/example/lamp/1.0/lamp-1.0.jar", "org/example/lamp/2.0/lamp-2.0.jar", "org/oil/1/oil-1.jar"] {
        world.admin().put("libs", path, b"bytes").expect(201);
    }
    world.admin().put("files", "a/b/c", b"bytes").expect(201);
    world.admin().yank("vault", "oil", "1.0.0").expect(200);
    let gems = json!({"files": 2, "size_bytes": one.bytes().len() + two.bytes().len(), "packages": 1});
    let each = [
        ("vault", gems.clone()),
        ("libs", json!({"files": 3, "size_bytes": 15, "packages": 2})),
        ("files", json!({"files": 1, "size_bytes": 5, "packages": null})),
        (FIRST, json!({"files": 0, "size_bytes": 0, "packages": 0})),
    ];
    for (name, held) in &each {
        assert_eq!(holds(&world, name), *held, "{name}");
    }
    world.stop();
    assert!(world.run("rebuild").status.success());
    world.resume();
    for (name, held) in &each {
        assert_eq!(holds(&world, name), *held, "{name} after a rebuild");
    }
}

#[test]
fn metrics_tell_what_public_repositories_hold_and_name_no_private_one() {
    let world = World::start();
    world.repository("vault", true);
    world.repository("open", false);
    world.admin().push("open", &Gem::new("lamp", "1.0.0")).expect(200);
    assert_eq!(metric(&world, "daylight_repository_packages{repository=\"open\"}"), Some(1));
    assert!(metric(&world, "daylight_repository_bytes{repository=\"open\"}").unwrap() > 0);
    assert!(!world.anon().get("/metrics").expect(200).text().contains("vault"));
    world.change("open", &json!({"private": true}));
    assert_eq!(metric(&world, "daylight_repository_packages{repository=\"open\"}"), None);
}

#[test]
fn cached_files_of_an_upstream_count_until_they_are_dropped() {
    let (mut world, upstream) = (World::start(), Upstream::start());
    upstream.file("/tools/lamp", "bytes");
    world.remote_of("raw", "far", &upstream.url());
    assert_eq!(holds(&world, "far"), json!({"files": 0, "size_bytes": 0, "packages": null}));
    world.anon().get("/repository/far/tools/lamp").expect(200);
    let held = json!({"files": 1, "size_bytes": 5, "packages": null});
    assert_eq!(holds(&world, "far"), held);
    assert_eq!(metric(&world, "daylight_repository_bytes{repository=\"far\"}"), Some(5));
    world.stop();
    world.resume();
    assert_eq!(holds(&world, "far"), held, "after a restart");
    world.admin().ask("DELETE", "/api/v1/repositories/far/contents/tools/lamp", &[], b"").expect(200);
    assert_eq!(holds(&world, "far"), json!({"files": 0, "size_bytes": 0, "packages": null}));
}
