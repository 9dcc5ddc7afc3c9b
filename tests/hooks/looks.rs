//! The times at which hooks cause looks at an upstream, and how soon clients see a publication.

use super::{HOOK, SECRET, Scene, listing, payload, signature};
use crate::world::{Answer, FIRST, World};
use serde_json::json;

/// The hook for a version, as RubyGems sends it.
fn announce(scene: &Scene, version: &str) -> Answer {
    scene.hook(&[("Authorization", &signature(version, SECRET))], &payload(version)).expect(202)
}

#[test]
fn a_version_behind_a_stale_cache_is_looked_for_after_longer_and_longer_until_it_is_seen() {
    let scene = Scene::signed();
    announce(&scene, "2.0.0");
    scene.upstream.await_count("/versions", 2);
    let mut looked = vec![0];
    for second in 1..60 {
        scene.at(&format!("12:00:{second:02}"));
        if [2, 7, 17, 47].contains(&second) {
            scene.upstream.await_count("/versions", 2 + looked.len());
        }
        if scene.looks() > 1 + looked.len() {
            looked.push(second);
        }
    }
    // Because of the hook or of the regular work, whichever comes first.
    assert_eq!(looked, [0, 2, 7, 17, 47]);
    assert_eq!(scene.told()["behind_since"], json!(null));
    scene.lists(&["1.0.0", "2.0.0"]);
    scene.at("12:01:47");
    scene.await_version("2.0.0");
    super::await_true("it is seen", || scene.figure("lag_ms") == 107_000);
    assert_eq!(scene.figure("waiting"), 0);
}

#[test]
fn a_cache_that_says_how_long_it_goes_on_is_not_asked_before() {
    let scene = Scene::signed();
    let old = listing(&["1.0.0"]).header("Age", "20").header("Cache-Control", "public, max-age=60");
    scene.upstream.says("/versions", old);
    announce(&scene, "2.0.0");
    scene.upstream.await_count("/versions", 2);
    // The second look is not postponed: after a soft purge a cache serves the older index once.
    scene.at("12:00:02");
    scene.upstream.await_count("/versions", 3);
    for time in ["12:00:07", "12:00:17", "12:00:29"] {
        scene.at(time);
        scene.world.admin().get("/repository/upstream-gems/versions").expect(200);
    }
    assert_eq!(scene.looks(), 3);
    scene.lists(&["1.0.0", "2.0.0"]);
    scene.at("12:00:42");
    scene.await_version("2.0.0");
}

#[test]
fn what_is_listed_already_causes_no_look() {
    let scene = Scene::signed();
    for _ in 0..20 {
        announce(&scene, "1.0.0");
    }
    scene.at("12:00:20");
    scene.settle();
    assert_eq!((scene.looks(), scene.figure("taken"), scene.figure("waiting")), (2, json!(20), json!(0)));
}

/// Sends a hook 10,000 times within two minutes. Returns the number of looks at the upstream.
fn replayed(scene: &Scene, headers: &[(&str, &str)], body: &str) -> usize {
    let before = scene.looks();
    let (anon, mut connection) = (scene.world.anon(), scene.world.anon().connect().unwrap());
    for second in 0..120 {
        scene.at(&format!("12:{:02}:{:02}", second / 60, second % 60));
        for _ in 0..84 {
            anon.on(&mut connection, "POST", HOOK, headers, body.as_bytes()).unwrap().expect(202);
        }
    }
    let looks = scene.looks() - before;
    assert!(scene.figure("taken").as_u64().unwrap() >= 10_000);
    looks
}

#[test]
fn ten_thousand_replays_cost_at_most_eight_looks_in_two_minutes() {
    let scene = Scene::signed();
    let signed = signature("9.0.0", SECRET);
    let looks = replayed(&scene, &[("Authorization", &signed)], &payload("9.0.0"));
    assert!((2..=8).contains(&looks), "{looks} looks");
    // Also a hook that names nothing, which may mean another change each time.
    let scene = Scene::signed();
    let looks = replayed(&scene, &[("Authorization", "Bearer hush")], "");
    assert!((2..=8).contains(&looks), "{looks} looks");
}

#[test]
fn each_of_many_pushes_within_two_minutes_is_seen_at_once() {
    let scene = Scene::signed();
    let mut versions = vec!["1.0.0".to_owned()];
    for second in (0..60).step_by(3) {
        scene.at(&format!("12:00:{second:02}"));
        versions.push(format!("2.{second}.0"));
        scene.lists(&versions.iter().map(String::as_str).collect::<Vec<_>>());
        announce(&scene, versions.last().unwrap());
        scene.await_version(versions.last().unwrap());
    }
    super::await_true("nothing waits", || scene.figure("waiting") == 0);
    assert_eq!(scene.figure("lag_ms"), 0);
}

#[test]
fn an_index_that_nobody_asks_for_is_looked_at_within_the_hour_if_it_ever_was() {
    let mut scene = Scene::signed();
    scene.world.remote_of("gem", "never", &(scene.upstream.url() + "never"));
    scene.world.stop();
    scene.world.resume();
    scene.at("12:10:00");
    scene.lists(&["1.0.0", "2.0.0"]);
    // There was no client since the start. The regular work may be slower than this clock, so the clock advances until
    // there were two looks.
    let mut minute = 10;
    super::await_true("two looks", || {
        minute += 1;
        scene.at(&format!("{}:{:02}:00", 12 + minute / 60 % 11, minute % 60));
        scene.looks() == 3
    });
    assert_eq!(scene.upstream.count_of("never"), 0);
    assert!(scene.lists_now("2.0.0"));
}

#[test]
fn a_hook_for_an_index_that_was_never_asked_for_fetches_none() {
    let world = World::start();
    let upstream = crate::world::Upstream::start();
    world.remote_of("gem", "never", &upstream.url());
    world.anon().ask("POST", "/hooks/never", &[], payload("2.0.0").as_bytes()).expect(202);
    let told = || world.admin().get("/api/v1/repositories/never").expect(200).json();
    super::await_true("it is looked for no more", || told()["hooks"]["waiting"] == 0);
    assert_eq!(upstream.total(), 0);
    world.anon().ask("POST", &format!("/hooks/{FIRST}"), &[], b"").expect(400);
}
