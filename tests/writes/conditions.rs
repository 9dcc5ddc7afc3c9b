//! `If-Match`, `If-None-Match` and `If-Unmodified-Since` on writes are decided with the write.

use super::{JAR, put, sha1, sha256, world};
use crate::world::{Answer, Gem, Person};
use serde_json::json;
use std::thread;

fn on(person: &Person, method: &str, at: &str, header: (&str, &str), bytes: &[u8]) -> Answer {
    person.ask(method, &format!("/repository/{at}"), &[header], bytes)
}

#[test]
fn conditions_of_an_upload_and_of_a_deletion_hold_or_it_is_412() {
    let world = world();
    world.make(&json!({ "name": "drafts", "format": "raw", "kind": "hosted", "replaceable": true }));
    let (admin, anyone) = (world.admin(), world.anon());
    let tag = |bytes: &[u8]| format!("\"{}\"", sha1(bytes));
    let none = ("If-None-Match", "*");
    for at in ["tools/lamp", "drafts/lamp", &format!("releases/{JAR}")] {
        let put = |header: (&str, &str), bytes: &[u8]| put(&admin, at, &[header], bytes);
        put(("If-Match", "*"), b"lamp").expect(412);
        put(("If-Match", &tag(b"lamp")), b"lamp").expect(412);
        anyone.get(&format!("/repository/{at}")).expect(404);
        put(none, b"lamp").expect(201);
        let refused = put(none, b"lamp").expect(412).json();
        assert_eq!(refused["type"], "about:blank#condition_failed");
        assert!(refused["detail"].as_str().unwrap().contains(&tag(b"lamp")), "{refused}");
        put(none, b"other").expect(412);
        put(("If-None-Match", &tag(b"lamp")), b"lamp").expect(412);
        put(("If-None-Match", &tag(b"other")), b"lamp").expect(200);
        put(("If-Match", &format!("W/{}", tag(b"lamp"))), b"lamp").expect(412);
        put(("If-Match", &format!("\"x\", {}", tag(b"lamp"))), b"lamp").expect(200);
        put(("If-Unmodified-Since", "Wed, 01 Jan 2020 00:00:00 GMT"), b"lamp").expect(412);
        let there = anyone.get(&format!("/repository/{at}")).expect(200);
        put(("If-Unmodified-Since", there.header("last-modified").unwrap()), b"lamp").expect(200);
        put(("If-Unmodified-Since", "yesterday"), b"lamp").expect(200);
        put(("If-Modified-Since", "Wed, 01 Jan 2020 00:00:00 GMT"), b"lamp").expect(200);
        assert_eq!(there.body, b"lamp");
    }
    // A replacement, by a client that knows the present file.
    on(&admin, "PUT", "drafts/lamp", ("If-Match", &tag(b"lamp")), b"second").expect(200);
    on(&admin, "PUT", "drafts/lamp", ("If-Match", &tag(b"lamp")), b"third").expect(412);
    assert_eq!(anyone.file("drafts", "lamp").expect(200).body, b"second");
    // Deletions.
    on(&admin, "DELETE", "drafts/lamp", ("If-Match", &tag(b"lamp")), b"").expect(412);
    on(&admin, "DELETE", "drafts/lamp", ("If-Unmodified-Since", "Wed, 01 Jan 2020 00:00:00 GMT"), b"").expect(412);
    on(&admin, "DELETE", "drafts/lamp", ("If-Match", &tag(b"second")), b"").expect(204);
    on(&admin, "PUT", "drafts/lamp", ("If-Match", "*"), b"second").expect(412);
    on(&admin, "PUT", "drafts/lamp", none, b"third").expect(201);
    // A folder is no file.
    on(&admin, "DELETE", "releases/org/example", ("If-Match", "*"), b"").expect(412);
    anyone.file("releases", JAR).expect(200);
    // What the server makes has no condition.
    on(&admin, "PUT", &format!("releases/{JAR}.sha1"), none, sha1(b"lamp").as_bytes()).expect(400);
    on(&admin, "PUT", "releases/org/example/lamp/maven-metadata.xml", none, b"<metadata/>").expect(400);
}

#[test]
fn a_gem_is_pushed_once_with_a_condition_and_other_calls_take_none() {
    let world = world();
    let (admin, gem) = (world.admin(), Gem::new("lamp", "1.0").bytes());
    let push = "gems-private/api/v1/gems";
    let none = ("If-None-Match", "*");
    on(&admin, "POST", push, ("If-Match", "*"), &gem).expect(412);
    on(&admin, "POST", push, none, &gem).expect(200);
    on(&admin, "POST", push, none, &gem).expect(412);
    on(&admin, "POST", push, ("If-Match", &format!("\"{}\"", sha256(&gem))), &gem).expect(200);
    let yank = "gems-private/api/v1/gems/yank";
    on(&admin, "DELETE", yank, ("If-Match", "*"), b"gem_name=lamp&version=1.0").expect(400);
    world.anon().file("gems-private", "gems/lamp-1.0.gem").expect(200);
}

/// Sends uploads with `If-None-Match: *` at once, and counts the published ones.
fn published_at_once(person: &Person, method: &str, at: &str, bodies: [&[u8]; 8]) -> usize {
    let answers: Vec<Answer> = thread::scope(|scope| {
        let sent = bodies.map(|body| scope.spawn(move || on(person, method, at, ("If-None-Match", "*"), body)));
        sent.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let published = answers.iter().filter(|answer| matches!(answer.status, 200 | 201)).count();
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 201 | 412)), "{answers:?}");
    published
}

#[test]
fn of_concurrent_uploads_that_expect_nothing_one_is_published() {
    let world = world();
    world.make(&json!({ "name": "drafts", "format": "raw", "kind": "hosted", "replaceable": true }));
    let admin = world.admin();
    let other: [&[u8]; 8] = [b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"];
    for round in 0..10 {
        for bodies in [[&b"same"[..]; 8], other] {
            let kind = if bodies == other { "other" } else { "same" };
            for repository in ["tools", "drafts"] {
                let at = format!("{repository}/{kind}/{round}");
                assert_eq!(published_at_once(&admin, "PUT", &at, bodies), 1, "{at}");
            }
            let at = format!("releases/org/example/{kind}/{round}/{kind}-{round}.jar");
            assert_eq!(published_at_once(&admin, "PUT", &at, bodies), 1, "{at}");
        }
        let gem = Gem::new("lamp", &format!("{round}.0")).bytes();
        assert_eq!(published_at_once(&admin, "POST", "gems-private/api/v1/gems", [&gem; 8]), 1);
    }
}
