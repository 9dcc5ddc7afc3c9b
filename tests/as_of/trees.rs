//! Hosted trees of files as of a moment, and groups of them.

use super::{assert_still, millis, now};
use crate::world::World;
use serde_json::json;

const POM: &[u8] = b"<project><packaging>maven-plugin</packaging><artifactId>lamp</artifactId></project>";
const ARCHETYPE: &[u8] = b"<project><packaging>maven-archetype</packaging><artifactId>lamp</artifactId></project>";

/// All files of one artifact that clients request.
const PATHS: &[&str] = &[
    "org/lamp/1.0/lamp-1.0.jar",
    "org/lamp/1.0/lamp-1.0.jar.sha1",
    "org/lamp/1.0/lamp-1.0.pom",
    "org/lamp/2.0/lamp-2.0.pom",
    "org/lamp/3-SNAPSHOT/lamp-3-SNAPSHOT.jar",
    "org/lamp/3-SNAPSHOT/lamp-3-SNAPSHOT.jar.sha256",
    "org/lamp/3-SNAPSHOT/lamp-3-20260101.120000-1.pom",
    "org/lamp/3-SNAPSHOT/lamp-3-20260102.120000-2.pom",
    "org/lamp/3-SNAPSHOT/maven-metadata.xml",
    "org/lamp/3-SNAPSHOT/maven-metadata.xml.sha1",
    "org/lamp/maven-metadata.xml",
    "org/lamp/maven-metadata.xml.sha1",
    "org/maven-metadata.xml",
    "org/maven-metadata.xml.md5",
    "archetype-catalog.xml",
    "archetype-catalog.xml.sha1",
];

/// A step of the test: a path with its new content, or that it is deleted (`None`), or that it is restored.
enum Step {
    Put(&'static str, &'static [u8]),
    Delete(&'static str),
    Restore(&'static str),
}

const STEPS: &[Step] = &[
    Step::Put("org/lamp/1.0/lamp-1.0.jar", b"jar"),
    Step::Put("org/lamp/1.0/lamp-1.0.pom", POM),
    Step::Put("org/lamp/2.0/lamp-2.0.pom", ARCHETYPE),
    Step::Delete("org/lamp/1.0"),
    Step::Restore("org/lamp/1.0"),
    Step::Put("org/lamp/3-SNAPSHOT/lamp-3-SNAPSHOT.jar", b"first"),
    Step::Put("org/lamp/3-SNAPSHOT/lamp-3-SNAPSHOT.jar", b"second"),
    Step::Put("org/lamp/3-SNAPSHOT/lamp-3-20260101.120000-1.pom", POM),
    Step::Put("org/lamp/3-SNAPSHOT/lamp-3-20260102.120000-2.pom", POM),
    Step::Delete("org/lamp/3-SNAPSHOT/lamp-3-20260101.120000-1.pom"),
    Step::Delete("org/lamp/3-SNAPSHOT/lamp-3-SNAPSHOT.jar"),
    Step::Delete("org"),
    Step::Restore("org/lamp/2.0"),
    Step::Restore("org"),
    Step::Put("org/lamp/3-SNAPSHOT/lamp-3-SNAPSHOT.jar", b"third"),
];

impl Step {
    fn take(&self, world: &World) {
        let admin = world.admin();
        match self {
            Step::Put(path, bytes) => {
                let status = admin.put("trees", path, bytes).status;
                assert!([200, 201].contains(&status), "{path}: {status}");
            }
            Step::Delete(path) => drop(admin.delete("trees", path).expect(204)),
            Step::Restore(path) => {
                admin.ask("POST", &format!("/api/v1/repositories/trees/contents/{path}"), &[], b"").expect(200);
            }
        }
    }
}

#[test]
fn a_tree_is_what_it_was_whatever_was_replaced_deleted_or_brought_back_since() {
    let mut world = World::start();
    world.tree("trees", "maven");
    world.make(&json!({ "name": "all", "format": "maven", "members": ["trees", "maven-releases"] }));
    let mut moments = vec![now(&world, "trees", PATHS)];
    for step in STEPS {
        step.take(&world);
        moments.push(now(&world, "trees", PATHS));
    }
    assert_still(&world, "trees", PATHS, &moments);
    let files = &PATHS[..8];
    assert_still(&world, "all", files, &moments);
    world.restart();
    assert_still(&world, "trees", PATHS, &moments);
}

#[test]
fn a_page_of_a_moment_stays_what_it_was_while_the_repository_changes() {
    let world = World::start();
    world.tree("trees", "maven");
    let path = "org/lamp/maven-metadata.xml";
    world.admin().put("trees", "org/lamp/1.0/lamp-1.0.pom", POM).expect(201);
    let then = [now(&world, "trees", &[path])];
    for version in ["1.1", "1.2", "1.3"] {
        assert_still(&world, "trees", &[path], &then);
        assert_still(&world, "trees", &[path], &then);
        world.admin().put("trees", &format!("org/lamp/{version}/lamp-{version}.pom"), POM).expect(201);
    }
    assert_still(&world, "trees", &[path], &then);
    assert!(world.anon().file("trees", path).expect(200).text().contains("1.3"));
}

#[test]
fn large_files_that_stay_open_are_those_of_today() {
    let world = World::start();
    world.tree("trees", "maven");
    let path = "org/lamp/1-SNAPSHOT/lamp-1-SNAPSHOT.jar";
    world.admin().put("trees", path, &[b'a'; 100_000]).expect(201);
    let then = [now(&world, "trees", &[path])];
    world.admin().put("trees", path, &[b'b'; 200_000]).expect(200);
    for _ in 0..2 {
        assert_eq!(world.anon().file("trees", path).expect(200).body.len(), 200_000);
        assert_still(&world, "trees", &[path], &then);
    }
}

#[test]
fn what_cannot_be_seen_as_of_a_moment_is_refused_with_its_reason() {
    let world = World::start();
    let before = jiff::Timestamp::from_millisecond(millis() - 1).unwrap();
    let born = millis();
    while millis() == born {
        std::thread::yield_now();
    }
    world.tree("trees", "raw");
    world.admin().put("trees", "a", b"a").expect(201);
    let anon = world.anon();
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    for future in [today.to_string(), "2999-01-01".into(), "2999-01-01T00:00:00Z".into(), "seq-99999".into()] {
        let refused = anon.file(&format!("trees@{future}"), "a").expect(400);
        assert!(refused.text().contains("is in the future"), "{}", refused.text());
    }
    for odd in ["", "yesterday", "2026-02-30", "seq-x"] {
        anon.file(&format!("trees@{odd}"), "a").expect(400);
    }
    for early in [before.to_string(), "2001-01-01".into(), "seq-0".into()] {
        let refused = anon.file(&format!("trees@{early}"), "a").expect(404);
        assert!(refused.text().contains("nothing is known of `trees` before"), "{}", refused.text());
    }
    let last = super::last_change(&world);
    let admin = world.admin();
    let refused = admin.put(&format!("trees@seq-{last}"), "b", b"b").expect(405);
    assert_eq!(refused.header("allow"), Some("GET, HEAD"));
    admin.delete(&format!("trees@seq-{last}"), "a").expect(405);
    anon.file("nothing@2001-01-01", "a").expect(404);
    anon.file(&format!("trees@seq-{last}"), "a").expect(200);
    world.make(&json!({ "name": "secret", "format": "raw", "kind": "hosted", "private": true }));
    anon.file("secret@2001-01-01", "a").expect(401);
    admin.file("secret@2001-01-01", "a").expect(404);
}

#[test]
fn client_settings_of_a_moment_lead_back_to_it() {
    let world = World::start();
    world.tree("trees", "maven");
    let name = format!("trees@seq-{}", super::last_change(&world));
    let settings = world.anon().file(&name, "settings.xml").expect(200);
    assert!(settings.text().contains(&format!("/repository/{name}/")), "{}", settings.text());
}
