//! Remote repositories, from the side of their clients and their upstream.

mod ages;
mod called;
mod coded;
mod cold;
mod damage;
mod digests;
mod distrust;
mod first_seen;
mod leaving;
mod pairs;
mod pauses;
mod per_artifact;
mod room;
mod told;
mod turned;

use crate::world::{Answer, Person, Upstream, World};
use serde_json::{Value, json};

/// A path of a file that never changes.
const JAR: &str = "org/example/lamp/1.0/lamp-1.0.jar";
/// A path of a file that may change.
const METADATA: &str = "org/example/lamp/maven-metadata.xml";

/// A server with one remote repository, `central`, and its upstream.
struct Scene {
    world: World,
    upstream: Upstream,
}

impl Scene {
    fn new() -> Self {
        Self::with(&json!({}))
    }

    /// With these settings of the upstream.
    fn with(settings: &Value) -> Self {
        let scene = Self { world: World::start(), upstream: Upstream::start() };
        scene.add("central", "maven", settings);
        scene
    }

    /// With this file of settings of the server.
    fn with_file(text: &str) -> Self {
        let scene = Self { world: World::start_with_file(text), upstream: Upstream::start() };
        scene.add("central", "maven", &json!({}));
        scene
    }

    /// With a settable clock.
    fn at_any_time() -> Self {
        let world = World::start_in_conformance(&[]);
        let scene = Self { world, upstream: Upstream::start() };
        scene.add("central", "maven", &json!({}));
        scene
    }

    fn add(&self, name: &str, format: &str, settings: &Value) {
        let mut remote = json!({"urls": [self.upstream.url()]});
        remote.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        let wanted = json!({"name": name, "format": format, "kind": "remote", "private": false, "remote": remote});
        self.world.admin().post_json("/api/v1/repositories", &wanted).expect(201);
    }

    fn client(&self) -> Person {
        self.world.anon()
    }

    fn get(&self, path: &str) -> Answer {
        self.client().get(&at(path))
    }

    /// The number of requests to the upstream for a path.
    fn asked(&self, path: &str) -> usize {
        self.upstream.count(&format!("/{path}"))
    }
}

/// The URL of a path.
fn at(path: &str) -> String {
    format!("/repository/central/{path}")
}

/// Bytes without repetitions.
fn bytes(len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
