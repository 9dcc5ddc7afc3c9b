//! Real clients use the group of a new data folder as their only repository. A project is built, deployed, and built
//! again from nothing, the second time without the upstream.

use crate::maven_deploys::porch_says;
use crate::pages::events;
use crate::world::{Central, Machine, Release, World};
use serde_json::json;

const GROUP: &str = "maven";

/// Deploys a version of the project, which is built with the files of the group.
#[track_caller]
fn deploy(world: &World, desk: &Machine, version: &str, build: &str) {
    let lantern = desk.project("lantern", &[("version", version), ("build", build)]);
    let [releases, snapshots] =
        ["releases", "snapshots"].map(|name| format!("-D{name}={}", world.url(&format!("maven-{name}"))));
    lantern.maven(&["deploy", "-DskipTests", &releases, &snapshots]).good();
}

/// A machine with an empty local repository and the group's settings file.
fn somebody(world: &World, like: &Machine) -> Machine {
    let machine = like.another();
    machine.saves(world.anon().file(GROUP, "settings.xml").expect(200).text());
    machine
}

fn builds_deploys_and_builds_again_without_the_upstream(release: Release) {
    let central = Central::open();
    let mut world = World::start();
    let upstream = json!({ "remote": { "urls": [central.url()] } });
    world.admin().patch_json("/api/v1/repositories/maven-central", &upstream).expect(200);
    let writer = world.person("ci", &["read", "write"], &["maven-releases", "maven-snapshots"]);
    let desk = central.machine(release);
    let group = world.url(GROUP);
    desk.settings(&group, &[("releases", &group), ("snapshots", &group)], writer.secret());
    for (version, build) in [("1.0.0", "1"), ("1.1.0", "2"), ("2.0-SNAPSHOT", "3"), ("2.0-SNAPSHOT", "4")] {
        deploy(&world, &desk, version, build);
    }
    let user = somebody(&world, &desk);
    assert_eq!(porch_says(&user, "[1.0,1.9]"), "Lantern 1.1.0 is lit, build 2\n");
    assert_eq!(porch_says(&user, "2.0-SNAPSHOT"), "Lantern 2.0-SNAPSHOT is lit, build 4\n");
    let prefixed = |machine: &Machine| {
        machine.settings(&group, &[], "");
        machine.project("porch", &[("version", "1.0.0")]).maven(&["--update-snapshots", "lantern:light"]).good()
    };
    let said = prefixed(&user);
    assert!(said.contains("Lantern 1.1.0 is lit, build 2"), "the newest release of the plugin: {said}");

    // Nothing listens there any more, and the TTL of negative answers has not ended.
    drop(central);
    deploy(&world, &desk, "1.2.0", "5");
    let user = somebody(&world, &desk);
    assert_eq!(porch_says(&user, "[1.0,1.9]"), "Lantern 1.2.0 is lit, build 5\n");
    assert_eq!(porch_says(&user, "2.0-SNAPSHOT"), "Lantern 2.0-SNAPSHOT is lit, build 4\n");
    let said = prefixed(&user);
    assert!(said.contains("Lantern 1.2.0 is lit, build 5"), "{said}");

    world.stop();
    let events = events(&world);
    let failed = |event: &&serde_json::Value| event["status"].as_u64().is_some_and(|status| status >= 500);
    assert_eq!(events.iter().find(failed), None);
    let through = events.iter().filter(|event| event["path"].as_str().is_some_and(|path| path.contains("/maven/")));
    println!("Maven {release:?}: {} requests to the group", through.count());
}

#[test]
fn maven_3_8_builds_and_deploys_through_the_group_and_again_without_the_upstream() {
    builds_deploys_and_builds_again_without_the_upstream(Release::Three8);
}

#[test]
fn maven_3_9_builds_and_deploys_through_the_group_and_again_without_the_upstream() {
    builds_deploys_and_builds_again_without_the_upstream(Release::Three9);
}

#[test]
fn maven_3_10_builds_and_deploys_through_the_group_and_again_without_the_upstream() {
    builds_deploys_and_builds_again_without_the_upstream(Release::Three10);
}

#[test]
fn maven_4_builds_and_deploys_through_the_group_and_again_without_the_upstream() {
    builds_deploys_and_builds_again_without_the_upstream(Release::Four);
}
