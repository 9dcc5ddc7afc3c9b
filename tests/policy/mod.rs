//! Policies from the side of clients, operators and upstreams: a hidden version is hidden on every route, and the
//! refusal has the reason.

mod ages;
mod calls;
mod clients;
mod cooldown;
mod folders;
mod gems;
mod hosted;
mod origin;
mod refused;
mod upstreams;

use crate::world::{Answer, World};
use serde_json::{Value, json};

/// A server with a settable clock.
pub(crate) fn world() -> World {
    let world = World::start_in_conformance(&[]);
    set_day(&world, 1);
    world
}

/// Sets the clock to noon of that day of November.
pub(crate) fn set_day(world: &World, day: u32) {
    world.set_time(&format!("2026-11-{day:02}T12:00:00Z"));
}

/// Changes the named parts of a repository's policy, which may hide versions of hosted members.
pub(crate) fn set(world: &World, repository: &str, policy: &Value) -> Answer {
    world
        .admin()
        .patch_json(&format!("/api/v1/repositories/{repository}"), &json!({ "include_hosted": true, "policy": policy }))
}

/// Adds an exception.
fn allow(world: &World, repository: &str, package: &str, until: Option<&str>) -> Answer {
    let path = format!("/api/v1/repositories/{repository}/exceptions");
    world.admin().post_json(&path, &json!({ "package": package, "why": "it closes a hole", "until": until }))
}

const WEEK_S: u64 = 7 * 86_400;
