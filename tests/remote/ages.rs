//! The TTL of an upstream's files, and the answers when the upstream fails.

use super::{JAR, METADATA, Scene, at};
use crate::world::{Says, await_true, metadata};
use serde_json::json;

#[test]
fn a_release_is_asked_for_once_and_for_ever_also_by_a_server_that_was_started_again() {
    let mut scene = Scene::with(&json!({"fresh_s": 0}));
    scene.upstream.file(&format!("/{JAR}"), "lamp");
    scene.get(JAR).expect(200);
    scene.upstream.unplug();
    scene.world.stop();
    scene.world.resume();
    let kept = scene.get(JAR).expect(200);
    assert_eq!((kept.text(), kept.header("daylight-stale")), ("lamp", None));
    assert!(kept.header("cache-control").unwrap().contains("immutable"));
    scene.world.kill();
    scene.world.resume();
    assert_eq!(scene.get(JAR).expect(200).text(), "lamp");
}

#[test]
fn what_changes_is_asked_for_again_with_what_is_known_of_it() {
    let scene = Scene::with(&json!({"fresh_s": 0}));
    let path = format!("/{METADATA}");
    scene.upstream.file(&path, metadata(&["1.0"]));
    scene.get(METADATA).expect(200);
    let again = scene.get(METADATA).expect(200);
    assert_eq!(again.header("cache-status"), Some("daylight; fwd=stale; fwd-status=304"));
    assert_eq!(again.text(), metadata(&["1.0"]));
    let asked = scene.upstream.asked();
    let (first, second) = (&asked[0], &asked[1]);
    assert_eq!((first.header("if-none-match"), second.header("if-none-match").is_some()), (None, true));
    assert_eq!(second.header("if-modified-since"), Some("Thu, 01 Oct 2026 12:00:00 GMT"));
    let before = scene.get(METADATA).header("etag").unwrap().to_owned();
    scene.upstream.file(&path, metadata(&["2.0"]));
    for _ in 0..3 {
        let changed = scene.get(METADATA).expect(200);
        assert_eq!(changed.text(), metadata(&["2.0"]));
        assert_ne!(changed.header("etag").unwrap(), before);
    }
    // A client with the older file does not get a 304.
    scene.client().ask("GET", &at(METADATA), &[("If-None-Match", &before)], b"").expect(200);
}

#[test]
fn what_changes_is_asked_for_again_before_its_time_has_come_with_nobody_waiting() {
    let scene = Scene::at_any_time();
    let path = format!("/{METADATA}");
    scene.upstream.file(&path, metadata(&["1.0"]));
    scene.world.set_time("2026-11-01T12:00:00Z");
    scene.get(METADATA).expect(200);
    scene.world.set_time("2026-11-01T12:13:29Z");
    scene.get(METADATA).expect(200);
    assert_eq!(scene.asked(METADATA), 1, "good for 15 minutes, and not to be asked for in the first 13.5");
    scene.upstream.says(&path, Says::file(metadata(&["2.0"])).silent());
    scene.world.set_time("2026-11-01T12:14:00Z");
    for _ in 0..3 {
        assert_eq!(scene.get(METADATA).expect(200).text(), metadata(&["1.0"]));
    }
    scene.upstream.await_count(&path, 2);
    scene.upstream.release(&path);
    await_true("the metadata is refreshed", || scene.get(METADATA).expect(200).text() == metadata(&["2.0"]));
    scene.world.set_time("2026-11-01T12:20:00Z");
    scene.get(METADATA).expect(200);
    assert_eq!(scene.asked(METADATA), 2);
    scene.world.set_time("2026-11-01T12:29:00Z");
    scene.get(METADATA).expect(200);
    assert_eq!(scene.asked(METADATA), 3, "15 minutes are over: the next request waits");
}

#[test]
fn what_is_missing_is_missing_for_its_time_and_a_page_of_it_no_longer() {
    let scene = Scene::at_any_time();
    scene.world.set_time("2026-11-01T12:00:00Z");
    for _ in 0..4 {
        scene.get(JAR).expect(404);
    }
    scene.upstream.file(&format!("/{JAR}"), "lamp");
    scene.world.set_time("2026-11-01T12:04:59Z");
    scene.get(JAR).expect(404);
    assert_eq!(scene.asked(JAR), 1);
    scene.world.set_time("2026-11-01T12:05:00Z");
    assert_eq!(scene.get(JAR).expect(200).text(), "lamp");
}

#[test]
fn an_upstream_that_says_nothing_keeps_nobody_waiting_who_can_have_what_was_good_last() {
    let scene = Scene::with(&json!({"fresh_s": 0}));
    let path = format!("/{METADATA}");
    scene.upstream.file(&path, metadata(&["1.0"]));
    scene.get(METADATA).expect(200);
    scene.upstream.says(&path, Says::file(metadata(&["2.0"])).silent());
    let stale = scene.get(METADATA).expect(200);
    assert_eq!((stale.text(), stale.header("daylight-stale")), (metadata(&["1.0"]).as_str(), Some("upstream_timeout")));
    scene.upstream.release(&path);
    await_true("the metadata is refreshed", || scene.get(METADATA).expect(200).text() == metadata(&["2.0"]));
}

#[test]
fn when_the_upstream_fails_what_was_good_last_is_given_and_it_says_so() {
    let scene = Scene::with(&json!({"fresh_s": 0}));
    let path = format!("/{METADATA}");
    scene.upstream.file(&path, metadata(&["1.0"]));
    scene.get(METADATA).expect(200);
    for (says, why) in [
        (Says::status(500), "upstream_failed"),
        (Says::status(403), "upstream_forbids"),
        (Says::html(), "upstream_invalid"),
        (Says::bytes(metadata(&["2.0"])).cut_after(9), "upstream_cut"),
    ] {
        scene.upstream.says(&path, says);
        let stale = scene.get(METADATA).expect(200);
        assert_eq!((stale.text(), stale.header("daylight-stale")), (metadata(&["1.0"]).as_str(), Some(why)));
        assert!(stale.header("age").is_some());
    }
    scene.upstream.unplug();
    let stale = scene.get(METADATA).expect(200);
    assert!(stale.header("daylight-stale").is_some_and(|why| why.starts_with("upstream_")));
    assert_eq!(scene.get(&format!("{METADATA}.sha1")).expect(200).body.len(), 40);
}

#[test]
fn what_is_gone_at_the_upstream_is_gone_here() {
    let scene = Scene::with(&json!({"fresh_s": 0, "missing_s": 0}));
    let path = format!("/{METADATA}");
    scene.upstream.file(&path, metadata(&["1.0"]));
    scene.get(METADATA).expect(200);
    scene.upstream.says(&path, Says::status(410));
    scene.get(METADATA).expect(404);
    scene.upstream.says(&path, Says::status(500));
    scene.get(METADATA).expect(502);
}

#[test]
fn only_what_is_proven_missing_is_remembered_as_missing() {
    let scene = Scene::new();
    for _ in 0..4 {
        scene.get(JAR).expect(404);
        scene.get(&format!("{JAR}.sha1")).expect(404);
    }
    assert_eq!((scene.asked(JAR), scene.asked(&format!("{JAR}.sha1"))), (1, 0));
    for (name, status, answers) in
        [("a", 401, 502), ("b", 403, 403), ("c", 500, 502), ("d", 400, 502), ("e", 204, 502), ("f", 451, 502)]
    {
        let path = format!("org/example/{name}/1/{name}-1.jar");
        scene.upstream.says(&format!("/{path}"), Says::status(status));
        scene.get(&path).expect(answers);
        scene.upstream.file(&format!("/{path}"), "now");
        assert_eq!(scene.get(&path).expect(200).text(), "now", "{status}");
    }
}

#[test]
fn a_host_that_asks_to_be_left_alone_is_and_clients_are_told_until_when() {
    let scene = Scene::new();
    scene.upstream.says(&format!("/{JAR}"), Says::status(429).header("Retry-After", "300"));
    for path in [JAR, JAR, "org/example/other/1/other-1.jar"] {
        let answer = scene.get(path).expect(503);
        let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=300).contains(&seconds) && seconds > 200, "{seconds}");
    }
    assert_eq!(scene.upstream.asked().len(), 1);
}
