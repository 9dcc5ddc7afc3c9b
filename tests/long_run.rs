//! Years of a server's clock: live files can be downloaded byte for byte, and nothing else takes space. The API reports
//! when the bytes of removed files were deleted.

use crate::world::{FIRST, Gem, Person, Ruby, World, await_true, hex};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// A day, counted from the first one. All are in the future: during a restart the server has the real time, and nothing
/// may age by that.
fn date(day: i64) -> String {
    jiff::civil::date(2050, 1, 1).checked_add(jiff::Span::new().days(day)).unwrap().to_string()
}

/// Sets the clock, and waits until the collector has visited all blobs at that moment.
pub(crate) fn collect_at(world: &World, moment: &str) {
    world.set_time(moment);
    let events = world.data().join("events/events.jsonl");
    let round = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        event["method"] == "blobs.collect" && event["at"] == moment && event["outcome"] == "done"
    };
    await_true(&format!("the collector visited all blobs at {moment}"), || {
        std::fs::read_to_string(&events).unwrap_or_default().lines().any(round)
    });
}

fn collect_on(world: &World, day: i64) {
    collect_at(world, &format!("{}T12:00:00.000Z", date(day)));
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The blobs on disk, by digest, with their sizes.
pub(crate) fn blobs(world: &World) -> BTreeMap<String, u64> {
    let all = world.files().into_iter().filter(|file| file.starts_with(world.data().join("blobs")));
    let name = |file: &std::path::Path| file.file_name().unwrap().to_str().unwrap().to_owned();
    all.map(|file| (name(&file), file.metadata().unwrap().len())).collect()
}

/// The files that can be downloaded, by their path below `/repository/`.
#[derive(Default)]
struct Live(BTreeMap<String, Vec<u8>>);

impl Live {
    fn push(&mut self, admin: &Person, repository: &str, name: &str, version: &str) {
        let gem = Gem::new(name, version).payload(format!("{name} {version}").as_bytes());
        admin.push(repository, &gem).expect(200);
        self.0.insert(format!("{repository}/gems/{}", gem.file()), gem.bytes());
    }

    fn put(&mut self, admin: &Person, repository: &str, path: &str, text: &str) {
        let status = admin.put(repository, path, text.as_bytes()).status;
        assert!([200, 201].contains(&status), "{repository}/{path}: {status}");
        self.0.insert(format!("{repository}/{path}"), text.into());
    }

    /// Removes a live file from the list, and returns its bytes.
    fn take(&mut self, path: &str) -> Vec<u8> {
        self.0.remove(path).unwrap()
    }

    fn assert_downloads(&self, world: &World) {
        for (path, bytes) in &self.0 {
            let answer = world.anon().get(&format!("/repository/{path}"));
            assert_eq!((answer.status, &answer.body), (200, bytes), "{path}");
        }
    }
}

fn jar(version: &str) -> String {
    format!("org/example/lamp/{version}/lamp-{version}.jar")
}

/// A file of a build of the first or the second day.
fn build(number: u32, ending: &str) -> String {
    let day = if number < 3 { 1 } else { 2 };
    format!("org/example/lamp/3-SNAPSHOT/lamp-3-205001{day:02}.120000-{number}.{ending}")
}

/// A path as of an evening: `gems/lamp-1.0.0.gem` of `gems-private`.
fn on_the_evening_of(day: i64, path: &str) -> String {
    let (repository, path) = path.split_once('/').unwrap();
    format!("/repository/{repository}@{}T20:00:00Z/{path}", date(day))
}

/// Everything is published on the first day; most removals are on the second.
fn two_days(world: &World, ruby: &Ruby, live: &mut Live) {
    let admin = world.admin();
    for name in ["old", "back", "tools"] {
        world.repository(name, false);
    }
    world.tree("releases", "maven");
    let wanted = |name: &str, more: serde_json::Value| {
        let mut wanted = json!({ "name": name, "kind": "hosted" });
        wanted.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.make(&wanted);
    };
    wanted("builds", json!({ "format": "maven", "versions": "snapshots", "retention": { "builds": 2 } }));
    wanted("files", json!({ "format": "raw", "replaceable": true }));
    admin.patch_json("/api/v1/repositories/tools", &json!({ "keep_versions": 1 })).expect(200);

    // One gem comes and goes with the real client.
    let sent = ruby.push(&world.url(FIRST), admin.secret(), &Gem::new("wick", "1.0.0"));
    assert!(sent.good().contains("Successfully registered gem: wick (1.0.0)"));
    let path = format!("{FIRST}/gems/wick-1.0.0.gem");
    live.0.insert(path.clone(), world.anon().get(&format!("/repository/{path}")).expect(200).body);
    for (repository, name, version) in [
        (FIRST, "lamp", "1.0.0"),
        (FIRST, "lamp", "1.1.0"),
        (FIRST, "lamp", "1.2.0"),
        (FIRST, "oil", "1.0.0"),
        (FIRST, "oil", "1.1.0"),
        ("old", "lamp", "1.1.0"),
        ("old", "rust", "1.0.0"),
        ("back", "glass", "1.0.0"),
        ("tools", "nail", "1.0.0"),
    ] {
        live.push(&admin, repository, name, version);
    }
    for version in ["1.0", "1.1", "1.2"] {
        live.put(&admin, "releases", &jar(version), version);
    }
    for number in 1..=2 {
        live.put(&admin, "builds", &build(number, "jar"), &format!("build {number}"));
        live.put(&admin, "builds", &build(number, "pom"), &format!("<project><!-- {number} --></project>"));
    }
    for (path, text) in [("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")] {
        live.put(&admin, "files", path, text);
    }
    live.assert_downloads(world);

    collect_on(world, 1);
    live.push(&admin, "tools", "nail", "2.0.0");
    for number in 3..=4 {
        live.put(&admin, "builds", &build(number, "jar"), &format!("build {number}"));
        live.put(&admin, "builds", &build(number, "pom"), &format!("<project><!-- {number} --></project>"));
    }
    ruby.yank(&world.url(FIRST), admin.secret(), "wick", "1.0.0").good();
    admin.yank(FIRST, "lamp", "1.0.0").expect(200);
    let purge = json!({ "what": "oil:1.0.0", "why": "a key was in it", "apply": true });
    admin.post_json(&format!("/api/v1/repositories/{FIRST}/purge"), &purge).expect(200);
    for version in ["1.0", "1.2"] {
        admin.delete("releases", &format!("org/example/lamp/{version}")).expect(204);
    }
    for name in ["old", "back"] {
        admin.ask("DELETE", &format!("/api/v1/repositories/{name}?confirm={name}"), &[], b"").expect(200);
    }
    admin.post_json("/api/v1/cleanup", &json!({ "repositories": ["tools"], "apply": true })).expect(200);
    live.put(&admin, "files", "a.txt", "another a");
    admin.delete("files", "c.txt").expect(204);
    // None of these refused changes has an effect.
    admin.push(FIRST, &Gem::new("lamp", "1.1.0").payload(b"other")).expect(409);
    admin.put("releases", &jar("1.1"), b"other").expect(409);
    await_true("retention deletes a build", || world.anon().file("builds", &build(2, "pom")).status != 200);
}

#[test]
fn what_is_live_after_500_days_downloads_and_what_went_says_when() {
    let (mut world, ruby, mut live) = (World::start_in_conformance(&[]), Ruby::new(), Live::default());
    collect_on(&world, 0);
    two_days(&world, &ruby, &mut live);
    let restored =
        |world: &World, what: &str| world.admin().post_json(&format!("/api/v1/repositories/{what}"), &json!({})).status;
    collect_on(&world, 2);
    assert_eq!(restored(&world, "back/restore"), 200);
    assert_eq!(restored(&world, "releases/contents/org/example/lamp/1.2"), 200);
    collect_on(&world, 3);
    collect_on(&world, 300);
    live.put(&world.admin(), "files", "c.txt", "another c");
    world.admin().yank(FIRST, "lamp", "1.2.0").expect(200);
    let replaced = live.0["files/a.txt"].clone();
    live.put(&world.admin(), "files", "a.txt", "the last a");
    collect_on(&world, 500);
    collect_on(&world, 502);
    // From here on no answer comes from memory.
    world.stop();
    let checked = world.run("check");
    assert!(checked.status.success(), "{checked:?}");
    world.resume();
    collect_on(&world, 503);

    // The day on which the bytes of each were deleted. A removed repository shows nothing.
    let gone = [
        (format!("{FIRST}/gems/lamp-1.0.0.gem"), 502, "deleted"),
        (format!("{FIRST}/gems/wick-1.0.0.gem"), 502, "deleted"),
        (format!("{FIRST}/gems/oil-1.0.0.gem"), 1, "purged"),
        ("tools/gems/nail-1.0.0.gem".to_owned(), 500, "deleted"),
        (format!("releases/{}", jar("1.0")), 500, "deleted"),
        (format!("builds/{}", build(1, "jar")), 3, "deleted"),
        (format!("builds/{}", build(1, "pom")), 3, "deleted"),
        (format!("builds/{}", build(2, "jar")), 3, "deleted"),
        (format!("builds/{}", build(2, "pom")), 3, "deleted"),
    ];
    for (path, day, how) in &gone {
        live.take(path);
        world.anon().get(&format!("/repository/{path}")).expect(404);
        let then = world.anon().get(&on_the_evening_of(0, path)).expect(410);
        // The purge of that day may have marked the bytes of builds that were deleted just before.
        let days = if path.starts_with("builds/") { day - 1..=*day } else { *day..=*day };
        let on = |day: i64| then.text().contains(&format!("{how} on {}T", date(day)));
        assert!(days.into_iter().any(on), "{path}: {}", then.text());
    }
    for path in ["files/a.txt", "files/c.txt"] {
        let then = world.anon().get(&on_the_evening_of(0, path)).expect(410);
        assert!(then.text().contains("deleted on 2051-"), "{path}: {}", then.text());
    }
    for path in ["old/gems/lamp-1.1.0.gem", "old/gems/rust-1.0.0.gem"] {
        live.take(path);
        world.anon().get(&format!("/repository/{path}")).expect(404);
        world.anon().get(&on_the_evening_of(0, path)).expect(404);
    }
    assert_eq!(["old/restore", "releases/contents/org/example/lamp/1.0"].map(|what| restored(&world, what)), [404; 2]);

    // Within the horizon, earlier states are complete.
    let yanked = format!("{FIRST}/gems/lamp-1.2.0.gem");
    let recent = [(yanked.clone(), live.take(&yanked)), ("files/a.txt".to_owned(), replaced)];
    for (path, bytes) in &recent {
        let then = world.anon().get(&on_the_evening_of(290, path)).expect(200);
        assert_eq!(&then.body, bytes, "{path}");
    }
    world.anon().get(&format!("/repository/{yanked}")).expect(404);
    // These did not exist on the second evening, or were different.
    let changed = ["back/gems/glass-1.0.0.gem", "files/a.txt", "files/c.txt", &format!("releases/{}", jar("1.2"))];
    for (path, bytes) in live.0.iter().filter(|(path, _)| !changed.contains(&path.as_str())) {
        let then = world.anon().get(&on_the_evening_of(1, path)).expect(200);
        assert_eq!(&then.body, bytes, "{path}");
    }
    live.assert_downloads(&world);
    let app = ruby.app("app", &world.url(FIRST), "gem 'lamp'\ngem 'oil'");
    app.bundle(&["install"]).good();
    assert!(app.lock().contains("lamp (1.1.0)") && app.lock().contains("oil (1.1.0)"), "{}", app.lock());

    // Nothing else takes space.
    let kept: BTreeSet<&Vec<u8>> = live.0.values().chain(recent.iter().map(|(_, bytes)| bytes)).collect();
    let expected = kept.iter().map(|bytes| (digest(bytes), bytes.len() as u64)).collect::<BTreeMap<_, _>>();
    assert_eq!(blobs(&world), expected);
    let all = world.admin().get("/api/v1/repositories").expect(200).json();
    let held =
        all["repositories"].as_array().unwrap().iter().map(|one| one["holds"]["size_bytes"].as_u64().unwrap_or(0));
    assert_eq!(held.sum::<u64>(), live.0.values().map(|bytes| bytes.len() as u64).sum::<u64>());
}
