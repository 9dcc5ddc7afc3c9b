//! A hub in trouble: its map goes on, marked stale; files still come; no client reads what a fault says.

use super::{LAMP, built, lamp};
use crate::world::{Answer, FileTrouble, KojiHub, Trouble, World};
use serde_json::Value;
use std::cell::Cell;
use std::time::Duration;

/// The list of versions of the lamp.
const VERSIONS: &str = "org/example/lamp/maven-metadata.xml";
/// A text that only the hub's operators may read.
const SECRET: &str = "/usr/share/hub/secret.py";

/// A server with a settable clock and a repository of the tags `maven-*` of a hub.
struct Scene {
    hub: KojiHub,
    world: World,
    minute: Cell<u32>,
}

impl Scene {
    fn new(hub: KojiHub) -> Self {
        let scene = Self { hub, world: World::start_in_conformance(&[]), minute: Cell::new(0) };
        scene.later();
        scene.world.koji("builds", &scene.hub, &["maven-*"]);
        scene
    }

    /// Lets 15 minutes pass, so that a look is due and pauses are over.
    fn later(&self) {
        self.minute.set(self.minute.get() + 15);
        let (hours, minutes) = (self.minute.get() / 60, self.minute.get() % 60);
        self.world.set_time(&format!("2027-01-02T{hours:02}:{minutes:02}:00Z"));
    }

    /// A file, whose answer tells nothing that is for the hub's operators.
    fn get(&self, path: &str) -> Answer {
        let answer = self.world.anon().file("builds", path);
        let all = format!("{:?}{}", answer.headers, String::from_utf8_lossy(&answer.body));
        assert!(!all.contains(SECRET) && !all.contains("Traceback"), "{all}");
        answer
    }

    /// Why the list of versions is stale, if it is.
    fn stale(&self) -> Option<String> {
        let answer = self.get(VERSIONS).expect(200);
        assert!(answer.text().contains("<version>1.0</version>"), "{}", answer.text());
        answer.header("daylight-stale").map(str::to_owned)
    }
}

/// A lamp with this number of files besides its JAR and POM.
fn lamp_of(hub: &KojiHub, files: usize) -> u64 {
    let mut build = hub.build("org.example-lamp", "1.0", "1").digest("sha256").pom(&format!("{LAMP}/lamp-1.0.pom"));
    for at in 0..files {
        build = build.file(&part(at), format!("part {at}").as_bytes());
    }
    build.make()
}

fn part(at: usize) -> String {
    format!("{LAMP}/lamp-1.0-part{at}.jar")
}

fn troubles() -> Vec<Trouble> {
    let traceback = format!("Traceback (most recent call last):\n  File \"{SECRET}\", line 1\n<class 'KeyError'>: 'x'");
    let nested = "<value><array><data>".repeat(20_000);
    let entities = "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">\
        <!ENTITY c SYSTEM \"file:///etc/passwd\">]><methodResponse><params><param><value><string>&b;&c;</string></value>\
        </param></params></methodResponse>";
    let long = format!("<methodResponse><params><param><value><string>{}", "x".repeat(2 * 1024 * 1024));
    vec![
        Trouble::Offline,
        Trouble::Fault(1, traceback.clone()),
        Trouble::Fault(1000, traceback),
        Trouble::Status(503),
        Trouble::Status(400),
        Trouble::Closed,
        Trouble::Cut(40),
        Trouble::Garbage,
        Trouble::Body(Vec::new()),
        Trouble::Body(b"<!DOCTYPE html><html><body>Please sign in</body></html>".to_vec()),
        Trouble::Body(format!("<methodResponse><params><param>{nested}").into_bytes()),
        Trouble::Body(entities.as_bytes().to_vec()),
        Trouble::Body(long.into_bytes()),
        Trouble::Body(vec![b'<'; 4096]),
    ]
}

#[test]
fn a_map_outlives_every_trouble_of_its_hub_and_files_still_come() {
    let hub = KojiHub::start();
    let (tag, troubles) = (hub.tag("maven-release"), troubles());
    hub.tag_build(tag, lamp_of(&hub, troubles.len() + 2));
    let scene = Scene::new(hub);
    assert_eq!(scene.stale(), None);
    for (at, trouble) in troubles.into_iter().enumerate() {
        let told = format!("{trouble:.80?}");
        scene.hub.trouble(trouble);
        let rounds = scene.hub.rounds();
        scene.later();
        let stale = scene.stale();
        assert!(stale.as_ref().is_some_and(|why| why.starts_with("upstream_")), "{told}: {stale:?}");
        assert!(scene.hub.rounds() > rounds, "{told}: nothing was asked");
        assert_eq!(scene.get(&part(at)).expect(200).text(), format!("part {at}"), "{told}");
        assert!(
            scene.get("org/example/lamp/9.9/lamp-9.9.jar").expect(404).header("daylight-stale").is_some(),
            "{told}"
        );
        scene.hub.well();
        scene.later();
        assert_eq!(scene.stale(), None, "{told}");
    }
    assert_eq!(scene.hub.logins(), 0);
}

#[test]
fn an_answer_with_members_that_nobody_knows_is_one_and_so_is_a_slow_one() {
    let hub = KojiHub::start();
    hub.tag_build(hub.tag("maven-release"), lamp(&hub));
    let scene = Scene::new(hub);
    scene.hub.trouble(Trouble::Padded(3_000_000));
    assert_eq!(scene.stale(), None);
    scene.hub.trouble(Trouble::Slow(Duration::from_millis(300)));
    scene.later();
    assert_eq!(scene.stale(), None);
    scene.hub.well();
    scene.hub.compresses(true);
    scene.later();
    assert_eq!(scene.stale(), None);
    assert_eq!(scene.get(&format!("{LAMP}/lamp-1.0.jar")).expect(200).body, b"org.example-lamp");
}

#[test]
fn before_the_first_map_nothing_is_said_to_be_missing() {
    let hub = KojiHub::start();
    hub.tag_build(hub.tag("maven-release"), lamp(&hub));
    let scene = Scene::new(hub);
    let jar = format!("{LAMP}/lamp-1.0.jar");
    for trouble in [Trouble::Offline, Trouble::Fault(1, format!("Traceback {SECRET}")), Trouble::Garbage] {
        scene.hub.trouble(trouble);
        scene.later();
        for path in [jar.as_str(), VERSIONS, "org/example/never/1.0/never-1.0.jar"] {
            let refused = scene.get(path).expect(503);
            assert!(refused.header("retry-after").is_some(), "{path}: {:?}", refused.headers);
        }
    }
    scene.hub.well();
    scene.later();
    assert_eq!(scene.get(&jar).expect(200).body, b"org.example-lamp");
    scene.get("org/example/never/1.0/never-1.0.jar").expect(404);
}

#[test]
fn a_tag_that_is_gone_takes_nothing_with_it() {
    let hub = KojiHub::start();
    let tag = hub.tag("maven-release");
    hub.tag_build(tag, lamp(&hub));
    let scene = Scene::new(hub);
    assert_eq!(scene.stale(), None);
    scene.hub.delete_tag(tag);
    scene.later();
    // Whether or not it is stale by then, it is there.
    scene.stale();
    assert_eq!(scene.get(&format!("{LAMP}/lamp-1.0.jar")).expect(200).body, b"org.example-lamp");
}

#[test]
fn names_that_would_lead_out_of_the_files_are_left_out() {
    // The real hub refuses such names as far as it knows; a stand-in takes all.
    let hub = KojiHub::stand_in();
    let tag = hub.tag("maven-release");
    let build = hub.build("org.example-lamp", "1.0", "1").pom(&format!("{LAMP}/lamp-1.0.pom"));
    let build =
        build.file(&format!("{LAMP}/.."), b"up").file("../../x/lamp.jar", b"up").file("org/../1.0/lamp-1.0.jar", b"up");
    // A percent sign stands for itself: no request for this file leads out.
    let build = build.file(&format!("{LAMP}/a%2f..%2fb.jar"), b"up").file(&format!("{LAMP}/a\\..\\b.jar"), b"up");
    hub.tag_build(tag, build.make());
    hub.tag_build(tag, built(&hub, "..", "1.0", "org/example/oil/1.0"));
    hub.tag_build(tag, built(&hub, "org.example-wick", "../..", "org/example/wick/1.0"));
    let moved = built(&hub, "org.example-glass", "1.0", "org/example/glass/1.0");
    hub.move_build(moved, "..");
    hub.tag_build(tag, moved);
    let scene = Scene::new(hub);
    assert_eq!(scene.stale(), None);
    let told = scene.world.admin().get("/api/v1/repositories/builds").expect(200).json();
    let left_out: u64 = told["koji"]["left_out"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(left_out, 4 + 3, "four files, and three builds: {told}");
    for name in ["oil", "wick", "glass"] {
        scene.get(&format!("org/example/{name}/1.0/{name}-1.0.jar")).expect(404);
    }
    for path in ["../../x/lamp.jar", "%2e%2e/lamp.jar"] {
        let status = scene.get(path).status;
        assert!(matches!(status, 400 | 404), "{path}: {status}");
    }
    scene.get(&format!("{LAMP}/lamp-1.0.pom")).expect(200);
    let out = |path: &&String| path.split('/').any(|part| part == ".." || part.contains('%') || part.contains('\\'));
    let gets = scene.hub.file_gets();
    assert_eq!(gets.iter().find(out), None);
    assert_eq!(gets, [format!("packages/org.example-lamp/1.0/1/maven/{LAMP}/lamp-1.0.pom")]);
}

#[test]
fn a_hub_is_asked_once_for_a_tag_and_never_for_a_build() {
    let hub = KojiHub::start();
    let tags = [hub.tag("maven-release"), hub.tag("maven-other")];
    hub.tag_build(tags[0], lamp_of(&hub, 20));
    hub.tag_build(tags[1], built(&hub, "org.example-oil", "1.0", "org/example/oil/1.0"));
    let scene = Scene::new(hub);
    assert_eq!(scene.stale(), None);
    assert!(scene.hub.rounds() <= 1 + tags.len() as u64, "{:?}", scene.hub.said());
    scene.hub.forget_counts();
    for at in 0..20 {
        scene.get(&part(at)).expect(200);
        scene.get(&format!("{}.sha1", part(at))).expect(200);
        scene.get(&format!("org/example/lamp/{at}/lamp-{at}.jar")).expect(404);
    }
    assert_eq!((scene.hub.rounds(), scene.hub.file_gets().len()), (0, 20));
    scene.later();
    assert_eq!(scene.stale(), None);
    scene.hub.forget_counts();
    scene.later();
    assert_eq!(scene.stale(), None);
    assert_eq!(scene.hub.rounds(), 1, "{:?}", scene.hub.said());
    assert!(scene.hub.round_bytes()[0] <= 10_000 * tags.len() as u64, "{:?}", scene.hub.round_bytes());
    scene.hub.tag_build(tags[0], built(&scene.hub, "org.example-lamp", "1.1", "org/example/lamp/1.1"));
    scene.hub.forget_counts();
    scene.later();
    let listed = scene.get(VERSIONS).expect(200);
    assert!(listed.text().contains("<version>1.1</version>"), "{}", listed.text());
    assert!(scene.hub.rounds() <= 3, "{:?}", scene.hub.said());
    assert_eq!(scene.hub.logins(), 0);
}

#[test]
fn a_file_is_held_against_the_size_and_digest_of_the_hub() {
    let hub = KojiHub::start();
    hub.tag_build(hub.tag("maven-release"), lamp(&hub));
    let scene = Scene::new(hub);
    assert_eq!(scene.stale(), None);
    let jar = format!("{LAMP}/lamp-1.0.jar");
    for trouble in [FileTrouble::Wrong, FileTrouble::Short, FileTrouble::Status(500)] {
        scene.hub.file_trouble(trouble);
        let status = scene.get(&jar).status;
        assert!((500..600).contains(&status), "{trouble:?}: {status}");
        scene.later();
    }
    scene.hub.file_trouble(FileTrouble::Slow(Duration::from_millis(100)));
    assert_eq!(scene.get(&jar).expect(200).body, b"org.example-lamp");
    scene.hub.files_well();
}
