//! Groups of gem repositories: one URL for hosted gems and those of upstreams.

mod as_of;
mod attack;
mod changes;
mod claims;
mod clients;
mod collisions;
mod explained;
mod faults;
mod large;
mod lists;
mod member_fails;
mod nested;
mod never_reached;
mod one_url;
mod pages;
mod policies;
mod search;
mod shared;
mod stand_in;

use crate::world::{FIRST, Gem, World};
use serde_json::json;

/// The remote member, and the group.
const REMOTE: &str = "upstream-gems";
const GROUP: &str = "all-gems";
const START: &str = "2026-11-02T12:00:00Z";

/// A server with a hosted repository, a remote one and a group of both, and another server that is the upstream.
struct Scene {
    upstream: World,
    world: World,
}

impl Scene {
    fn new() -> Self {
        let (upstream, world) = (World::start(), World::start_in_conformance(&[]));
        let scene = Self { upstream, world };
        scene.at(START);
        let remote = json!({ "urls": [scene.upstream.url(FIRST)] });
        scene.world.make(&json!({ "name": REMOTE, "format": "gem", "kind": "remote", "remote": remote }));
        scene.group(GROUP, &[FIRST, REMOTE]);
        scene
    }

    /// Creates a group.
    fn group(&self, name: &str, members: &[&str]) {
        self.world.make(&json!({ "name": name, "format": "gem", "kind": "group", "members": members }));
    }

    /// Sets the clock.
    fn at(&self, moment: &str) {
        set_time(&self.world, moment);
    }

    /// Publishes a gem upstream.
    fn publish(&self, name: &str, version: &str) -> Gem {
        let gem = Gem::new(name, version);
        self.upstream.admin().push(FIRST, &gem).expect(200);
        gem
    }

    /// Publishes a gem in the hosted repository.
    fn push(&self, name: &str, version: &str) -> Gem {
        let gem = Gem::new(name, version).payload(b"ours");
        self.world.admin().push(FIRST, &gem).expect(200);
        gem
    }

    /// The answer of the group.
    fn get(&self, path: &str) -> crate::world::Answer {
        self.world.anon().file(GROUP, path)
    }
}

/// Sets the clock of a server in conformance mode.
fn set_time(world: &World, moment: &str) {
    let path = format!("/repository/{FIRST}/set_time");
    world.anon().ask("POST", &path, &[("Content-Type", "text/plain")], moment.as_bytes()).expect(200);
}
