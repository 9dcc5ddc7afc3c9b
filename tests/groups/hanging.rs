//! A member whose upstream hangs costs a build one timeout, not one for each file.

use super::group;
use crate::accounts::sum;
use crate::world::{Answer, FIRST, Says, Upstream, World, hex, metadata};
use sha1::{Digest, Sha1};

/// Files of a build.
const FILES: usize = 50;

/// A server whose clock stands still, with a group `all` of `ours` (hosted), `hangs` and `good` (remote), in this order.
struct Scene {
    world: World,
    hangs: Upstream,
    good: Upstream,
}

impl Scene {
    fn new() -> Self {
        let world = World::start_in_conformance(&[("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "1")]);
        let scene = Self { world, hangs: Upstream::start(), good: Upstream::start() };
        scene.set_time("2026-11-01T12:00:00Z");
        scene.world.tree("ours", "maven");
        scene.world.remote("hangs", &scene.hangs.url());
        scene.world.remote("good", &scene.good.url());
        group(&scene.world, "all", &["ours", "hangs", "good"]);
        scene
    }

    fn set_time(&self, moment: &str) {
        let path = format!("/repository/{FIRST}/set_time");
        self.world.anon().ask("POST", &path, &[("Content-Type", "text/plain")], moment.as_bytes()).expect(200);
    }

    fn get(&self, path: &str) -> Answer {
        self.world.anon().file("all", path)
    }

    /// Adds a file to `good` that no other member has.
    fn has(&self, name: &str) -> String {
        let path = jar(name);
        self.good.says(&format!("/{path}"), Says::file(name).header("X-Checksum-SHA1", &hex(&Sha1::digest(name))));
        path
    }

    /// Reads a file that only `good` has.
    fn read(&self, name: &str) {
        assert_eq!(self.get(&self.has(name)).expect(200).text(), name);
    }

    /// The number of timeouts of upstreams.
    fn time_outs(&self) -> u64 {
        let metrics = self.world.anon().get("/metrics").expect(200);
        sum(metrics.text(), "daylight_reasons_total{reason=\"upstream_timeout\"}")
    }
}

fn jar(name: &str) -> String {
    format!("org/example/{name}/1.0/{name}-1.0.jar")
}

#[test]
fn a_member_that_hangs_costs_a_build_one_time_out() {
    let scene = Scene::new();
    scene.hangs.says_otherwise(Says::bytes("never").silent());
    for number in 0..FILES {
        scene.read(&format!("a{number}"));
    }
    assert_eq!((scene.time_outs(), scene.hangs.total()), (1, 1));

    // After the pause one call is a trial, and the build continues beside it.
    scene.set_time("2026-11-01T12:00:03Z");
    for number in 0..FILES {
        scene.read(&format!("b{number}"));
    }
    assert_eq!(scene.hangs.total(), 2);

    // Once it answers again, it receives all requests.
    scene.hangs.says_otherwise(Says::status(404));
    scene.set_time("2026-11-01T12:01:00Z");
    let before = scene.hangs.total();
    for number in 0..3 {
        scene.read(&format!("c{number}"));
    }
    assert_eq!(scene.hangs.total(), before + 3);
}

#[test]
fn calls_under_way_to_an_upstream_that_hangs_end_with_the_first_that_finds_it_so() {
    let scene = Scene::new();
    scene.hangs.says_otherwise(Says::bytes("never").silent());
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (anon, path) = (scene.world.anon(), scene.has(&format!("a{number}")));
            scope.spawn(move || anon.file("all", &path).expect(200));
        }
    });
    assert!(scene.time_outs() <= 8 && scene.hangs.total() <= 8);
    for number in 0..FILES {
        scene.read(&format!("b{number}"));
    }
    assert!(scene.hangs.total() <= 8, "nobody asked again");
}

#[test]
fn what_a_hanging_member_said_last_is_in_the_list_and_what_is_kept_waits_for_nobody() {
    let scene = Scene::new();
    let path = "org/example/lamp/maven-metadata.xml";
    scene.hangs.file(&format!("/{path}"), metadata(&["1"]));
    scene.good.file(&format!("/{path}"), metadata(&["2"]));
    scene.world.admin().put("ours", &jar("mine"), b"mine").expect(201);
    scene
        .hangs
        .says(&format!("/{}", jar("kept")), Says::file("kept").header("X-Checksum-SHA1", &hex(&Sha1::digest("kept"))));
    assert_eq!(scene.get(&jar("kept")).expect(200).text(), "kept");
    scene.get(path).expect(200);

    scene.hangs.says(&format!("/{path}"), Says::bytes("never").silent());
    scene.hangs.says_otherwise(Says::bytes("never").silent());
    let asked = scene.hangs.total();
    // One file is hosted, one is cached from an earlier member.
    assert_eq!(scene.get(&jar("mine")).expect(200).text(), "mine");
    assert_eq!(scene.get(&jar("kept")).expect(200).text(), "kept");
    assert_eq!(scene.hangs.total(), asked);

    // An hour later the lists are requested again.
    scene.set_time("2026-11-01T13:00:00Z");
    for _ in 0..3 {
        let list = scene.get(path).expect(200);
        assert!(["<version>1</version>", "<version>2</version>"].iter().all(|version| list.text().contains(version)));
    }
    assert_eq!(scene.hangs.total(), asked + 1);
}
