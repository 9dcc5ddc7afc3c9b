//! The filtered `/versions` only grows for its clients: after any change of the upstream, of time or of the policy,
//! each client reads only the new lines.

use super::shelf::{before, lamp_and_oil_of_long_ago};
use super::{AFTER_A_WEEK, REMOTE, Scene, WEEK_S, get, set};
use crate::world::{FIRST, Follower, Gem, World};
use format::gem::info::md5_hex;
use serde_json::json;

/// The line with these versions and the MD5 of the present `/info`.
fn line(world: &World, name: &str, versions: &str) -> String {
    format!("{name} {versions} {}", md5_hex(&get(world, &format!("info/{name}")).body))
}

/// An upstream with lamp 1.0.0 and oil 1.0.0, seen since November 3, and lamp 1.1.0, seen since November 10. It is
/// November 11.
fn shop() -> Scene {
    let scene = Scene::new();
    scene.day(3);
    scene.publish("lamp", "1.0.0");
    scene.publish("oil", "1.0.0");
    scene.get("versions").expect(200);
    scene.publish("lamp", "1.1.0");
    scene.day(10);
    scene.get("versions").expect(200);
    scene.day(11);
    scene
}

#[test]
fn a_version_that_comes_or_goes_upstream_or_grows_old_enough_costs_its_line() {
    let mut scene = shop();
    set(&scene.world, &json!({ "cooldown_s": WEEK_S }));
    let mut reader = Follower::new(&scene.world, REMOTE);
    assert!(!reader.file.contains("1.1.0"), "a young version is not listed");
    scene.publish("oil", "1.1.0");
    scene.publish("wick", "1.0.0");
    scene.day(12);
    assert_eq!(reader.news(&scene.world), [format!("wick -0 {}", md5_hex(b"---\n"))]);
    // Lamp was first seen a week ago.
    scene.day(17);
    assert_eq!(reader.news(&scene.world), [line(&scene.world, "lamp", "1.1.0")]);
    scene.upstream.admin().yank(FIRST, "lamp", "1.0.0").expect(200);
    scene.day(18);
    assert_eq!(reader.news(&scene.world), [line(&scene.world, "lamp", "-1.0.0")], "yanks wait for nothing");
    // The same after a restart.
    scene.world.stop();
    scene.world.resume();
    scene.day(19);
    assert_eq!(reader.news(&scene.world), [line(&scene.world, "oil", "1.1.0"), line(&scene.world, "wick", "1.0.0")]);
    scene.world.stop();
    scene.world.resume();
    scene.day(20);
    assert_eq!(reader.news(&scene.world), [""; 0]);
}

#[test]
fn what_is_denied_goes_with_one_line_and_comes_back_with_one() {
    let scene = shop();
    let world = &scene.world;
    let mut reader = Follower::new(world, REMOTE);
    set(world, &json!({ "deny": ["oil"] }));
    assert_eq!(reader.news(world), [format!("oil -1.0.0 {}", md5_hex(b"---\n"))]);
    set(world, &json!({ "deny": ["oil", "lamp:1.0.0"] }));
    let news = reader.news(world);
    assert!(news.len() == 1 && news[0].starts_with("lamp -1.0.0 "), "{news:?}");
    // The hidden version is not the newest, so the MD5 becomes known with the first request.
    let known = line(world, "lamp", "-1.1.0,1.1.0");
    assert_ne!(news[0].rsplit(' ').next(), known.rsplit(' ').next());
    scene.at("2026-11-11T12:02:00Z");
    assert_eq!(reader.news(world), [known]);
    assert_eq!(reader.news(world), [""; 0]);
    set(world, &json!({ "deny": ["lamp:1.0.0"] }));
    assert_eq!(reader.news(world), [line(world, "oil", "1.0.0")]);
    set(world, &json!({ "deny": ["no-such-*"] }));
    assert_eq!(reader.news(world), [line(world, "lamp", "1.0.0")]);
    // Without a policy it is another file. The file with the next policy begins with the bytes that clients have then.
    set(world, &json!({ "deny": null }));
    let mut reader = Follower::new(world, REMOTE);
    set(world, &json!({ "deny": ["oil"] }));
    assert_eq!(reader.news(world), [format!("oil -1.0.0 {}", md5_hex(b"---\n"))]);
}

/// Our log has one line for both changes, and the earlier line has the MD5 of the older bytes.
#[test]
fn a_version_that_was_replaced_while_a_newer_one_came_is_told_though_that_is_young() {
    let mut shelf = lamp_and_oil_of_long_ago();
    let mut world = before(&shelf.upstream);
    let older = get(&world, "info/lamp").body;
    get(&world, "versions");
    // Its index is compacted, with both versions.
    shelf.replace(&Gem::new("lamp", "1.0.0").payload(b"others"));
    shelf.push(&Gem::new("lamp", "1.1.0"));
    shelf.compact();
    world.set_time(AFTER_A_WEEK);
    get(&world, "versions");
    set(&world, &json!({ "cooldown_s": WEEK_S }));
    let mut reader = Follower::new(&world, REMOTE);
    let said = |reader: &Follower| reader.file.lines().rfind(|line| line.starts_with("lamp ")).unwrap().to_owned();
    assert!(!said(&reader).contains("1.1.0") && !said(&reader).ends_with(&md5_hex(&older)), "{}", said(&reader));
    // The same after a restart, before the file is requested.
    world.stop();
    world.resume();
    world.set_time(AFTER_A_WEEK);
    assert_eq!(reader.news(&world), [""; 0]);
    let known = line(&world, "lamp", "-1.0.0,1.0.0");
    assert!(!known.ends_with(&md5_hex(&older)));
    world.set_time("2026-11-10T13:02:00Z");
    assert_eq!(reader.news(&world), [known]);
    world.stop();
    world.resume();
    world.set_time("2026-11-10T13:04:00Z");
    assert_eq!(reader.news(&world), [""; 0]);
}

#[test]
fn as_of_a_moment_no_name_is_told_that_was_seen_later() {
    let scene = shop();
    scene.publish("wick", "1.0.0");
    scene.day(12);
    for policy in
        [json!({ "cooldown_s": WEEK_S }), json!({ "cooldown_s": null, "deny": ["oil"] }), json!({ "deny": null })]
    {
        set(&scene.world, &policy);
        scene.get("versions").expect(200);
        for then in ["2026-11-05T00:00:00Z", "2026-11-03T12:00:00Z"] {
            let versions = scene.then(then, "versions").expect(200).text().to_owned();
            assert!(!versions.contains("wick") && !versions.contains("1.1.0"), "{policy}: {versions}");
        }
    }
}

/// The header of the upstream's file has the creation date of its repository, long before its versions.
#[test]
fn a_version_that_its_info_does_not_date_is_no_older_than_its_first_sight_and_stays_hidden_after_a_restart() {
    let mut scene = Scene::new();
    scene.upstream.change(FIRST, &json!({ "info_format": "v1" }));
    scene.publish("lamp", "1.0.0");
    scene.at("2100-01-02T12:00:00Z");
    set(&scene.world, &json!({ "cooldown_s": WEEK_S }));
    let mut reader = Follower::new(&scene.world, REMOTE);
    assert_eq!(scene.get("names").text(), "---\nlamp\n", "its `/info` may date it");
    assert!(!scene.get("info/lamp").expect(200).text().contains("1.0.0"));
    assert_eq!(reader.news(&scene.world), [line(&scene.world, "lamp", "-1.0.0")]);
    scene.world.stop();
    scene.world.resume();
    scene.at("2100-01-02T12:00:00Z");
    assert_eq!(scene.get("names").text().trim(), "---");
    assert_eq!(reader.news(&scene.world), [""; 0]);
    scene.at("2100-01-09T12:00:00Z");
    assert_eq!(reader.news(&scene.world), [line(&scene.world, "lamp", "1.0.0")]);
}
