//! Every protocol of gem clients, answered from the compact index of the upstream.

use super::{REMOTE, Scene};
use crate::world::{FIRST, Gem, World};

/// The requests of clients of every age.
const PATHS: &[&str] = &[
    "versions",
    "names",
    "info/lamp",
    "specs.4.8.gz",
    "latest_specs.4.8.gz",
    "prerelease_specs.4.8.gz",
    "quick/Marshal.4.8/lamp-1.0.0.gemspec.rz",
    "gems/lamp-2.0.0.pre1.gem",
    "api/v1/dependencies.json?gems=lamp,oil,nothing",
    "api/v1/dependencies?gems=lamp,oil",
];

fn said(world: &World, repository: &str, path: &str) -> Vec<u8> {
    let answer = world.anon().get(&format!("/repository/{repository}/{path}")).expect(200);
    answer.body.to_vec()
}

#[test]
fn every_protocol_says_what_the_upstream_says_and_follows_it() {
    let scene = Scene::at_any_time();
    let admin = scene.upstream.admin();
    admin.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    admin.push(FIRST, &Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")).expect(200);
    admin.push(FIRST, &Gem::new("lamp", "2.0.0.pre1").needs("oil", ">= 1.0")).expect(200);
    for path in PATHS {
        assert!(said(&scene.world, REMOTE, path) == said(&scene.upstream, FIRST, path), "{path}");
    }
    admin.push(FIRST, &Gem::new("wick", "1.0.0")).expect(200);
    admin.push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    admin.yank(FIRST, "oil", "1.0.0").expect(200);
    scene.later();
    // The index first: who reads it asks for what it names.
    for path in PATHS.iter().chain(&["info/wick", "info/oil", "gems/lamp-1.1.0.gem"]) {
        assert!(said(&scene.world, REMOTE, path) == said(&scene.upstream, FIRST, path), "{path} later");
    }
    scene.world.anon().get(&format!("/repository/{REMOTE}/gems/oil-1.0.0.gem")).expect(404);
}
