//! Policies of trees of files: artifacts, their checksums and metadata at its levels, hosted and through groups.

use super::{WEEK_S, allow, set, set_day, world};
use crate::as_of::last_change;
use crate::world::{Answer, World};
use serde_json::json;

/// Deploys a version of `org.example:lamp` with its POM.
fn deploy(world: &World, version: &str) {
    for ending in ["jar", "pom"] {
        let bytes = format!("<project><version>{version}</version></project>");
        world.admin().put("ours", &path(version, ending), bytes.as_bytes()).expect(201);
    }
}

fn path(version: &str, ending: &str) -> String {
    format!("org/example/lamp/{version}/lamp-{version}.{ending}")
}

const METADATA: &str = "org/example/lamp/maven-metadata.xml";

/// `ours` (hosted) has lamp 1.0 (day 1) and 1.1 (day 10), `all` is a group with it, and `outer` a group with `all`. It
/// is day 11.
fn house() -> World {
    let world = world();
    world.tree("ours", "maven");
    for (group, member) in [("all", "ours"), ("outer", "all")] {
        world.make(&json!({ "name": group, "format": "maven", "members": [member] }));
    }
    deploy(&world, "1.0");
    set_day(&world, 10);
    deploy(&world, "1.1");
    set_day(&world, 11);
    world
}

fn get(world: &World, repository: &str, path: &str) -> Answer {
    world.anon().file(repository, path)
}

fn lists(world: &World, repository: &str, version: &str) -> bool {
    get(world, repository, METADATA).expect(200).text().contains(&format!("<version>{version}</version>"))
}

#[test]
fn what_is_young_is_hidden_through_a_group_at_every_level_and_says_why() {
    let world = house();
    set(&world, "all", &json!({ "cooldown_s": WEEK_S })).expect(200);
    for group in ["all", "outer"] {
        assert!(lists(&world, group, "1.0") && !lists(&world, group, "1.1"), "{group}");
        let metadata = get(&world, group, METADATA);
        assert!(
            !metadata.text().contains(">1.1<") && metadata.header("last-modified").is_none(),
            "{}",
            metadata.text()
        );
        get(&world, group, &path("1.0", "jar")).expect(200);
        for ending in ["jar", "pom", "jar.sha1", "pom.md5"] {
            let refused = get(&world, group, &path("1.1", ending)).expect(403);
            assert_eq!(refused.header("content-type"), Some("application/problem+json"));
            let said = refused.json();
            assert!(said["detail"].as_str().unwrap().contains("hidden by the policy of `all`"), "{said}");
            assert!(
                said["hint"].as_str().unwrap().contains("daylight policy allow all org.example:lamp:1.1"),
                "{said}"
            );
        }
    }
    // The member itself has no such policy.
    assert!(lists(&world, "ours", "1.1"));
    get(&world, "ours", &path("1.1", "jar")).expect(200);
}

#[test]
fn a_page_made_before_the_end_of_a_cooldown_is_not_served_after_it() {
    let world = house();
    set(&world, "ours", &json!({ "cooldown_s": WEEK_S })).expect(200);
    let sums = |repository| get(&world, repository, &format!("{METADATA}.sha1")).expect(200).text().to_owned();
    world.set_time("2026-11-17T11:59:59Z");
    let before = ["ours", "outer"].map(|repository| {
        // The second request makes it a page, the third reads the page.
        (0..4).for_each(|_| assert!(!lists(&world, repository, "1.1"), "{repository}"));
        (0..3).for_each(|_| drop(sums(repository)));
        sums(repository)
    });
    set_day(&world, 17);
    for (repository, before) in ["ours", "outer"].into_iter().zip(before) {
        assert!(lists(&world, repository, "1.1"), "{repository}");
        assert_ne!(sums(repository), before, "{repository}");
        get(&world, repository, &path("1.1", "jar")).expect(200);
    }
}

#[test]
fn the_same_bytes_are_as_old_as_they_were_when_they_are_published_again() {
    let world = house();
    set(&world, "ours", &json!({ "cooldown_s": WEEK_S })).expect(200);
    set_day(&world, 20);
    world.admin().delete("ours", "org/example/lamp/1.0").expect(204);
    deploy(&world, "1.0");
    for repository in ["ours", "outer"] {
        assert!(lists(&world, repository, "1.0"), "{repository}");
        ["jar", "pom", "pom.sha1"]
            .iter()
            .for_each(|ending| drop(get(&world, repository, &path("1.0", ending)).expect(200)));
    }
}

#[test]
fn of_what_has_only_young_versions_nothing_is_told_until_one_is_let_through_by_name() {
    let world = house();
    world.admin().put("ours", "org/example/oil/2.0/oil-2.0.pom", b"<project/>").expect(201);
    set(&world, "ours", &json!({ "cooldown_s": WEEK_S })).expect(200);
    let metadata = "org/example/oil/maven-metadata.xml";
    let pom = "org/example/oil/2.0/oil-2.0.pom";
    let refused = get(&world, "all", pom).expect(403).json();
    assert!(refused["detail"].as_str().unwrap().contains("`org.example:oil:2.0` is hidden"), "{refused}");
    // The document exists for the next deploy, and is empty.
    let told = get(&world, "all", metadata).expect(200);
    assert!(told.text().contains("<artifactId>oil<") && !told.text().contains("2.0"), "{}", told.text());
    allow(&world, "ours", "org.example:oil:2.*", Some("2026-11-13T00:00:00Z")).expect(201);
    for _ in 0..3 {
        assert!(get(&world, "all", metadata).expect(200).text().contains("<version>2.0<"));
        get(&world, "all", pom).expect(200);
    }
    set_day(&world, 13);
    assert!(!get(&world, "all", metadata).expect(200).text().contains("2.0"));
    get(&world, "all", pom).expect(403);
}

#[test]
fn what_is_let_through_later_changes_no_answer_as_of_an_earlier_moment() {
    let world = house();
    set(&world, "ours", &json!({ "cooldown_s": WEEK_S })).expect(200);
    let before = last_change(&world);
    set_day(&world, 12);
    allow(&world, "ours", "org.example:lamp:1.1", None).expect(201);
    let after = last_change(&world);
    // A repeated exception counts from the first one.
    set_day(&world, 13);
    allow(&world, "ours", "org.example:lamp:1.1", Some("2026-11-16T12:00:00Z")).expect(201);
    set_day(&world, 14);
    let [early, late] = ["2026-11-12T11:59:59Z", "2026-11-12T12:30:00Z"].map(str::to_owned);
    for repository in ["ours", "all", "outer"] {
        for (moment, seen) in
            [(&early, false), (&format!("seq-{before}"), false), (&late, true), (&format!("seq-{after}"), true)]
        {
            let then = format!("{repository}@{moment}");
            assert_eq!(lists(&world, &then, "1.1"), seen, "{then}");
            let status = if seen { 200 } else { 403 };
            ["jar", "pom.sha1"].iter().for_each(|ending| drop(get(&world, &then, &path("1.1", ending)).expect(status)));
            assert!(lists(&world, &then, "1.0"), "{then}");
        }
        assert!(lists(&world, repository, "1.1"));
    }
}

#[test]
fn what_a_group_denies_or_does_not_allow_is_hidden_there_and_cannot_be_published_where_it_is_denied() {
    let world = house();
    set(&world, "all", &json!({ "deny": ["*:lamp:1.1"] })).expect(200);
    assert!(!lists(&world, "outer", "1.1") && lists(&world, "ours", "1.1"));
    get(&world, "outer", &path("1.1", "pom.sha1")).expect(403);
    set(&world, "outer", &json!({ "allow": ["org.other.*"] })).expect(200);
    get(&world, "outer", &path("1.0", "jar")).expect(403);
    get(&world, "all", &path("1.0", "jar")).expect(200);
    set(&world, "ours", &json!({ "deny": ["org.example:oil"] })).expect(200);
    let refused = world.admin().put("ours", "org/example/oil/1/oil-1.jar", b"x").expect(403);
    assert!(refused.text().contains("`org.example:oil` is denied"), "{}", refused.text());
    // Deploys and deletions work next to hidden versions.
    deploy(&world, "1.2");
    world.admin().delete("ours", "org/example/lamp/1.1").expect(204);
    assert!(lists(&world, "ours", "1.2") && !lists(&world, "ours", "1.1"));
    for (wrong, why) in [
        (json!({ "deny": ["a:b:c:d"] }), "too many colons"),
        (json!({ "private_prefixes": ["com.example"] }), "a hosted repository has none"),
        (json!({ "exceptions": [] }), "who made it"),
        (json!({ "cooldown": 5 }), "has no setting"),
    ] {
        let refused = set(&world, "ours", &wrong).expect(400);
        assert!(refused.text().contains(why), "{}", refused.text());
    }
}
