//! Indexes and hooks of upstreams of gems, and the names that they share.

use super::{at, finding, is_proven, open, sentence};
use crate::gem_upstream::shelf::Shelf;
use crate::world::{FIRST, Parts, Says, Upstream, World, await_true};
use format::gem::info::md5_hex;
use serde_json::{Value, json};

/// The remote repository.
const REMOTE: &str = "far-gems";

/// A server with a settable clock, and a remote repository of gems that clients have read.
fn scene() -> (World, Upstream) {
    let (world, upstream) = (World::start_in_conformance(&[]), Upstream::start());
    at(&world, "12:00:00");
    world.remote_of("gem", REMOTE, &upstream.url());
    lists(&upstream, &["1.0.0"]);
    world.admin().get(&format!("/repository/{REMOTE}/versions")).expect(200);
    (world, upstream)
}

/// Makes the upstream list these versions of `lamp`, and one of many other gems.
fn lists(upstream: &Upstream, versions: &[&str]) {
    let lines: String =
        versions.iter().map(|version| format!("lamp {version} {}\n", md5_hex(version.as_bytes()))).collect();
    says(upstream, &format!("created_at: 2026-11-01T00:00:00Z\n---\noil 1.0.0 {}\n{lines}", md5_hex(b"---\n")));
}

fn says(upstream: &Upstream, text: &str) {
    let tag = format!("\"{}\"", md5_hex(text.as_bytes()));
    upstream.says("/versions", Says::bytes(text).header("ETag", &tag).parts(Parts::Right));
}

fn await_version(world: &World, version: &str) {
    await_true(&format!("{version} is listed"), || {
        let versions = world.admin().get(&format!("/repository/{REMOTE}/versions")).expect(200);
        versions.text().lines().any(|line| line.starts_with(&format!("lamp {version} ")))
    });
}

/// Sends a hook from the server's own machine.
fn hook(world: &World, version: &str) {
    let body = json!({ "name": "lamp", "version": version, "platform": "ruby", "yanked": false }).to_string();
    world.anon().ask("POST", &format!("/hooks/{REMOTE}"), &[], body.as_bytes()).expect(202);
}

fn lost(world: &World) -> Value {
    world.admin().get(&format!("/api/v1/repositories/{REMOTE}")).expect(200).json()["hooks"]["lost"].clone()
}

#[test]
fn hooks_that_no_longer_come_are_told_and_one_that_was_lost_is_not() {
    let (world, upstream) = scene();
    let id = format!("lost-webhooks@repository:{REMOTE}");
    lists(&upstream, &["1.0.0", "2.0.0"]);
    hook(&world, "2.0.0");
    await_version(&world, "2.0.0");
    lists(&upstream, &["1.0.0", "2.0.0", "3.0.0"]);
    at(&world, "12:02:00");
    await_version(&world, "3.0.0");
    at(&world, "12:08:00");
    await_true("one is lost", || lost(&world) == 1);
    at(&world, "12:08:01");
    assert_eq!(finding(&world, &id), None, "one may be lost on the way");
    lists(&upstream, &["1.0.0", "2.0.0", "3.0.0", "4.0.0"]);
    at(&world, "12:10:00");
    await_version(&world, "4.0.0");
    at(&world, "12:16:00");
    await_true("two are lost", || lost(&world) == 2);
    at(&world, "12:16:01");
    let told = open(&world, &id);
    assert!(sentence(&told).contains("had 2 changes that no hook announced since the last hook came"), "{told:#}");
    is_proven(&world, &told);
    // The next hook that comes ends it.
    hook(&world, "4.0.0");
    at(&world, "12:17:00");
    at(&world, "12:17:01");
    assert_eq!(finding(&world, &id), None);
}

#[test]
fn an_index_that_cannot_be_checked_is_told_after_five_minutes() {
    let (world, upstream) = scene();
    let id = format!("stale-index@repository:{REMOTE}");
    upstream.says("/versions", Says::status(500));
    let look = |time: &str| {
        at(&world, time);
        // A request for a name that is not listed waits for a look.
        world.admin().get(&format!("/repository/{REMOTE}/info/nobody"));
        at(&world, &format!("{}1", &time[..7]));
    };
    look("12:04:00");
    assert_eq!(finding(&world, &id), None);
    look("12:06:00");
    let told = open(&world, &id);
    assert!(sentence(&told).contains("its last looks failed (`upstream_failed`)"), "{told:#}");
    is_proven(&world, &told);
    lists(&upstream, &["1.0.0"]);
    look("12:10:00");
    look("12:12:00");
    assert_eq!(finding(&world, &id), None);
}

#[test]
fn an_index_that_lacks_half_of_its_names_is_told_with_the_command_that_accepts_it() {
    let (world, upstream) = scene();
    let line = |name: u32| format!("gem{name} 1.0.0 {}\n", md5_hex(b"---\n"));
    let all = |names: u32| {
        let lines: String = (0..names).map(line).collect();
        format!("created_at: 2026-11-01T00:00:00Z\n---\nlamp 1.0.0 {}\n{lines}", md5_hex(b"1.0.0"))
    };
    let id = format!("removals-held-back@repository:{REMOTE}");
    let read = || drop(world.admin().get(&format!("/repository/{REMOTE}/versions")).expect(200));
    says(&upstream, &all(20));
    at(&world, "12:02:00");
    read();
    at(&world, "12:02:01");
    assert_eq!(finding(&world, &id), None);
    says(&upstream, &all(2));
    at(&world, "12:04:00");
    read();
    at(&world, "12:04:01");
    let told = open(&world, &id);
    assert_eq!(told["changes"][0]["command"], format!("daylight repo accept-index {REMOTE}"), "{told:#}");
    world.admin().ask("POST", &format!("/api/v1/repositories/{REMOTE}/accept-index"), &[], b"").expect(200);
    at(&world, "12:04:02");
    assert_eq!(finding(&world, &id), None);
}

#[test]
fn a_name_that_two_members_have_is_told_with_the_claim_that_decides() {
    let (mut near, far) = (Shelf::with(&["rack 1.0"]), Shelf::with(&["lamp 1.0"]));
    let world = World::start_in_conformance(&[]);
    at(&world, "12:00:00");
    for (name, shelf) in [("near", &near), ("far", &far)] {
        world.remote_of("gem", name, &shelf.upstream.url());
    }
    world.gem_group("all-gems", &[FIRST, "near", "far"]);
    let read = || drop(world.anon().file("all-gems", "versions").expect(200));
    read();
    near.lists(&["lamp 9.0"]);
    at(&world, "13:00:00");
    read();
    at(&world, "13:02:00");
    world.await_log("`lamp` of `far` is listed by `near`, too");
    at(&world, "13:02:30");
    at(&world, "13:09:00");
    let told = open(&world, "name-collisions@group:all-gems");
    assert_eq!(told["changes"][0]["command"], "daylight repo set far --claim lamp", "{told:#}");
    world.change("far", &json!({ "claim": ["lamp"] }));
    at(&world, "13:10:00");
    let mut minutes = 0;
    await_true("nobody waits", || {
        read();
        minutes = (minutes + 6).min(600);
        at(&world, &format!("{}:{:02}:00", 13 + (10 + minutes) / 60, (10 + minutes) % 60));
        finding(&world, "name-collisions@group:all-gems").is_none()
    });
}
