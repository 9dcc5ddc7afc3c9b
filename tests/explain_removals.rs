//! `explain` for removed files: the action, its date, author and reason, and how to restore the file.

use crate::maven_hosted::build;
use crate::world::{Gem, World};
use serde_json::{Value, json};
use std::cell::Cell;
use std::time::{Duration, Instant};

const JAR: &str = "org/example/lamp/1.0/lamp-1.0.jar";

/// A server whose clock stands still at the beginning of 1980.
fn world() -> World {
    let world = World::start_in_conformance(&[]);
    world.set_time("1980-01-01T00:00:00Z");
    world.tree("libs", "maven");
    world
}

fn explain(world: &World, repository: &str, path: &str) -> Value {
    world.admin().get(&format!("/api/v1/explain?repository={repository}&path={path}")).expect(200).json()
}

/// The status, the description of the removal, and the hint.
fn removal(explained: &Value) -> (u64, &str, &str) {
    let text = |key: &str| explained[key].as_str().unwrap_or_default();
    (explained["status"].as_u64().unwrap(), text("detail"), text("hint"))
}

/// Repeats the explanation until it is as expected, because the server works in the background.
#[track_caller]
fn until(explained: impl Fn() -> Value, is: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let one = explained();
        if is(&one) {
            return one;
        }
        assert!(Instant::now() < end, "{one}");
    }
}

fn purge(world: &World, name: &str, what: &str) {
    let body = json!({"what": what, "why": "a key was in it", "apply": true});
    world.admin().post_json(&format!("/api/v1/repositories/{name}/purge"), &body).expect(200);
}

#[test]
fn a_deleted_file_says_who_deleted_it_and_until_when_and_how_it_comes_back() {
    let world = world();
    world.make(&json!({"name": "all", "format": "maven", "members": ["libs"]}));
    world.admin().put("libs", JAR, b"lamp").expect(201);
    assert_eq!(explain(&world, "libs", JAR)["hint"], Value::Null, "it is there");
    world.admin().delete("libs", JAR).expect(204);
    let deleted = "`org/example/lamp/1.0/lamp-1.0.jar` was deleted in `libs` on 1980-01-01T00:00:00.000Z by `admin` from 127.0.0.1; \
                   its bytes are deleted on 1980-01-09T00:00:00.000Z at the earliest";
    let hint = format!("until 1980-01-08T00:00:00.000Z `daylight repo restore libs {JAR}` brings it back");
    for (repository, path) in [("libs", JAR.to_owned()), ("libs", format!("{JAR}.sha1")), ("all", JAR.to_owned())] {
        assert_eq!(removal(&explain(&world, repository, &path)), (404, deleted, &*hint), "{repository} {path}");
    }
    world.set_time("1980-01-08T00:00:01Z");
    let late = explain(&world, "libs", JAR);
    assert!(removal(&late).2.contains("could bring it back; a backup"), "{late}");
    let command = crate::groups::command(&world, &["explain", "libs", JAR]);
    let said = String::from_utf8(command.stdout).unwrap();
    assert!(said.contains("\nhint     until 1980-01-08"), "{said}");
}

#[test]
fn what_was_deleted_of_a_version_at_once_comes_back_at_once() {
    let world = world();
    let (pom, version) = (JAR.replace(".jar", ".pom"), "org.example:lamp:1.0");
    world.admin().put("libs", JAR, b"lamp").expect(201);
    let text = "<project><groupId>org.example</groupId><artifactId>lamp</artifactId><version>1.0</version></project>";
    world.admin().put("libs", &pom, text.as_bytes()).expect(201);
    world.admin().delete("libs", "org/example/lamp/1.0").expect(204);
    for asked in [version, JAR] {
        let explained = explain(&world, "libs", asked);
        let command = removal(&explained).2.split('`').nth(1).unwrap();
        assert_eq!(command, format!("daylight repo restore libs {version}"), "{explained}");
    }
    let done = crate::groups::command(&world, &["repo", "restore", "libs", version]);
    assert!(done.status.success(), "{done:?}");
    for path in [JAR, &*pom] {
        world.anon().file("libs", path).expect(200);
    }
}

#[test]
fn what_a_cleanup_took_says_the_rule_and_the_command_of_the_hint_works() {
    let world = world();
    world.repository("stock", false);
    for version in ["1.0.0", "2.0.0"] {
        world.admin().push("stock", &Gem::new("lamp", version).platform("java")).expect(200);
    }
    world.change("stock", &json!({"keep_versions": 1}));
    world.admin().post_json("/api/v1/cleanup", &json!({"repositories": ["stock"], "apply": true})).expect(200);
    let path = "gems/lamp-1.0.0-java.gem";
    let explained = explain(&world, "stock", path);
    let (status, said, hint) = removal(&explained);
    assert_eq!(status, 404, "{explained}");
    assert!(said.starts_with("`lamp-1.0.0-java` was removed by a cleanup in `stock` on 1980-01-01"), "{explained}");
    assert!(said.contains("by the rule `keep_versions`"), "{explained}");
    let command = hint.split('`').nth(1).unwrap().strip_prefix("daylight ").unwrap();
    assert_eq!(command, "repo restore stock lamp:1.0.0-java");
    let done = crate::groups::command(&world, &command.split(' ').collect::<Vec<_>>());
    assert!(done.status.success(), "{done:?}");
    assert_eq!(explain(&world, "stock", path)["status"], 200);
}

#[test]
fn a_yank_says_where_the_version_still_is_and_a_purge_why_it_is_gone() {
    let world = world();
    world.repository("stock", false);
    for version in ["1.0.0", "2.0.0"] {
        world.admin().push("stock", &Gem::new("lamp", version)).expect(200);
    }
    world.set_time("1980-01-02T00:00:00Z");
    world.admin().yank("stock", "lamp", "1.0.0").expect(200);
    purge(&world, "stock", "lamp:2.0.0");
    let yanked = explain(&world, "stock", "gems/lamp-1.0.0.gem");
    let gemspec = explain(&world, "stock", "quick/Marshal.4.8/lamp-1.0.0.gemspec.rz");
    assert_eq!(removal(&gemspec), removal(&yanked));
    for name in ["lamp:1.0.0", "lamp-1.0.0", "lamp-1.0.0.gem"] {
        assert_eq!(removal(&explain(&world, "stock", name)), removal(&yanked), "{name}");
    }
    let (status, said, hint) = removal(&yanked);
    assert!(
        status == 404 && said.starts_with("`lamp-1.0.0` was yanked in `stock` on 1980-01-02T00:00:00.000Z by `admin`"),
        "{yanked}"
    );
    assert!(hint.contains("until 1981-02-05T00:00:00.000Z `stock@1980-01-01T00:00:00.000Z` still has it"), "{yanked}");
    world.anon().get("/repository/stock@1980-01-01T00:00:00.000Z/gems/lamp-1.0.0.gem").expect(200);
    let purged = explain(&world, "stock", "gems/lamp-2.0.0.gem");
    let (status, said, hint) = removal(&purged);
    assert!(status == 404 && said.starts_with("`lamp-2.0.0` was purged in `stock` on 1980-01-02"), "{purged}");
    assert!(said.contains("because: a key was in it") && hint.starts_with("a purge cannot be undone"), "{purged}");
}

#[test]
fn bytes_that_were_deleted_are_dated_and_the_answer_of_an_earlier_moment_is_410_and_not_refused() {
    let world = world();
    world.make(&json!({"name": "all", "format": "maven", "members": ["libs"]}));
    world.admin().put("libs", JAR, b"lamp").expect(201);
    world.set_time("1980-01-02T00:00:00Z");
    world.admin().delete("libs", JAR).expect(204);
    let then = || {
        let url = format!("/api/v1/explain?repository=all&path={JAR}&as_of=1980-01-01T12:00:00Z");
        world.admin().get(&url).expect(200).json()
    };
    // The collector marks the bytes in one round and deletes them in a later one. Each change of the clock starts a
    // round.
    let years = Cell::new(1981);
    let later = || {
        world.set_time(&format!("{}-01-01T00:00:00Z", years.replace(years.get() + 1)));
        then()
    };
    let gone = until(later, |one| one["status"] == 410);
    assert_eq!((&gone["outcome"], &gone["reason"]), (&json!("not_found"), &json!("unkept")), "{gone}");
    assert_eq!(gone["members"][0]["said"], "not_found", "{gone}");
    let (_, said, hint) = removal(&gone);
    assert!(said.contains("its bytes were deleted on "), "{gone}");
    assert!(hint.contains("could bring it back"), "{gone}");
}

#[test]
fn a_build_that_retention_removed_says_so() {
    let world = world();
    world.make(&json!({"name": "trees", "format": "maven", "versions": "snapshots", "retention": {"builds": 1}}));
    for number in 1..=2 {
        build(&world.admin(), &format!("2026010{number}.120000"), number);
    }
    let path = "org/example/lamp/1.0-SNAPSHOT/lamp-1.0-20260101.120000-1.jar";
    let pruned = until(|| explain(&world, "trees", path), |one| one["status"] == 404);
    let (_, said, hint) = removal(&pruned);
    assert!(
        said.starts_with(&format!("`{path}` was removed by the retention of snapshots in `trees` on 1980-01-01")),
        "{pruned}"
    );
    assert!(said.contains(" by the server; "), "{pruned}");
    assert!(hint.starts_with("until 1980-01-02T00:00:00.000Z") && hint.contains("change its retention"), "{pruned}");
}
