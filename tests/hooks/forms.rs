//! The forms of hooks: that of RubyGems, that of its Bundler API, and a plain one.

use super::{HOOK, SECRET, Scene, payload, signature};
use crate::world::hex;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::{Digest, Sha256};

#[test]
fn a_hook_of_rubygems_has_its_version_seen_at_once_signed_with_the_key_or_its_hash() {
    let scene = Scene::signed();
    let hashed = hex(&Sha256::digest(SECRET));
    for (version, key) in [("2.0.0", SECRET), ("3.0.0", hashed.as_str())] {
        scene.lists(&["1.0.0", "2.0.0", version]);
        assert!(!scene.lists_now(version));
        let taken = scene.hook(&[("Authorization", &signature(version, key))], &payload(version)).expect(202);
        assert_eq!(taken.header("cache-control"), Some("no-store"));
        scene.await_version(version);
    }
    let expected = json!({ "taken": 2, "refused": 0, "lost": 0, "unseen": 0, "waiting": 0,
        "last": "2026-11-02T12:00:00.000Z", "last_seen": "2026-11-02T12:00:00.000Z", "lag_ms": 0 });
    super::await_true("both are seen", || scene.told()["hooks"] == expected);
}

#[test]
fn a_yank_is_looked_for_until_the_version_is_gone() {
    let scene = Scene::signed();
    let yanked = payload("1.0.0").replace("false", "true");
    scene.hook(&[("Authorization", &signature("1.0.0", SECRET))], &yanked).expect(202);
    scene.upstream.await_count("/versions", 2);
    super::await_true("it waits", || scene.figure("waiting") == 1);
    scene.upstream.says("/versions", super::listing(&["1.0.0", "-1.0.0"]));
    scene.at("12:00:02");
    super::await_true("it is gone", || scene.figure("waiting") == 0);
    assert_eq!(scene.figure("lag_ms"), 2_000);
}

#[test]
fn the_form_of_the_bundler_api_has_its_token_in_the_body() {
    let scene = Scene::signed();
    let body = |token: &str| {
        json!({ "name": "lamp", "version": "2.0.0", "platform": "java", "prerelease": false, "rubygems_token": token })
            .to_string()
    };
    let post = |path: &str, token: &str| scene.world.anon().ask("POST", path, &[], body(token).as_bytes());
    let add = format!("{HOOK}/add_spec.json");
    for path in [HOOK, &add, &format!("{HOOK}/remove_spec.json")] {
        post(path, "wrong").expect(403);
    }
    scene.lists(&["1.0.0", "2.0.0-java"]);
    post(&add, SECRET).expect(202);
    scene.await_version("2.0.0-java");
    scene.upstream.says("/versions", super::listing(&["1.0.0", "2.0.0-java", "-2.0.0-java"]));
    post(&format!("{HOOK}/remove_spec.json"), SECRET).expect(202);
    super::await_true("it is gone", || !scene.lists_now("2.0.0-java") || scene.lists_now("-2.0.0-java"));
    post(HOOK, SECRET).expect(202);
    scene.world.anon().ask("POST", &add, &[("Authorization", "Bearer hush")], b"").expect(400);
}

#[test]
fn a_plain_hook_shows_the_secret_or_signs_its_body_and_may_say_nothing() {
    let scene = Scene::signed();
    let body = r#"{"name": "lamp", "version": "2.0.0"}"#;
    let mut hmac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    hmac.update(body.as_bytes());
    let signed = format!("sha256={}", hex(&hmac.finalize().into_bytes()));
    scene.lists(&["1.0.0", "2.0.0"]);
    scene.hook(&[("X-Hub-Signature-256", &signed)], body).expect(202);
    scene.await_version("2.0.0");
    scene.hook(&[("X-Hub-Signature-256", &signed)], &body.replace("2.0", "3.0")).expect(403);
    scene.lists(&["1.0.0", "2.0.0", "3.0.0"]);
    scene.hook(&[("Authorization", "Bearer hush")], "").expect(202);
    scene.await_version("3.0.0");
    scene.at("12:00:02");
    scene.lists(&["1.0.0", "2.0.0", "3.0.0", "4.0.0"]);
    scene.hook(&[("X-Gitlab-Token", SECRET)], r#"{"object_kind": "push", "project": {"name": "lamp"}}"#).expect(202);
    scene.await_version("4.0.0");
    for odd in ["lamp", "[]", r#"{"name": 3}"#, r#"{"name": "a\nb 1.0"}"#] {
        scene.hook(&[("Authorization", "Bearer hush")], odd).expect(400);
    }
}
