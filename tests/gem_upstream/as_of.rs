//! A remote gem repository as of a moment: the versions that its upstream was seen to have by then, including versions
//! that were yanked since.

use super::{REMOTE, Scene};
use crate::world::{Answer, Client, FIRST, Gem, Ruby, World};

crate::world::with_each_client!([a_build_with_a_version_that_was_yanked_since_is_made_again]);

const THEN: &str = "2026-11-04T00:00:00Z";

fn get(world: &World, path: &str) -> Answer {
    world.anon().file(REMOTE, path)
}

fn then(world: &World, path: &str) -> Answer {
    world.anon().file(&format!("{REMOTE}@{THEN}"), path)
}

/// The lists of versions whose bytes do not depend on when they are rendered.
const PATHS: [&str; 8] = [
    "names",
    "info/lamp",
    "info/oil",
    "specs.4.8.gz",
    "latest_specs.4.8.gz",
    "prerelease_specs.4.8.gz",
    "api/v1/dependencies.json?gems=lamp,oil,wick",
    "api/v1/versions/lamp.json",
];

/// On November 3 a client requested lamp 1.1.0 and the lists with it. Later that version was yanked, together with oil
/// 1.0.0, whose gem no client had requested, and other versions appeared. Now it is November 5. Returns the scene and
/// the answers of November 3.
fn history() -> (Scene, Vec<Vec<u8>>) {
    let scene = Scene::at_any_time();
    let admin = scene.upstream.admin();
    admin.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    admin.push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    scene.set_time("2026-11-03T12:00:00Z");
    get(&scene.world, "versions").expect(200);
    let before = PATHS.iter().map(|path| get(&scene.world, path).expect(200).body).collect();
    get(&scene.world, "gems/lamp-1.1.0.gem").expect(200);
    admin.yank(FIRST, "lamp", "1.1.0").expect(200);
    admin.yank(FIRST, "oil", "1.0.0").expect(200);
    admin.push(FIRST, &Gem::new("lamp", "1.2.0")).expect(200);
    admin.push(FIRST, &Gem::new("wick", "1.0.0")).expect(200);
    scene.set_time("2026-11-05T12:00:00Z");
    get(&scene.world, "versions").expect(200);
    (scene, before)
}

#[test]
fn every_protocol_says_what_had_been_seen_by_then_and_a_yanked_gem_that_is_kept_is_there() {
    let (mut scene, before) = history();
    let assert_then = |world: &World| {
        for (path, before) in PATHS.iter().zip(&before) {
            assert!(then(world, path).expect(200).body == *before, "{path}: {}", then(world, path).text());
        }
        let versions = then(world, "versions").expect(200);
        let listed: Vec<&str> = versions.text().lines().skip(2).map(|line| line.rsplit_once(' ').unwrap().0).collect();
        assert_eq!(listed, ["lamp 1.0.0,1.1.0", "oil 1.0.0"]);
        let gem = then(world, "gems/lamp-1.1.0.gem").expect(200);
        assert!(gem.body == Gem::new("lamp", "1.1.0").bytes());
        then(world, "quick/Marshal.4.8/lamp-1.1.0.gemspec.rz").expect(200);
        let gone = then(world, "gems/oil-1.0.0.gem").expect(410);
        assert!(gone.text().contains("`oil-1.0.0` was yanked upstream") && gone.text().contains("2026-11-05T12:00"));
        then(world, "gems/lamp-1.2.0.gem").expect(404);
        then(world, "info/wick").expect(404);
    };
    assert_then(&scene.world);
    let now = get(&scene.world, "info/lamp").expect(200);
    assert!(!now.text().contains("1.1.0") && now.text().contains("1.2.0"), "{}", now.text());
    get(&scene.world, "gems/lamp-1.1.0.gem").expect(404);
    let early = scene.world.anon().file(&format!("{REMOTE}@2026-11-03T11:00:00Z"), "info/lamp").expect(404);
    assert!(early.text().contains("2026-11-03T12:00"), "{}", early.text());

    // The journal and the cache have it, independently of the upstream.
    scene.upstream.stop();
    scene.world.stop();
    scene.world.resume();
    scene.set_time("2026-11-05T12:00:00Z");
    assert_then(&scene.world);
}

fn a_build_with_a_version_that_was_yanked_since_is_made_again(client: Client) {
    let (scene, _) = history();
    let install = |repository: &str| {
        let machine = Ruby::with(client);
        let app = machine.app("app", &scene.world.url(repository), "gem 'lamp', '1.1.0'");
        let said = app.bundle(&["install"]);
        (said, app.ruby("begin; require 'lamp'; puts Lamp::VERSION; rescue LoadError; puts 'none'; end"))
    };
    let (said, version) = install(&format!("{REMOTE}@{THEN}"));
    said.good();
    assert_eq!(version, "1.1.0\n");
    let machine = Ruby::with(client);
    machine.app("app", &scene.world.url(REMOTE), "gem 'lamp', '1.1.0'").bundle(&["install"]).bad();
}
