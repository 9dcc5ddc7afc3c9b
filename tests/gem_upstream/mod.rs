//! Remote gem repositories, with real clients and another server as their upstream.

mod about_packages;
mod as_of;
mod builds;
mod calls;
mod checked;
mod complaints;
mod disagreements;
mod explained;
mod faults;
mod first_body;
mod following;
mod jruby;
mod large;
mod model;
mod names;
mod policy;
mod protocols;
mod roads;
pub(crate) mod shelf;
mod stand_in;
mod view_log;

use crate::world::{FIRST, World};
use serde_json::json;

/// The remote repository.
pub(crate) const REMOTE: &str = "upstream-gems";
const START: &str = "2026-11-02T12:00:00Z";
const LATER: &str = "2026-11-02T13:00:00Z";
const AFTER_A_WEEK: &str = "2026-11-10T13:00:00Z";

/// Sets the clock of a server in conformance mode.
fn set_time(world: &World, moment: &str) {
    let path = format!("/repository/{FIRST}/set_time");
    world.anon().ask("POST", &path, &[("Content-Type", "text/plain")], moment.as_bytes()).expect(200);
}

/// A server with a remote gem repository, and another server that is its upstream.
struct Scene {
    upstream: World,
    world: World,
}

impl Scene {
    fn new() -> Self {
        Self::of(World::start())
    }

    /// The same with a settable clock.
    fn at_any_time() -> Self {
        let scene = Self::of(World::start_in_conformance(&[]));
        scene.set_time(START);
        scene
    }

    fn set_time(&self, moment: &str) {
        set_time(&self.world, moment);
    }

    /// Advances the clock by an hour, after which every TTL has ended.
    fn later(&self) {
        self.set_time(LATER);
    }

    fn of(world: World) -> Self {
        let scene = Self { upstream: World::start(), world };
        let remote = json!({"urls": [scene.upstream.url(FIRST)]});
        let wanted = json!({"name": REMOTE, "format": "gem", "kind": "remote", "private": false, "remote": remote});
        scene.world.admin().post_json("/api/v1/repositories", &wanted).expect(201);
        scene
    }
}
