//! A remote gem repository as of a moment: the versions that its upstream was seen to have by then, including versions
//! that were yanked since.

use super::Scene;
use crate::world::FIRST;

const THEN: &str = "2026-11-04T00:00:00Z";

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

#[test]
fn every_protocol_says_what_had_been_seen_by_then_and_a_yanked_gem_that_is_kept_is_there() {
    let mut scene = Scene::new();
    scene.publish("oil", "1.0.0");
    scene.publish("lamp", "1.0.0");
    let lamp = scene.publish("lamp", "1.1.0");
    // On November 3 a client requested lamp 1.1.0 and the lists with it. Later that version was yanked, together with
    // oil 1.0.0, whose gem no client had requested, and other versions appeared.
    scene.day(3);
    scene.get("versions").expect(200);
    let before = PATHS.map(|path| scene.get(path).expect(200).body);
    scene.get("gems/lamp-1.1.0.gem").expect(200);
    for (name, version) in [("lamp", "1.1.0"), ("oil", "1.0.0")] {
        scene.upstream.admin().yank(FIRST, name, version).expect(200);
    }
    scene.publish("lamp", "1.2.0");
    scene.publish("wick", "1.0.0");
    scene.day(5);
    scene.get("versions").expect(200);
    let assert_then = |scene: &Scene| {
        let then = |path: &str| scene.then(THEN, path);
        for (path, before) in PATHS.iter().zip(&before) {
            assert!(then(path).expect(200).body == *before, "{path}: {}", then(path).text());
        }
        let versions = then("versions").expect(200);
        let listed: Vec<&str> = versions.text().lines().skip(2).map(|line| line.rsplit_once(' ').unwrap().0).collect();
        assert_eq!(listed, ["lamp 1.0.0,1.1.0", "oil 1.0.0"]);
        assert!(then("gems/lamp-1.1.0.gem").expect(200).body == lamp.bytes());
        then("quick/Marshal.4.8/lamp-1.1.0.gemspec.rz").expect(200);
        let gone = then("gems/oil-1.0.0.gem").expect(410);
        assert!(gone.text().contains("`oil-1.0.0` was yanked upstream") && gone.text().contains("2026-11-05T12:00"));
        then("gems/lamp-1.2.0.gem").expect(404);
        then("info/wick").expect(404);
    };
    assert_then(&scene);
    let now = scene.get("info/lamp").expect(200);
    assert!(!now.text().contains("1.1.0") && now.text().contains("1.2.0"), "{}", now.text());
    scene.get("gems/lamp-1.1.0.gem").expect(404);
    let early = scene.then("2026-11-03T11:00:00Z", "info/lamp").expect(404);
    assert!(early.text().contains("2026-11-03T12:00"), "{}", early.text());

    // The journal and the cache have it, independently of the upstream.
    scene.upstream.stop();
    scene.world.stop();
    scene.world.resume();
    scene.day(5);
    assert_then(&scene);
}
