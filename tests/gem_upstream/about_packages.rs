//! Files about a package of an upstream: its gemspec and its attestations.

use super::shelf::{before, lamp_and_oil};
use super::{AFTER_A_WEEK, LATER, REMOTE, get};
use crate::world::{FIRST, Gem, Says, World, hex};
use serde_json::json;
use sha2::{Digest, Sha256};

#[test]
fn the_package_of_another_gem_gives_no_gemspec_though_the_index_has_its_checksum() {
    let mut shelf = lamp_and_oil();
    for (number, other) in [("1.1.0", Gem::new("oil", "1.1.0")), ("1.2.0", Gem::new("lamp", "2.0.0"))] {
        shelf.upstream.says(&format!("/gems/lamp-{number}.gem"), Says::bytes(other.bytes()));
        let line = format!("{number} |checksum:{}\n", hex(&Sha256::digest(other.bytes())));
        let info = shelf.info("lamp") + &line;
        shelf.set_info("lamp", number, &info);
        let world = before(&shelf.upstream);
        let gemspec = |version: &str| get(&world, &format!("quick/Marshal.4.8/lamp-{version}.gemspec.rz"));
        let event = gemspec(number).expect(502).header("daylight-event").unwrap().to_owned();
        let told = world.event(&event);
        let detail = told["detail"].as_str().unwrap_or_default();
        assert_eq!(told["reason"], "upstream_invalid", "{told:#}");
        assert!(detail.contains(&format!("lists as `lamp-{number}`")) && detail.contains(&other.name), "{detail}");
        gemspec("1.0.0").expect(200);
    }
}

#[test]
fn what_is_attested_is_asked_for_again_after_a_while_and_answered_while_the_upstream_fails() {
    let shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    let path = "/api/v1/attestations/lamp-1.0.0.json";
    shelf.upstream.file(path, "[]");
    let ask = || get(&world, &path[1..]);
    for _ in 0..3 {
        assert_eq!(ask().expect(200).text(), "[]");
        get(&world, "api/v1/attestations/lamp-9.json").expect(404);
    }
    assert_eq!(shelf.upstream.count("/api/v1/attestations/lamp-9.json"), 0, "no such version is listed");
    assert_eq!(shelf.upstream.count(path), 1);
    // Attestations can be added later.
    shelf.upstream.file(path, "[1]");
    world.set_time(LATER);
    assert_eq!(ask().expect(200).text(), "[1]");
    world.change(REMOTE, &json!({ "policy": { "deny": ["lamp"] } }));
    ask().expect(403);
    world.change(REMOTE, &json!({ "policy": { "deny": null } }));
    assert_eq!(ask().expect(200).text(), "[1]");
    shelf.upstream.unplug();
    world.set_time(AFTER_A_WEEK);
    let stale = ask().expect(200);
    assert!(stale.text() == "[1]" && stale.header("daylight-stale").is_some(), "{:?}", stale.header("daylight-stale"));
}

#[test]
fn a_gem_of_another_daylight_has_no_attestations_and_those_of_its_upstream_come_through() {
    let shelf = lamp_and_oil();
    let far = before(&shelf.upstream);
    far.admin().push(FIRST, &Gem::new("hosted", "1.0.0")).expect(200);
    let attested = "api/v1/attestations/lamp-1.0.0.json";
    shelf.upstream.file(&format!("/{attested}"), "[1]");
    // Of a server without the call.
    shelf.upstream.says("/api/v1/attestations/oil-1.0.0.json", Says::status(501));
    let world = World::start();
    for (name, of) in [("theirs", FIRST), ("relayed", REMOTE)] {
        world.remote_of("gem", name, &far.url(of));
    }
    world.gem_group("all", &[FIRST, "theirs", "relayed"]);
    world.admin().push(FIRST, &Gem::new("ours", "1.0.0")).expect(200);
    for (repository, name) in
        [("theirs", "hosted"), ("relayed", "oil"), ("all", "hosted"), ("all", "oil"), ("all", "ours")]
    {
        world.anon().file(repository, &format!("api/v1/attestations/{name}-1.0.0.json")).expect(404);
    }
    for repository in ["relayed", "all"] {
        assert_eq!(world.anon().file(repository, attested).expect(200).text(), "[1]");
    }
}
