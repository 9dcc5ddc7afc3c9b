//! Policies of a remote gem repository: a hidden version is hidden in every protocol and cannot be downloaded.

use super::shelf::{Shelf, before};
use super::{REMOTE, Scene, WEEK_S, get, set};
use crate::world::{Index, World};
use serde_json::json;
use std::io::Read as _;

/// Everything that lists versions as text.
const LISTS: [&str; 6] = [
    "versions",
    "names",
    "info/lamp",
    "api/v1/dependencies.json?gems=lamp,oil",
    "api/v1/versions/lamp.json",
    "api/v1/gems/lamp.json",
];

fn offered(world: &World) -> Vec<String> {
    Index::listed(&world.anon(), REMOTE)
}

/// An upstream with lamp 1.0.0, seen since November 3, and lamp 1.1.0 and oil 2.5.0, seen since November 10. It is
/// November 11.
fn shop() -> Scene {
    let scene = Scene::new();
    scene.day(3);
    scene.publish("lamp", "1.0.0");
    scene.get("versions").expect(200);
    scene.publish("lamp", "1.1.0");
    scene.publish("oil", "2.5.0");
    // The server looks now, with or without a client.
    scene.day(10);
    scene.get("versions").expect(200);
    scene.day(11);
    scene
}

#[test]
fn what_is_young_is_in_no_protocol_and_appears_once_it_was_known_here_for_long_enough() {
    let scene = shop();
    let world = &scene.world;
    assert_eq!(offered(world), ["lamp 1.0.0", "lamp 1.1.0", "oil 2.5.0"]);
    // A young version is hidden also if it is cached.
    get(world, "gems/lamp-1.1.0.gem").expect(200);
    set(world, &json!({ "cooldown_s": WEEK_S }));
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
    scene.day(16);
    assert_eq!(offered(world), ["lamp 1.0.0"]);
    scene.day(17);
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
    set(world, &json!({ "cooldown_s": WEEK_S }));
    get(world, "gems/lamp-1.1.0.gem").expect(403);
    let exception = json!({ "package": "lamp:1.1.0", "why": "it closes a hole", "until": "2026-11-12T12:00:00Z" });
    world.admin().post_json(&format!("/api/v1/repositories/{REMOTE}/exceptions"), &exception).expect(201);
    assert_eq!(offered(world), ["lamp 1.0.0", "lamp 1.1.0"]);
    assert!(get(world, "info/lamp").text().contains("\n1.1.0 "));
    get(world, "gems/lamp-1.1.0.gem").expect(200);
    scene.day(12);
    assert_eq!(offered(world), ["lamp 1.0.0"]);
    get(world, "gems/lamp-1.1.0.gem").expect(403);

    set(world, &json!({ "cooldown_s": null, "deny": ["lamp:1.1.*"] }));
    assert_eq!(offered(world), ["lamp 1.0.0", "oil 2.5.0"]);
    assert!(!get(world, "info/lamp").text().contains("1.1.0"));
    assert!(get(world, "gems/lamp-1.1.0.gem").expect(403).text().contains("`lamp:1.1.*` is denied"));

    set(world, &json!({ "deny": null, "allow": ["oil"] }));
    assert_eq!(offered(world), ["oil 2.5.0"]);
    assert_eq!(get(world, "info/lamp").expect(200).text(), "---\n");
    assert!(get(world, "gems/lamp-1.0.0.gem").expect(403).text().contains("not on the list of allowed packages"));

    set(world, &json!({ "allow": ["oil", "lamp"], "cooldown_s": WEEK_S, "deny": ["oil"] }));
    assert_eq!(offered(world), ["lamp 1.0.0"]);
}

#[test]
fn dates_of_the_upstream_count_for_what_it_had_when_it_was_first_seen_and_in_every_protocol() {
    let mut shelf = Shelf::new(&[]);
    // The file is from the day before, so all its versions are young by that date.
    shelf.versions = "created_at: 2026-11-19T00:00:00Z\n---\n".to_owned();
    let line = |date: &str| format!("1.0.0 |checksum:{},created_at:2026-{date}T00:00:00Z", "a".repeat(64));
    for (name, line) in [("old", line("10-01")), ("young", line("11-19")), ("undated", "1.0.0 |".to_owned())] {
        shelf.set_info(name, "1.0.0", &format!("---\n{line}\n"));
    }
    let world = before(&shelf.upstream);
    world.set_time("2026-11-20T12:00:00Z");
    set(&world, &json!({ "cooldown_s": WEEK_S }));
    // Lists name them until a client has requested their `/info`, which has the dates.
    assert_eq!(get(&world, "names").expect(200).text(), "---\nold\nundated\nyoung\n");
    assert!(get(&world, "info/old").text().contains("1.0.0"));
    for name in ["young", "undated"] {
        assert_eq!(get(&world, &format!("info/{name}")).expect(200).text(), "---\n", "{name}");
        get(&world, &format!("gems/{name}-1.0.0.gem")).expect(403);
    }
    assert_eq!(get(&world, "names").expect(200).text(), "---\nold\n");
    assert!(get(&world, "versions").text().lines().any(|line| line.starts_with("old 1.0.0 ")));
    assert_eq!(shelf.upstream.count_of("/gems/"), 0, "nothing is fetched that is hidden");
}
