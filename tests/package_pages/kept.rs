//! Versions of hosted packages are kept in memory, and every change of them is seen at once.

use super::{call, in_state, text, told};
use crate::world::{FIRST, Gem, World};
use serde_json::{Value, json};

/// How often versions were found in memory.
fn hits(world: &World) -> u64 {
    let name = "daylight_cache_hits_total{cache=\"packages\"}";
    crate::accounts::sum(world.anon().get("/metrics").expect(200).text(), name)
}

/// The versions in this state, after the page was compared with the API. Both come from memory the second time.
fn shown(world: &World, repository: &str, package: &str, state: &str) -> Vec<String> {
    let anon = world.anon();
    told(&anon, repository, package).unwrap();
    let before = hits(world);
    let package: Value = anon.get(&call(repository, package)).expect(200).json();
    if !repository.contains('@') {
        assert!(hits(world) > before, "the versions were read again");
    }
    let versions = in_state(&package, state);
    assert!(versions.iter().all(|version| version["by"] == "admin"), "{package:#}");
    versions.iter().map(|version| text(version, "version").to_owned()).collect()
}

#[test]
fn a_push_a_yank_and_a_policy_are_seen_at_once_on_the_page_of_a_gem_and_of_its_group() {
    let world = World::start();
    let admin = world.admin();
    world.make(&json!({ "name": "all", "format": "gem", "kind": "group", "members": [FIRST] }));
    let both = |state: &str, versions: &[&str]| {
        for repository in [FIRST, "all"] {
            assert_eq!(shown(&world, repository, "lamp", state), versions, "{repository}");
        }
    };
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    both("visible", &["1.0.0"]);
    let then = format!("{FIRST}@seq-{}", crate::as_of::last_change(&world));
    admin.push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    both("visible", &["1.1.0", "1.0.0"]);
    admin.yank(FIRST, "lamp", "1.0.0").expect(200);
    both("visible", &["1.1.0"]);
    both("yanked", &["1.0.0"]);
    let deny = json!({ "include_hosted": true, "policy": { "deny": ["lamp:1.1.0"] } });
    admin.patch_json("/api/v1/repositories/all", &deny).expect(200);
    assert_eq!(shown(&world, "all", "lamp", "hidden"), ["1.1.0"]);
    assert_eq!(shown(&world, FIRST, "lamp", "visible"), ["1.1.0"], "the policy of the group is not that of the member");
    assert_eq!(shown(&world, &then, "lamp", "visible"), ["1.0.0"]);
    assert_eq!(shown(&world, &then, "lamp", "hidden"), ["1.1.0"], "it was published later");
    assert_eq!(world.anon().get(&call(FIRST, "oil")).status, 404);
    admin.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    assert_eq!(shown(&world, FIRST, "oil", "visible"), ["1.0.0"]);
}

#[test]
fn a_deploy_and_a_deletion_are_seen_at_once_on_the_page_of_an_artifact_and_of_its_group() {
    let world = World::start();
    let admin = world.admin();
    world.tree("ours", "maven");
    world.make(&json!({ "name": "all", "format": "maven", "kind": "group", "members": ["ours"] }));
    let both = |state: &str, versions: &[&str]| {
        for repository in ["ours", "all"] {
            assert_eq!(shown(&world, repository, "org.example:lamp", state), versions, "{repository}");
        }
    };
    let path = |version: &str| format!("org/example/lamp/{version}/lamp-{version}.pom");
    let deploy = |version: &str| {
        let pom = format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>lamp</artifactId>\
             <version>{version}</version></project>"
        );
        admin.put("ours", &path(version), pom.as_bytes()).expect(201);
    };
    deploy("1.9");
    both("visible", &["1.9"]);
    deploy("1.10");
    both("visible", &["1.10", "1.9"]);
    admin.delete("ours", &path("1.9")).expect(204);
    both("visible", &["1.10"]);
    both("deleted", &["1.9"]);
}
