//! Policies of a remote gem repository: a hidden version is hidden in every protocol and cannot be downloaded.

use super::{REMOTE, Scene};
use crate::world::{Answer, Client, FIRST, Gem, Ruby, Says, Upstream, World, hex};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read as _;

crate::world::with_each_client!([bundler_takes_the_newest_version_that_is_old_enough]);

const WEEK_S: u64 = 7 * 86_400;

/// Everything that lists versions as text.
const LISTS: [&str; 6] = [
    "versions",
    "names",
    "info/lamp",
    "api/v1/dependencies.json?gems=lamp,oil",
    "api/v1/versions/lamp.json",
    "api/v1/gems/lamp.json",
];

fn set(world: &World, policy: &Value) -> Answer {
    world.admin().patch_json(&format!("/api/v1/repositories/{REMOTE}"), &json!({ "policy": policy }))
}

fn get(world: &World, path: &str) -> Answer {
    world.anon().file(REMOTE, path)
}

/// The state that the lines of `/versions` add up to. Each `/info` must agree.
fn offered(world: &World) -> Vec<String> {
    let versions = get(world, "versions").expect(200);
    let (_, lines) = versions.text().split_once("---\n").unwrap();
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let tokens = all.entry(fields[0]).or_default();
        for token in fields[1].split(',') {
            match token.strip_prefix('-') {
                Some(gone) => tokens.retain(|token| *token != gone),
                None => tokens.push(token),
            }
        }
    }
    let mut offered = Vec::new();
    for (name, tokens) in all {
        let info = get(world, &format!("info/{name}")).expect(200);
        let listed: Vec<&str> = info.text().lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(tokens, listed, "{name}");
        offered.extend(tokens.iter().map(|token| format!("{name} {token}")));
    }
    offered
}

fn day(scene: &Scene, day: u32) {
    scene.set_time(&format!("2026-11-{day:02}T12:00:00Z"));
}

/// An upstream with lamp 1.0.0, seen since November 3, and lamp 1.1.0 and oil 2.5.0, seen since November 10. It is
/// November 11.
fn shop() -> Scene {
    let scene = Scene::at_any_time();
    day(&scene, 3);
    let admin = scene.upstream.admin();
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    get(&scene.world, "versions").expect(200);
    admin.push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    admin.push(FIRST, &Gem::new("oil", "2.5.0")).expect(200);
    // The server looks now, with or without a client.
    day(&scene, 10);
    get(&scene.world, "versions").expect(200);
    day(&scene, 11);
    scene
}

#[test]
fn what_is_young_is_in_no_protocol_and_appears_once_it_was_known_here_for_long_enough() {
    let scene = shop();
    let world = &scene.world;
    assert_eq!(offered(world), ["lamp 1.0.0", "lamp 1.1.0", "oil 2.5.0"]);
    // A young version is hidden also if it is cached.
    get(world, "gems/lamp-1.1.0.gem").expect(200);
    set(world, &json!({ "cooldown_s": WEEK_S })).expect(200);
    for file in ["specs.4.8.gz", "latest_specs.4.8.gz"] {
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&get(world, file).expect(200).body[..]).read_to_end(&mut unpacked).unwrap();
        let has = |version: &[u8]| unpacked.windows(version.len()).any(|part| part == version);
        assert!(has(b"1.0.0") && !has(b"1.1.0") && !has(b"2.5.0"), "{file}");
    }
    for list in LISTS {
        let said = get(world, list).expect(200);
        assert!(!said.text().contains("1.1.0") && !said.text().contains("2.5.0"), "{list}: {}", said.text());
    }
    assert_eq!(offered(world), ["lamp 1.0.0"]);
    // A listed gem without visible versions has an empty `/info`, and a line with its MD5.
    assert_eq!(get(world, "info/oil").expect(200).text(), "---\n");
    assert!(get(world, "versions").text().lines().any(|line| line.starts_with("oil -")));
    get(world, "api/v1/gems/oil.json").expect(404);
    for young in ["gems/lamp-1.1.0.gem", "quick/Marshal.4.8/lamp-1.1.0.gemspec.rz"] {
        let refused = get(world, young).expect(403);
        let said =
            "`lamp:1.1.0` is hidden by the policy of `upstream-gems`: versions are hidden until they are 7 days old";
        assert!(refused.text().starts_with(said), "{}", refused.text());
        assert!(
            refused.text().contains("2026-11-17T12:00:00") && refused.text().contains("hint: "),
            "{}",
            refused.text()
        );
    }
    get(world, "gems/lamp-1.0.0.gem").expect(200);
    // After several requests the answer is a page, which ends with the cooldown.
    for _ in 0..3 {
        LISTS.iter().for_each(|list| drop(get(world, list)));
    }
    day(&scene, 16);
    assert_eq!(offered(world), ["lamp 1.0.0"]);
    day(&scene, 17);
    assert_eq!(offered(world), ["lamp 1.0.0", "lamp 1.1.0", "oil 2.5.0"]);
    for list in LISTS.into_iter().filter(|list| *list != "names") {
        assert!(get(world, list).text().contains("1.1.0"), "{list}");
    }
    get(world, "gems/lamp-1.1.0.gem").expect(200);
}

#[test]
fn an_exception_lets_one_version_through_and_what_is_denied_or_not_allowed_goes() {
    let scene = shop();
    let world = &scene.world;
    set(world, &json!({ "cooldown_s": WEEK_S })).expect(200);
    get(world, "gems/lamp-1.1.0.gem").expect(403);
    let exception = json!({ "package": "lamp:1.1.0", "why": "it closes a hole", "until": "2026-11-12T12:00:00Z" });
    world.admin().post_json(&format!("/api/v1/repositories/{REMOTE}/exceptions"), &exception).expect(201);
    assert_eq!(offered(world), ["lamp 1.0.0", "lamp 1.1.0"]);
    assert!(get(world, "info/lamp").text().contains("\n1.1.0 "));
    get(world, "gems/lamp-1.1.0.gem").expect(200);
    day(&scene, 12);
    assert_eq!(offered(world), ["lamp 1.0.0"]);
    get(world, "gems/lamp-1.1.0.gem").expect(403);

    set(world, &json!({ "cooldown_s": null, "deny": ["lamp:1.1.*"] })).expect(200);
    assert_eq!(offered(world), ["lamp 1.0.0", "oil 2.5.0"]);
    assert!(!get(world, "info/lamp").text().contains("1.1.0"));
    assert!(get(world, "gems/lamp-1.1.0.gem").expect(403).text().contains("`lamp:1.1.*` is denied"));

    set(world, &json!({ "deny": null, "allow": ["oil"] })).expect(200);
    assert_eq!(offered(world), ["oil 2.5.0"]);
    assert_eq!(get(world, "info/lamp").expect(200).text(), "---\n");
    assert!(get(world, "gems/lamp-1.0.0.gem").expect(403).text().contains("not on the list of allowed packages"));

    set(world, &json!({ "allow": ["oil", "lamp"], "cooldown_s": WEEK_S, "deny": ["oil"] })).expect(200);
    assert_eq!(offered(world), ["lamp 1.0.0"]);
}

/// An index that lists what nobody may ask for, made of these lines of `/info`.
fn index(lines: &[(&str, &str)], header: &str) -> (String, Vec<(String, String)>) {
    let mut versions = format!("created_at: {header}\n---\n");
    let mut infos = Vec::new();
    for (name, line) in lines {
        let body = format!("---\n{line}\n");
        let token = line.split(' ').next().unwrap();
        versions.push_str(&format!("{name} {token} {}\n", hex(&<md5::Md5 as md5::Digest>::digest(&body))));
        infos.push(((*name).to_owned(), body));
    }
    (versions, infos)
}

fn stand_in(world: &World, lines: &[(&str, &str)], header: &str) -> Upstream {
    let upstream = Upstream::start();
    let (versions, infos) = index(lines, header);
    upstream.says("/versions", Says::file(versions));
    for (name, body) in infos {
        upstream.file(&format!("/info/{name}"), body);
    }
    let remote = json!({"urls": [upstream.url()]});
    let wanted = json!({"name": "other", "format": "gem", "kind": "remote", "private": false, "remote": remote});
    world.admin().post_json("/api/v1/repositories", &wanted).expect(201);
    upstream
}

#[test]
fn no_upstream_is_asked_for_what_is_private_denied_or_unknown_whatever_its_index_lists() {
    let world = World::start();
    let sum = "a".repeat(64);
    let line = format!("1.0.0 |checksum:{sum}");
    let listed = [("acme-core", &*line), ("denied", &*line), ("lamp", &*line)];
    let upstream = stand_in(&world, &listed, "2026-11-01T00:00:00Z");
    let policy = json!({ "policy": { "private_prefixes": ["acme-"], "deny": ["denied"] } });
    world.admin().patch_json("/api/v1/repositories/other", &policy).expect(200);
    let get = |path: &str| world.anon().file("other", path);
    let names = get("names").expect(200);
    assert_eq!(names.text(), "---\nlamp\n");
    for number in 0..100 {
        for name in [format!("acme-secret-{number}"), format!("unknown-{number}"), "acme-core".into(), "denied".into()]
        {
            for path in [
                format!("info/{name}"),
                format!("gems/{name}-1.0.0.gem"),
                format!("quick/Marshal.4.8/{name}-1.0.0.gemspec.rz"),
                format!("api/v1/dependencies.json?gems={name}"),
                format!("api/v1/versions/{name}.json"),
            ] {
                let answer = get(&path);
                assert!([200, 403, 404].contains(&answer.status), "{path}: {}", answer.status);
            }
        }
    }
    assert_eq!(get("info/acme-core").expect(200).text(), "---\n");
    assert!(get("gems/acme-core-1.0.0.gem").expect(403).text().contains("private"));
    let asked: Vec<String> = upstream.asked().into_iter().map(|asked| asked.path).collect();
    assert!(asked.iter().all(|path| path == "/versions"), "{asked:?}");
    get("info/lamp").expect(200);
    assert_eq!(upstream.count("/info/lamp"), 1);

    // The attestations of a listed version are relayed and cached.
    get("api/v1/attestations/lamp-1.0.0.json").expect(404);
    let attested = "/api/v1/attestations/denied-1.0.0.json";
    upstream.file(attested, "[]");
    get(&attested[1..]).expect(403);
    world.admin().patch_json("/api/v1/repositories/other", &json!({ "policy": { "deny": null } })).expect(200);
    assert_eq!(get(&attested[1..]).expect(200).json(), json!([]));
    get("api/v1/attestations/lamp-9.json").expect(404);
    assert_eq!(upstream.count("/api/v1/attestations/lamp-9.json"), 0);
    upstream.unplug();
    assert_eq!(get(&attested[1..]).expect(200).json(), json!([]));
}

#[test]
fn dates_of_the_upstream_count_for_what_it_had_when_it_was_first_seen_and_in_every_protocol() {
    let scene = Scene::at_any_time();
    let world = &scene.world;
    day(&scene, 20);
    let sum = "a".repeat(64);
    let line = |date: &str| format!("1.0.0 |checksum:{sum},created_at:2026-{date}T00:00:00Z");
    let (old, young) = (line("10-01"), line("11-19"));
    let lines = [("old", &*old), ("young", &*young), ("undated", "1.0.0 |")];
    // The file is from the day before, so all its versions are young by that date.
    let upstream = stand_in(world, &lines, "2026-11-19T00:00:00Z");
    let policy = json!({ "policy": { "cooldown_s": WEEK_S } });
    world.admin().patch_json("/api/v1/repositories/other", &policy).expect(200);
    let get = |path: &str| world.anon().file("other", path);
    // Lists name them until a client has requested their `/info`, which has the dates.
    assert_eq!(get("names").expect(200).text(), "---\nold\nundated\nyoung\n");
    assert!(get("info/old").text().contains("1.0.0"));
    for name in ["young", "undated"] {
        assert_eq!(get(&format!("info/{name}")).expect(200).text(), "---\n", "{name}");
        get(&format!("gems/{name}-1.0.0.gem")).expect(403);
    }
    assert_eq!(get("names").expect(200).text(), "---\nold\n");
    assert!(get("versions").text().lines().any(|line| line.starts_with("old 1.0.0 ")));
    assert_eq!(upstream.count_of("/gems/"), 0, "nothing is fetched that is hidden");
}

fn bundler_takes_the_newest_version_that_is_old_enough(client: Client) {
    let scene = shop();
    set(&scene.world, &json!({ "cooldown_s": WEEK_S })).expect(200);
    let machine = Ruby::with(client);
    let app = machine.app("app", &scene.world.url(REMOTE), "gem 'lamp'");
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby("require 'lamp'; puts Lamp::VERSION"), "1.0.0\n");
    day(&scene, 17);
    let said = app.bundle(&["update", "lamp", "--verbose"]).good();
    assert_eq!(app.ruby("require 'lamp'; puts Lamp::VERSION"), "1.1.0\n", "{said}");
}
