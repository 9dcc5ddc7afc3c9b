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

use crate::gem_upstream::shelf::Shelf;
use crate::gem_upstream::{LATER, REMOTE, START, Scene};
use crate::world::{FIRST, Gem, World};

/// The group.
const GROUP: &str = "all-gems";

/// A server with a settable clock, a hosted repository, a remote one and a group of both, and another server that is the
/// upstream.
fn scene() -> Scene {
    let scene = Scene { repository: GROUP, ..Scene::new() };
    scene.world.gem_group(GROUP, &[FIRST, REMOTE]);
    scene
}

impl Scene {
    /// Publishes a gem in the hosted repository.
    fn push(&self, name: &str, version: &str) -> Gem {
        let gem = Gem::new(name, version).payload(b"ours");
        self.world.admin().push(FIRST, &gem).expect(200);
        gem
    }
}

/// A server whose clock stands still.
fn still() -> World {
    let world = World::start_in_conformance(&[]);
    world.set_time(START);
    world
}

/// Adds a remote repository for each of these upstreams.
fn add_remotes(world: &World, remotes: &[(&str, &Shelf)]) {
    remotes.iter().for_each(|(name, shelf)| world.remote_of("gem", name, &shelf.upstream.url()));
}
