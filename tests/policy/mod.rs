//! Policies, as clients, operators and upstreams see them: what is hidden is hidden on every route, and says why.

mod ages;
mod calls;
mod clients;
mod cooldown;
mod folders;
mod gems;
mod origin;
mod upstreams;

use crate::world::{Answer, FIRST, World};
use serde_json::{Value, json};

/// A server whose time of day is set.
pub(crate) fn world() -> World {
    let world = World::start_in_conformance(&[]);
    set_day(&world, 1);
    world
}

/// It is noon of that day of November.
pub(crate) fn set_day(world: &World, day: u32) {
    set_time(world, &format!("2026-11-{day:02}T12:00:00Z"));
}

fn set_time(world: &World, moment: &str) {
    let path = format!("/repository/{FIRST}/set_time");
    world.anon().ask("POST", &path, &[("Content-Type", "text/plain")], moment.as_bytes()).expect(200);
}

/// Sets what of the policy of a repository is named.
pub(crate) fn set(world: &World, repository: &str, policy: &Value) -> Answer {
    world.admin().patch_json(&format!("/api/v1/repositories/{repository}"), &json!({ "policy": policy }))
}

/// Lets something through.
fn allow(world: &World, repository: &str, package: &str, until: Option<&str>) -> Answer {
    let path = format!("/api/v1/repositories/{repository}/exceptions");
    world.admin().post_json(&path, &json!({ "package": package, "why": "it closes a hole", "until": until }))
}

const WEEK_S: u64 = 7 * 86_400;
