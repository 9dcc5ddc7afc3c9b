//! Remote repositories of gems, as clients and another server as their upstream see them.

mod builds;

use crate::world::{FIRST, World};
use serde_json::json;

/// The remote repository.
const REMOTE: &str = "upstream-gems";

/// A server with a remote repository of gems, and another server that is its upstream.
struct Scene {
    upstream: World,
    world: World,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { upstream: World::start(), world: World::start() };
        let remote = json!({"urls": [scene.upstream.url(FIRST)]});
        let wanted = json!({"name": REMOTE, "format": "gem", "kind": "remote", "private": false, "remote": remote});
        scene.world.admin().post_json("/api/v1/repositories", &wanted).expect(201);
        scene
    }
}
