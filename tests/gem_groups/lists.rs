//! `/names` and the older index of a group: the content of its `/versions` in the formats of older clients.

use super::{FIRST, GROUP, REMOTE, Scene};
use crate::world::{Gem, World};
use serde_json::{Value, json};

/// Whole indexes.
const LISTS: [&str; 4] = ["names", "specs.4.8.gz", "latest_specs.4.8.gz", "prerelease_specs.4.8.gz"];
/// A hosted repository on the upstream's server with the gems that the group must have.
const MODEL: &str = "model";
/// A group of the group.
const OUTER: &str = "outer-gems";

fn is_as_the_model(scene: &Scene, when: &str) {
    for list in LISTS {
        let model = scene.upstream.anon().file(MODEL, list).expect(200).body;
        for group in [GROUP, OUTER] {
            let ours = scene.world.anon().file(group, list).expect(200).body;
            assert!(ours == model, "{list} of {group} {when}: {} bytes, and not {}", ours.len(), model.len());
        }
    }
}

fn everywhere(scene: &Scene, (world, repository): (&World, &str), gem: &Gem) {
    world.admin().push(repository, gem).expect(200);
    scene.upstream.admin().push(MODEL, gem).expect(200);
}

#[test]
fn the_lists_of_a_group_are_those_of_a_repository_that_holds_all_gems_of_its_members() {
    let mut scene = Scene::new();
    scene.upstream.repository(MODEL, false);
    scene.group(OUTER, &[GROUP]);
    let (theirs, ours) = ((&scene.upstream, FIRST), (&scene.world, FIRST));
    is_as_the_model(&scene, "of nothing");
    everywhere(&scene, theirs, &Gem::new("lamp", "1.0.0"));
    everywhere(&scene, theirs, &Gem::new("lamp", "1.1.0.pre"));
    everywhere(&scene, theirs, &Gem::new("wick", "1.0.0").platform("java"));
    everywhere(&scene, ours, &Gem::new("oil", "2.0.0").platform("x86_64-linux"));
    everywhere(&scene, ours, &Gem::new("can", "1.0.0"));
    scene.at("2026-11-02T13:00:00Z");
    is_as_the_model(&scene, "at first");
    // Another member does not show its versions of a name that it does not own.
    scene.upstream.admin().push(FIRST, &Gem::new("oil", "9.0.0")).expect(200);
    everywhere(&scene, ours, &Gem::new("can", "1.0.1"));
    let oil = Gem::new("oil", "2.0.1");
    everywhere(&scene, ours, &oil);
    is_as_the_model(&scene, "after pushes here");
    for (world, repository) in [theirs, (&scene.upstream, MODEL)] {
        world.admin().yank(repository, "lamp", "1.0.0").expect(200);
    }
    scene.at("2026-11-02T14:00:00Z");
    is_as_the_model(&scene, "after a yank there");
    for (world, repository) in [ours, (&scene.upstream, MODEL)] {
        world.admin().yank(repository, "can", "1.0.0").expect(200);
        world.admin().yank(repository, "can", "1.0.1").expect(200);
    }
    is_as_the_model(&scene, "after yanks here");
    scene.world.stop();
    scene.world.resume();
    is_as_the_model(&scene, "after a restart");
    everywhere(&scene, (&scene.world, FIRST), &Gem::new("can", "1.0.2"));
    is_as_the_model(&scene, "after a push behind the restart");
}

#[test]
fn a_list_changes_with_the_rules_of_the_group_and_of_its_members() {
    let scene = Scene::new();
    scene.publish("lamp", "1.0.0");
    scene.publish("wick", "1.0.0");
    scene.push("oil", "2.0.0");
    let names = || scene.get("names").expect(200).text().to_owned();
    assert_eq!(names(), "---\nlamp\noil\nwick\n");
    let deny = |repository: &str, names: &[&str]| {
        let names = if names.is_empty() { Value::Null } else { json!(names) };
        let policy = json!({ "include_hosted": true, "policy": { "deny": names } });
        scene.world.admin().patch_json(&format!("/api/v1/repositories/{repository}"), &policy).expect(200);
    };
    let specs = scene.get("specs.4.8.gz").expect(200).body;
    deny(GROUP, &["wick"]);
    assert_eq!(names(), "---\nlamp\noil\n");
    assert!(scene.get("specs.4.8.gz").expect(200).body != specs);
    deny(REMOTE, &["lamp"]);
    assert_eq!(names(), "---\noil\n");
    deny(GROUP, &[]);
    assert_eq!(names(), "---\noil\nwick\n");
    deny(REMOTE, &[]);
    assert_eq!(names(), "---\nlamp\noil\nwick\n");
    assert!(scene.get("specs.4.8.gz").expect(200).body == specs);
}

#[test]
fn the_lists_of_a_group_as_of_a_moment_are_those_of_that_moment() {
    let scene = Scene::new();
    scene.publish("lamp", "1.0.0");
    scene.push("oil", "2.0.0");
    scene.get("versions").expect(200);
    let then: Vec<_> = LISTS.iter().map(|list| scene.get(list).expect(200).body).collect();
    scene.publish("wick", "1.0.0");
    scene.at("2026-11-04T12:00:00Z");
    scene.push("oil", "2.1.0");
    let names = scene.get("names").expect(200).text().to_owned();
    assert_eq!(names, "---\nlamp\noil\nwick\n");
    for (list, then) in LISTS.iter().zip(then) {
        let past = scene.world.anon().file(&format!("{GROUP}@2026-11-03T12:00:00Z"), list).expect(200).body;
        assert!(past == then, "{list}");
        let now = scene.get(list).expect(200).body;
        assert!(*list == "prerelease_specs.4.8.gz" || now != then, "{list}");
    }
}
