//! Groups of repositories, from the side of clients, operators and upstreams.

mod asking;
mod explain;
mod explained_policy;
mod faults;
mod hanging;
mod large;
mod merged;
mod model;
mod ours;
mod prefixes;
mod preview;
mod raw;
mod settings;
mod warm;

pub(crate) use explain::{command, event, said};
pub(crate) use large::{make_all, names};

use crate::world::{Answer, Upstream, World};
use serde_json::{Value, json};

const JAR: &str = "org/example/lamp/1.0/lamp-1.0.jar";

/// A server with a group `all`, of `ours` (hosted), `near` and `far` (remote), in this order.
struct Scene {
    world: World,
    near: Upstream,
    far: Upstream,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { world: World::start(), near: Upstream::start(), far: Upstream::start() };
        scene.world.tree("ours", "maven");
        scene.world.remote("near", &scene.near.url());
        scene.world.remote("far", &scene.far.url());
        group(&scene.world, "all", &["ours", "near", "far"]);
        scene
    }

    fn get(&self, path: &str) -> Answer {
        self.world.anon().file("all", path)
    }
}

/// Creates a group of Maven repositories.
fn group(world: &World, name: &str, members: &[&str]) {
    world.make(&json!({ "name": name, "format": "maven", "members": members }));
}

#[test]
fn the_first_member_that_has_a_file_answers_and_hosted_ones_are_first() {
    let scene = Scene::new();
    scene.far.file(&format!("/{JAR}"), "far");
    assert_eq!(scene.get(JAR).expect(200).text(), "far");
    scene.near.file(&format!("/{JAR}"), "near");
    let other = "org/example/lamp/2.0/lamp-2.0.jar";
    scene.near.file(&format!("/{other}"), "near");
    scene.far.file(&format!("/{other}"), "far");
    assert_eq!(scene.get(other).expect(200).text(), "near");
    scene.world.admin().put("ours", "org/example/lamp/3.0/lamp-3.0.jar", b"ours").expect(201);
    assert_eq!(scene.get("org/example/lamp/3.0/lamp-3.0.jar").expect(200).text(), "ours");
    scene.get("org/example/lamp/4.0/lamp-4.0.jar").expect(404);
    scene.world.admin().put("all", JAR, b"x").expect(405);
}

/// The text of a problem for people.
fn detail(problem: &Value) -> &str {
    problem["detail"].as_str().unwrap()
}
