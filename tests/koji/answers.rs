//! What clients get from a Koji repository: files and lists without a call to the hub, absences with a reason, and events
//! of Koji as moments.

use super::{built, lamp};
use crate::world::{Answer, KojiHub, Trouble, World, await_true};
use serde_json::{Value, json};

const JAR: &str = "org/example/lamp/1.0/lamp-1.0.jar";
const POM: &str = "org/example/lamp/1.0/lamp-1.0.pom";
const LIST: &str = "org/example/lamp/maven-metadata.xml";

/// A repository `builds` of a hub with one build, whose map is known.
fn scene() -> (World, KojiHub, u64, u64) {
    let (world, hub) = (World::start(), KojiHub::start());
    let tag = hub.tag("maven-release");
    let build = lamp(&hub);
    let event = hub.tag_build(tag, build);
    world.koji("builds", &hub, &["maven-*"]);
    await_true("the map", || get(&world, LIST).status == 200);
    (world, hub, tag, event)
}

fn get(world: &World, path: &str) -> Answer {
    world.anon().file("builds", path)
}

fn explained(world: &World, repository: &str, path: &str) -> Value {
    world.admin().get(&format!("/api/v1/explain?repository={repository}&path={path}")).expect(200).json()
}

#[test]
fn files_cost_one_call_each_below_the_url_of_the_files_and_nothing_else_costs_any() {
    let (world, hub, ..) = scene();
    hub.forget_counts();
    for path in [JAR, POM, JAR] {
        get(&world, path).expect(200);
    }
    for ending in ["md5", "sha1", "sha256", "sha512"] {
        get(&world, &format!("{JAR}.{ending}")).expect(200);
        get(&world, &format!("{LIST}.{ending}")).expect(200);
    }
    let list = get(&world, LIST).expect(200);
    assert!(list.text().contains("<version>1.0</version>"), "{}", list.text());
    for path in ["org/example/oil/1.0/oil-1.0.jar", "org/example/lamp/1.0/lamp-1.0-sources.jar", ".meta/prefixes.txt"] {
        get(&world, path).expect(404);
    }
    assert_eq!((hub.file_gets().len(), hub.rounds()), (2, 0), "{:?}", hub.file_gets());
    let told = explained(&world, "builds", JAR);
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.contains("the build `org.example-lamp-1.0-1` has it, tagged into `maven-release`"), "{detail}");
    assert!(detail.contains("the hub has its md5"), "{detail}");
    let told = explained(&world, "builds", POM);
    assert!(told["detail"].as_str().unwrap().contains("the hub has its sha256"), "{told}");
    let told = explained(&world, "builds", "org/example/oil/1.0/oil-1.0.jar");
    assert!(told["detail"].as_str().unwrap().contains("no build in the tags has the folder"), "{told}");
}

#[test]
fn before_the_first_map_an_answer_is_503_and_says_when_to_come_again() {
    let (world, hub) = (World::start(), KojiHub::start());
    hub.trouble(Trouble::Offline);
    world.koji("builds", &hub, &["maven-*"]);
    for path in [JAR, LIST, "org/example/oil/1.0/oil-1.0.jar"] {
        let answer = get(&world, path).expect(503);
        assert!(answer.header("retry-after").is_some_and(|after| after.parse::<u64>().is_ok()), "{path}");
        assert!(!answer.text().contains("Traceback"), "{}", answer.text());
    }
}

#[test]
fn an_event_of_koji_is_a_moment_of_its_repository_and_of_a_group_with_one_such_member() {
    let (world, hub, _, first) = scene();
    world.tree("ours", "maven");
    world.make(&json!({ "name": "all", "format": "maven", "members": ["ours", "builds"] }));
    built(&hub, "org.example-lamp", "2.0", "org/example/lamp/2.0");
    let last = hub.last_event();
    for name in ["builds", "all"] {
        let get = |event: u64, path: &str| world.anon().file(&format!("{name}@koji-{event}"), path);
        get(first, JAR).expect(200);
        get(first - 1, JAR).expect(404);
        assert!(get(last + 1_000, JAR).expect(400).text().contains("has seen event"));
    }
    let refused = world.anon().file("ours@koji-1", JAR).expect(400);
    assert!(refused.text().contains("is no Koji repository"), "{}", refused.text());
}
