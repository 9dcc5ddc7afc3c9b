//! Versions that no hook announced are found and reported, and a repository that is behind its upstream is marked as
//! such.

use super::{REMOTE, SECRET, Scene, listing, payload, signature};
use crate::world::Says;
use serde_json::json;

fn announce(scene: &Scene, version: &str) {
    scene.hook(&[("Authorization", &signature(version, SECRET))], &payload(version)).expect(202);
}

/// A figure of the repository in the metrics.
fn gauge(scene: &Scene, name: &str) -> Option<String> {
    let metrics = scene.world.anon().get("/metrics").expect(200);
    let begin = format!("daylight_{name}{{repository=\"{REMOTE}\"}} ");
    metrics.text().lines().find_map(|line| line.strip_prefix(&begin)).map(str::to_owned)
}

#[test]
fn an_hour_of_lost_hooks_is_found_and_said() {
    let scene = Scene::signed();
    scene.lists(&["1.0.0", "1.1.0"]);
    // Before its first hook no hook can be lost.
    scene.at("12:01:05");
    scene.await_version("1.1.0");
    scene.lists(&["1.0.0", "1.1.0", "2.0.0"]);
    announce(&scene, "2.0.0");
    scene.await_version("2.0.0");
    assert_eq!((scene.figure("lost"), gauge(&scene, "hooks_lost_total").as_deref()), (json!(0), Some("0")));
    // The network loses the hooks of an hour. The regular looks continue.
    let mut versions = vec!["1.0.0".to_owned(), "1.1.0".into(), "2.0.0".into()];
    for minute in (5..65).step_by(5) {
        versions.push(format!("3.{minute}.0"));
        scene.lists(&versions.iter().map(String::as_str).collect::<Vec<_>>());
        scene.at(&format!("{}:{:02}:00", 12 + minute / 60, minute % 60));
        scene.await_version(versions.last().unwrap());
    }
    // One hook is late, and is not lost.
    announce(&scene, "3.60.0");
    scene.at("13:10:00");
    super::await_true("eleven are lost", || scene.figure("lost") == 11);
    assert_eq!(gauge(&scene, "hooks_lost_total").as_deref(), Some("11"));
    assert_eq!(gauge(&scene, "hooks_taken_total").as_deref(), Some("2"));
    scene.world.await_log("the upstream has changes that no hook announced");
    assert!(scene.world.log().contains("lamp 3.5.0"), "{}", scene.world.log());
}

#[test]
fn a_version_that_was_announced_and_is_not_seen_has_the_repository_behind() {
    let scene = Scene::signed();
    announce(&scene, "2.0.0");
    scene.at("12:04:59");
    assert_eq!(scene.told()["behind_since"], json!(null));
    assert_eq!(gauge(&scene, "upstream_behind_seconds").as_deref(), Some("0"));
    scene.at("12:05:00");
    assert_eq!(scene.told()["behind_since"], "2026-11-02T12:00:00.000Z");
    assert_eq!(gauge(&scene, "upstream_behind_seconds").as_deref(), Some("300"));
    let ready = scene.world.anon().get("/health/ready").expect(200);
    assert!(ready.text().contains("degraded: repositories behind their upstreams: 1"), "{}", ready.text());
    scene.lists(&["1.0.0", "2.0.0"]);
    scene.at("12:06:00");
    scene.await_version("2.0.0");
    super::await_true("it is behind no more", || scene.told()["behind_since"] == json!(null));
}

#[test]
fn a_hook_that_never_comes_true_is_given_up_after_an_hour() {
    let scene = Scene::signed();
    announce(&scene, "2.0.0");
    for time in ["12:30:00", "12:59:00"] {
        scene.at(time);
        scene.settle();
        assert_eq!(scene.figure("waiting"), 1, "{time}");
    }
    scene.at("13:01:00");
    super::await_true("it is given up", || scene.figure("waiting") == 0);
    assert_eq!((scene.figure("unseen"), scene.told()["behind_since"].clone()), (json!(1), json!(null)));
}

#[test]
fn an_upstream_that_fails_for_minutes_has_the_repository_behind() {
    let scene = Scene::signed();
    scene.upstream.says("/versions", Says::status(500));
    scene.at("12:02:00");
    scene.settle();
    assert_eq!(scene.told()["behind_since"], json!(null));
    scene.at("12:06:00");
    scene.world.admin().get(&format!("/repository/{REMOTE}/versions")).expect(200);
    assert_eq!(scene.told()["behind_since"], "2026-11-02T12:00:00.000Z");
    scene.upstream.says("/versions", listing(&["1.0.0"]));
    scene.at("12:10:00");
    scene.settle();
    assert_eq!(scene.told()["behind_since"], json!(null));
}

#[test]
fn a_start_while_the_upstream_fails_has_the_repository_behind_only_after_minutes() {
    let mut scene = Scene::signed();
    scene.at("12:30:00");
    scene.settle();
    scene.upstream.says("/versions", Says::status(500));
    scene.world.stop();
    scene.world.resume();
    scene.at("12:31:00");
    scene.world.admin().get(&format!("/repository/{REMOTE}/versions")).expect(200);
    super::await_true("it was looked at", || scene.told()["index"]["failure"] != json!(null));
    assert_eq!(scene.told()["behind_since"], json!(null));
    scene.at("12:37:00");
    scene.world.admin().get(&format!("/repository/{REMOTE}/versions")).expect(200);
    assert_eq!(scene.told()["behind_since"], "2026-11-02T12:31:00.000Z");
}

#[test]
fn metrics_name_no_private_repository_to_strangers() {
    let scene = Scene::with(&json!({ "hook_secret": super::REFERENCE, "private": true }));
    announce(&scene, "2.0.0");
    let metrics = scene.world.anon().get("/metrics").expect(200);
    assert!(!metrics.text().contains(REMOTE));
    assert!(
        metrics.text().lines().any(|line| line.starts_with("daylight_hooks_taken_total{repository=\"(other)\"} 1"))
    );
}

#[test]
fn a_restart_does_not_forget_that_a_repository_has_hooks() {
    let mut scene = Scene::signed();
    announce(&scene, "1.0.0");
    scene.at("12:00:30");
    super::await_true("it is written down", || scene.world.files().iter().any(|file| file.ends_with("hooks")));
    scene.world.stop();
    scene.world.resume();
    scene.lists(&["1.0.0", "2.0.0"]);
    scene.at("12:10:00");
    scene.await_version("2.0.0");
    assert_eq!((scene.figure("lost"), scene.figure("last")), (json!(0), json!("2026-11-02T12:00:00.000Z")));
    scene.at("12:16:00");
    super::await_true("one is lost", || scene.figure("lost") == 1);
}
