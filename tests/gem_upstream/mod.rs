//! Remote gem repositories, with real clients and another server as their upstream.

mod about_packages;
mod as_of;
mod builds;
mod checked;
mod complaints;
mod disagreements;
mod explained;
mod faults;
mod first_body;
mod following;
mod large;
mod model;
mod names;
mod policy;
mod protocols;
mod roads;
pub(crate) mod shelf;
mod stand_in;
mod view_log;

use crate::world::{Answer, FIRST, Gem, World};
use serde_json::{Value, json};

/// The remote repository.
pub(crate) const REMOTE: &str = "upstream-gems";
pub(crate) const START: &str = "2026-11-02T12:00:00Z";
pub(crate) const LATER: &str = "2026-11-02T13:00:00Z";
const AFTER_A_WEEK: &str = "2026-11-10T13:00:00Z";
const WEEK_S: u64 = 7 * 86_400;

/// A server with a settable clock and a remote gem repository, and another server that is its upstream.
pub(crate) struct Scene {
    pub(crate) upstream: World,
    pub(crate) world: World,
    /// The repository that answers.
    pub(crate) repository: &'static str,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let (upstream, world) = (World::start(), World::start_in_conformance(&[]));
        world.set_time(START);
        world.remote_of("gem", REMOTE, &upstream.url(FIRST));
        Self { upstream, world, repository: REMOTE }
    }

    /// Sets the clock.
    pub(crate) fn at(&self, moment: &str) {
        self.world.set_time(moment);
    }

    /// Sets the clock to noon of this day of November.
    fn day(&self, day: u32) {
        self.at(&format!("2026-11-{day:02}T12:00:00Z"));
    }

    /// Publishes a gem upstream.
    pub(crate) fn publish(&self, name: &str, version: &str) -> Gem {
        let gem = Gem::new(name, version);
        self.upstream.admin().push(FIRST, &gem).expect(200);
        gem
    }

    /// The answer of the repository.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.world.anon().file(self.repository, path)
    }

    /// The same as of a moment.
    pub(crate) fn then(&self, moment: &str, path: &str) -> Answer {
        self.world.anon().file(&format!("{}@{moment}", self.repository), path)
    }
}

/// The answer of the remote repository.
fn get(world: &World, path: &str) -> Answer {
    world.anon().file(REMOTE, path)
}

/// Changes its policy.
fn set(world: &World, policy: &Value) {
    world.change(REMOTE, &json!({ "policy": policy }));
}
