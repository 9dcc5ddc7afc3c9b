//! The filtered `/versions` only grows for its clients: after any change of the upstream, of time or of the policy,
//! each client reads only the new lines.

use super::shelf::{before, lamp_and_oil_of_long_ago};
use super::{AFTER_A_WEEK, REMOTE, Scene, set_time};
use crate::world::{Answer, FIRST, Gem, World};
use format::gem::info::md5_hex;
use serde_json::{Value, json};

const WEEK_S: u64 = 7 * 86_400;

fn set(world: &World, policy: &Value) {
    world.admin().patch_json(&format!("/api/v1/repositories/{REMOTE}"), &json!({ "policy": policy })).expect(200);
}

fn get(world: &World, path: &str) -> Answer {
    world.anon().file(REMOTE, path).expect(200)
}

fn day(scene: &Scene, day: u32) {
    scene.set_time(&format!("2026-11-{day:02}T12:00:00Z"));
}

/// A client that reads the appended part, as Bundler does.
struct Reader(Vec<u8>);

impl Reader {
    fn new(world: &World) -> Self {
        Self(get(world, "versions").body)
    }

    /// The appended lines. Fails if the answer is not partial.
    fn news(&mut self, world: &World) -> Vec<String> {
        let (path, tag) = (format!("/repository/{REMOTE}/versions"), format!("\"{}\"", md5_hex(&self.0)));
        let range = format!("bytes={}-", self.0.len() - 1);
        let answer = world.anon().ask("GET", &path, &[("Range", &range), ("If-None-Match", &tag)], b"");
        if answer.status == 304 {
            return Vec::new();
        }
        let answer = answer.expect(206);
        self.0.pop();
        self.0.extend_from_slice(&answer.body);
        let tag = answer.header("etag").unwrap();
        assert_eq!(tag, format!("\"{}\"", md5_hex(&self.0)));
        answer.text().lines().skip(1).map(str::to_owned).collect()
    }
}

/// The line with these versions and the MD5 of the present `/info`.
fn line(world: &World, name: &str, versions: &str) -> String {
    format!("{name} {versions} {}", md5_hex(&get(world, &format!("info/{name}")).body))
}

/// An upstream with lamp 1.0.0 and oil 1.0.0, seen since November 3, and lamp 1.1.0, seen since November 10. It is
/// November 11.
fn shop() -> Scene {
    let scene = Scene::at_any_time();
    day(&scene, 3);
    let admin = scene.upstream.admin();
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    admin.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    get(&scene.world, "versions");
    admin.push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    day(&scene, 10);
    get(&scene.world, "versions");
    day(&scene, 11);
    scene
}

#[test]
fn a_version_that_comes_or_goes_upstream_or_grows_old_enough_costs_its_line() {
    let mut scene = shop();
    set(&scene.world, &json!({ "cooldown_s": WEEK_S }));
    let mut reader = Reader::new(&scene.world);
    assert!(!String::from_utf8_lossy(&reader.0).contains("1.1.0"), "a young version is not listed");
    let admin = scene.upstream.admin();
    admin.push(FIRST, &Gem::new("oil", "1.1.0")).expect(200);
    admin.push(FIRST, &Gem::new("wick", "1.0.0")).expect(200);
    day(&scene, 12);
    assert_eq!(reader.news(&scene.world), [format!("wick -0 {}", md5_hex(b"---\n"))]);
    // Lamp was first seen a week ago.
    day(&scene, 17);
    assert_eq!(reader.news(&scene.world), [line(&scene.world, "lamp", "1.1.0")]);
    admin.yank(FIRST, "lamp", "1.0.0").expect(200);
    day(&scene, 18);
    assert_eq!(reader.news(&scene.world), [line(&scene.world, "lamp", "-1.0.0")], "yanks wait for nothing");
    // The same after a restart.
    scene.world.stop();
    scene.world.resume();
    day(&scene, 19);
    assert_eq!(reader.news(&scene.world), [line(&scene.world, "oil", "1.1.0"), line(&scene.world, "wick", "1.0.0")]);
    scene.world.stop();
    scene.world.resume();
    day(&scene, 20);
    assert_eq!(reader.news(&scene.world), [""; 0]);
}

#[test]
fn what_is_denied_goes_with_one_line_and_comes_back_with_one() {
    let scene = shop();
    let world = &scene.world;
    let mut reader = Reader::new(world);
    set(world, &json!({ "deny": ["oil"] }));
    assert_eq!(reader.news(world), [format!("oil -1.0.0 {}", md5_hex(b"---\n"))]);
    set(world, &json!({ "deny": ["oil", "lamp:1.0.0"] }));
    let news = reader.news(world);
    assert!(news.len() == 1 && news[0].starts_with("lamp -1.0.0 "), "{news:?}");
    // The hidden version is not the newest, so the MD5 becomes known with the first request.
    let known = line(world, "lamp", "-1.1.0,1.1.0");
    assert_ne!(news[0].rsplit(' ').next(), known.rsplit(' ').next());
    scene.set_time("2026-11-11T12:02:00Z");
    assert_eq!(reader.news(world), [known]);
    assert_eq!(reader.news(world), [""; 0]);
    set(world, &json!({ "deny": ["lamp:1.0.0"] }));
    assert_eq!(reader.news(world), [line(world, "oil", "1.0.0")]);
    set(world, &json!({ "deny": ["no-such-*"] }));
    assert_eq!(reader.news(world), [line(world, "lamp", "1.0.0")]);
    // Without a policy it is another file. The file with the next policy begins with the bytes that clients have then.
    set(world, &json!({ "deny": null }));
    let mut reader = Reader::new(world);
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
    set_time(&world, AFTER_A_WEEK);
    get(&world, "versions");
    set(&world, &json!({ "cooldown_s": WEEK_S }));
    let mut reader = Reader::new(&world);
    let said = |reader: &Reader| {
        let text = String::from_utf8(reader.0.clone()).unwrap();
        text.lines().rfind(|line| line.starts_with("lamp ")).unwrap().to_owned()
    };
    assert!(!said(&reader).contains("1.1.0") && !said(&reader).ends_with(&md5_hex(&older)), "{}", said(&reader));
    // The same after a restart, before the file is requested.
    world.stop();
    world.resume();
    set_time(&world, AFTER_A_WEEK);
    assert_eq!(reader.news(&world), [""; 0]);
    let known = line(&world, "lamp", "-1.0.0,1.0.0");
    assert!(!known.ends_with(&md5_hex(&older)));
    set_time(&world, "2026-11-10T13:02:00Z");
    assert_eq!(reader.news(&world), [known]);
    world.stop();
    world.resume();
    set_time(&world, "2026-11-10T13:04:00Z");
    assert_eq!(reader.news(&world), [""; 0]);
}

#[test]
fn as_of_a_moment_no_name_is_told_that_was_seen_later() {
    let scene = shop();
    scene.upstream.admin().push(FIRST, &Gem::new("wick", "1.0.0")).expect(200);
    day(&scene, 12);
    for policy in
        [json!({ "cooldown_s": WEEK_S }), json!({ "cooldown_s": null, "deny": ["oil"] }), json!({ "deny": null })]
    {
        set(&scene.world, &policy);
        get(&scene.world, "versions");
        for then in ["2026-11-05T00:00:00Z", "2026-11-03T12:00:00Z"] {
            let versions = scene.world.anon().file(&format!("{REMOTE}@{then}"), "versions").expect(200);
            assert!(
                !versions.text().contains("wick") && !versions.text().contains("1.1.0"),
                "{policy}: {}",
                versions.text()
            );
        }
    }
}

/// An upstream with lamp 1.0.0 whose `/info` has no dates, under a cooldown of a week, first seen on January 2.
fn undated() -> Scene {
    let scene = Scene::at_any_time();
    let admin = scene.upstream.admin();
    admin.patch_json(&format!("/api/v1/repositories/{FIRST}"), &json!({ "info_format": "v1" })).expect(200);
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    scene.set_time("2100-01-02T12:00:00Z");
    set(&scene.world, &json!({ "cooldown_s": WEEK_S }));
    scene
}

#[test]
fn the_date_of_an_upstreams_birth_makes_no_version_older_than_its_first_sight() {
    // The header of the upstream's file has the creation date of its repository, long before this.
    let scene = undated();
    assert!(!get(&scene.world, "info/lamp").text().contains("1.0.0"));
    let mut reader = Reader::new(&scene.world);
    assert!(!String::from_utf8_lossy(&reader.0).contains("lamp 1.0.0"));
    scene.set_time("2100-01-09T12:00:00Z");
    assert_eq!(reader.news(&scene.world), [line(&scene.world, "lamp", "1.0.0")]);
}

#[test]
fn a_version_that_its_info_does_not_date_stays_hidden_in_every_protocol_after_a_restart() {
    let mut scene = undated();
    let mut reader = Reader::new(&scene.world);
    assert_eq!(get(&scene.world, "names").text(), "---\nlamp\n", "its `/info` may date it");
    assert!(!get(&scene.world, "info/lamp").text().contains("1.0.0"));
    assert_eq!(reader.news(&scene.world), [line(&scene.world, "lamp", "-1.0.0")]);
    scene.world.stop();
    scene.world.resume();
    scene.set_time("2100-01-02T12:00:00Z");
    assert_eq!(get(&scene.world, "names").text().trim(), "---");
    assert_eq!(reader.news(&scene.world), [""; 0]);
}
