//! Hooks for Maven and raw repositories, and for groups of them: the cached documents are fetched again.

use super::{at, await_true};
use crate::world::{Upstream, World, metadata};
use serde_json::{Value, json};

const METADATA: &str = "org/example/lamp/maven-metadata.xml";

/// A server with a settable clock and a group `all` of `ours` (hosted) and `central` (remote).
struct Scene {
    upstream: Upstream,
    world: World,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { upstream: Upstream::start(), world: World::start_in_conformance(&[]) };
        scene.world.remote("central", &scene.upstream.url());
        scene.world.tree("ours", "maven");
        scene.world.make(&json!({ "name": "all", "format": "maven", "members": ["ours", "central"] }));
        at(&scene.world, "12:00:00");
        scene.upstream.file(&format!("/{METADATA}"), metadata(&["1.0"]));
        scene
    }

    fn hook(&self, repository: &str, body: &Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.world.anon().ask("POST", &format!("/hooks/{repository}"), &[], body.as_bytes()).expect(202);
    }

    fn lists(&self, repository: &str, version: &str) -> bool {
        let document = self.world.anon().file(repository, METADATA).expect(200);
        document.text().contains(&format!("<version>{version}</version>"))
    }

    fn figure(&self, repository: &str, name: &str) -> Value {
        let told = self.world.admin().get(&format!("/api/v1/repositories/{repository}")).expect(200);
        told.json()["hooks"][name].clone()
    }
}

#[test]
fn metadata_that_a_hook_names_is_fetched_again_for_the_repository_and_for_its_groups() {
    let lamp = json!({ "group": "org.example", "artifact": "lamp", "version": "2.0" });
    for (hooked, body) in [
        ("central", lamp.clone()),
        ("all", lamp.clone()),
        ("all", json!({ "path": "org/example/lamp" })),
        ("central", json!({ "path": METADATA })),
        ("all", Value::Null),
    ] {
        let scene = Scene::new();
        assert!(scene.lists("central", "1.0") && scene.lists("all", "1.0"));
        scene.upstream.file(&format!("/{METADATA}"), metadata(&["1.0", "2.0"]));
        at(&scene.world, "12:00:05");
        assert!(
            !scene.lists("central", "2.0") && !scene.lists("all", "2.0"),
            "the cached document is fresh for 15 minutes"
        );
        scene.hook(hooked, &body);
        await_true(&format!("{hooked} {body}"), || scene.lists("all", "2.0") && scene.lists("central", "2.0"));
    }
}

#[test]
fn a_version_behind_a_stale_cache_is_asked_for_again_until_it_is_listed() {
    let scene = Scene::new();
    assert!(scene.lists("all", "1.0"));
    at(&scene.world, "12:00:05");
    scene.hook("all", &json!({ "group": "org.example", "artifact": "lamp", "version": "2.0" }));
    let path = format!("/{METADATA}");
    scene.upstream.await_count(&path, 2);
    assert_eq!(scene.figure("central", "waiting"), 1);
    scene.upstream.file(&path, metadata(&["1.0", "2.0"]));
    at(&scene.world, "12:00:07");
    await_true("it is listed", || scene.lists("all", "2.0"));
    await_true("it waits no more", || scene.figure("central", "waiting") == 0);
    assert_eq!((scene.figure("central", "lag_ms"), scene.figure("all", "taken")), (json!(2_000), json!(1)));
}

#[test]
fn a_file_that_was_proven_missing_is_asked_for_again() {
    let scene = Scene::new();
    let pom = "org/example/lamp/2.0/lamp-2.0.pom";
    let body = "<project><groupId>org.example</groupId><artifactId>lamp</artifactId><version>2.0</version></project>";
    for repository in ["all", "central"] {
        scene.world.anon().file(repository, pom).expect(404);
    }
    scene.upstream.file(&format!("/{pom}"), body);
    at(&scene.world, "12:00:05");
    scene.world.anon().file("all", pom).expect(404);
    scene.hook("all", &json!({ "group": "org.example", "artifact": "lamp", "version": "2.0" }));
    for repository in ["all", "central"] {
        assert_eq!(scene.world.anon().file(repository, pom).expect(200).text(), body);
    }
}

#[test]
fn ten_thousand_replays_fetch_metadata_a_few_times() {
    let scene = Scene::new();
    assert!(scene.lists("central", "1.0"));
    let path = format!("/{METADATA}");
    let (anon, mut connection) = (scene.world.anon(), scene.world.anon().connect().unwrap());
    let body = json!({ "group": "org.example", "artifact": "lamp" }).to_string();
    for second in 0..100 {
        at(&scene.world, &format!("12:{:02}:{:02}", second / 60, second % 60));
        for _ in 0..100 {
            anon.on(&mut connection, "POST", "/hooks/central", &[], body.as_bytes()).unwrap().expect(202);
        }
    }
    assert!((2..=9).contains(&scene.upstream.count(&path)), "{}", scene.upstream.count(&path));
}

#[test]
fn a_raw_file_that_may_change_is_asked_for_again() {
    let scene = Scene::new();
    let remote = json!({ "urls": [scene.upstream.url()], "fresh_s": 900 });
    scene.world.make(&json!({ "name": "tools", "format": "raw", "remote": remote }));
    let get = || scene.world.anon().file("tools", "wrapper/latest.txt").expect(200).text().to_owned();
    scene.upstream.file("/wrapper/latest.txt", "1");
    assert_eq!(get(), "1");
    scene.upstream.file("/wrapper/latest.txt", "2");
    at(&scene.world, "12:00:05");
    assert_eq!(get(), "1");
    scene.hook("tools", &json!({ "path": "wrapper/latest.txt" }));
    await_true("the new one", || get() == "2");
}
