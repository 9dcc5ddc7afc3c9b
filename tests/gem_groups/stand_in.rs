//! An upstream of gems on loopback that has nothing but `/versions`, for tests that are about names alone.

use crate::world::{FIRST, Parts, Says, Upstream, World};
use format::gem::info::md5_hex;
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Mutex;

/// It has `/versions`.
pub(super) struct StandIn {
    upstream: Upstream,
    versions: Mutex<String>,
}

impl StandIn {
    /// An upstream that lists these versions, each `NAME VERSION`.
    pub(super) fn with(versions: &[&str]) -> Self {
        let begin = "created_at: 2026-10-01T00:00:00Z\n---\n".to_owned();
        let stand_in = Self { upstream: Upstream::start(), versions: Mutex::new(begin) };
        stand_in.lists(versions);
        stand_in
    }

    /// Adds these versions.
    pub(super) fn lists(&self, more: &[&str]) {
        let mut versions = self.versions.lock().unwrap();
        for version in more {
            writeln!(versions, "{version} {}", md5_hex(version.as_bytes())).unwrap();
        }
        let etag = format!("\"{}\"", md5_hex(versions.as_bytes()));
        self.upstream.says("/versions", Says::bytes(versions.as_str()).header("ETag", &etag).parts(Parts::Right));
    }

    /// Makes it fail from now on.
    pub(super) fn fails(&self) {
        self.upstream.says("/versions", Says::status(500));
    }

    pub(super) fn url(&self) -> String {
        self.upstream.url()
    }

    /// The paths of the requests that it received, each once.
    pub(super) fn asked(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.upstream.asked().into_iter().map(|asked| asked.path).collect();
        paths.sort();
        paths.dedup();
        paths
    }
}

/// A server with a remote repository for each of these upstreams.
pub(super) fn world_with(remotes: &[(&str, &StandIn)]) -> World {
    let world = World::start();
    add(&world, remotes);
    world
}

fn add(world: &World, remotes: &[(&str, &StandIn)]) {
    for (name, upstream) in remotes {
        world.make(&json!({"name": name, "format": "gem", "remote": {"urls": [upstream.url()]}}));
    }
}

/// A server with a settable clock and a remote repository for each of these upstreams.
pub(super) fn world_at(moment: &str, remotes: &[(&str, &StandIn)]) -> World {
    let world = World::start_in_conformance(&[]);
    at(&world, moment);
    add(&world, remotes);
    world
}

/// Sets the clock.
pub(super) fn at(world: &World, moment: &str) {
    let path = format!("/repository/{FIRST}/set_time");
    world.anon().ask("POST", &path, &[("Content-Type", "text/plain")], moment.as_bytes()).expect(200);
}
