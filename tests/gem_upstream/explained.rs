//! Explanations for operators about a remote gem repository. They call no upstream.

use super::{REMOTE, Scene, WEEK_S, set};
use crate::world::{Upstream, World};
use serde_json::{Value, json};

fn explain(world: &World, path: &str) -> Value {
    world.admin().get(&format!("/api/v1/explain?repository={REMOTE}&path={path}")).expect(200).json()
}

#[test]
fn the_event_of_an_answer_without_an_index_has_the_reason_and_what_to_do() {
    let world = World::start();
    let why = |repository: &str| {
        let answer = world.anon().file(repository, "versions").expect(502);
        let told = world.event(answer.header("daylight-event").unwrap());
        told["detail"].as_str().unwrap().to_owned()
    };
    // The remote repository of a new data folder.
    assert_eq!(why("rubygems"), "`rubygems` has no upstream; hint: `daylight repo set rubygems --remote URL` names it");
    let address = Upstream::start().address();
    world.remote_of("gem", REMOTE, &format!("http://{address}/"));
    assert!(why(REMOTE).contains(&format!("nothing listens on `{address}`")), "{}", why(REMOTE));
}

#[test]
fn an_answer_is_explained_by_the_line_of_the_index_the_first_sight_and_the_state_of_the_upstream() {
    let mut scene = Scene::new();
    scene.publish("lamp", "1.0.0");
    scene.day(3);
    scene.get("versions").expect(200);
    scene.publish("lamp", "1.1.0");
    scene.day(10);
    for path in ["versions", "info/lamp", "gems/lamp-1.0.0.gem"] {
        scene.get(path).expect(200);
    }
    set(&scene.world, &json!({ "cooldown_s": WEEK_S, "private_prefixes": ["acme-"] }));
    scene.upstream.stop();
    scene.day(11);
    scene.get("versions").expect(200);

    let world = &scene.world;
    let assert_told = |path: &str, status: u16, parts: &[&str]| {
        let told = explain(world, path);
        assert_eq!((&told["status"], &told["layer"]), (&json!(status), &json!("remote")), "{told:#}");
        let detail = told["detail"].as_str().unwrap();
        assert!(parts.iter().all(|part| detail.contains(part)), "{path}: {detail}");
    };
    let looked = "was checked on 2026-11-11T12:00:00.000Z, and the answered state was verified on 2026-11-10T12:00";
    assert_told("versions", 200, &[looked, "requests fail since then: "]);
    let young =
        "`lamp:1.1.0` is hidden by the policy of `upstream-gems`: versions are hidden until they are 7 days old";
    let kept = "`info/lamp` is in the cache since 2026-11-10T12:00:00.000Z, with that MD5";
    assert_told("info/lamp", 200, &["`/versions` lists 2 versions of `lamp`", young, kept, looked]);
    let seen = "first seen here on 2026-11-10T12:00:00.000Z";
    assert_told("gems/lamp-1.1.0.gem", 403, &[young, seen, "`gems/lamp-1.1.0.gem` is not in the cache"]);
    assert_told("gems/lamp-1.0.0.gem", 200, &["`gems/lamp-1.0.0.gem` is in the cache since 2026-11-10"]);
    assert_told("quick/Marshal.4.8/lamp-1.1.0.gemspec.rz", 403, &[young, seen]);
    assert_told("info/nothing", 404, &["`/versions` never listed `nothing`"]);

    let shown = world.admin().get(&format!("/api/v1/repositories/{REMOTE}")).expect(200).json();
    let index = &shown["index"];
    assert_eq!((&index["names"], &index["held_back"]), (&json!(1), &Value::Null), "{shown:#}");
    assert_eq!(index["looked_at"], "2026-11-11T12:00:00.000Z");
    assert!(index["proven"].as_str().unwrap().starts_with("2026-11-10T12:00") && index["failure"].is_string());
    let contents = world.admin().get(&format!("/api/v1/repositories/{REMOTE}/contents")).expect(200);
    assert!(
        contents.text().contains("gems/lamp-1.0.0.gem") && contents.text().contains("info/lamp"),
        "{}",
        contents.text()
    );
}
