//! The age of an upstream's versions: its dates are believed for versions that existed at the first look, and never for
//! later ones.

use super::{WEEK_S, set, set_day, world};
use crate::as_of::last_change;
use crate::world::{Answer, Says, Upstream, World, await_true};
use serde_json::{Value, json};

const METADATA: &str = "org/example/lamp/maven-metadata.xml";
const OLD: &str = "Wed, 01 Jan 2020 12:00:00 GMT";

/// The remote repository `far` has a cooldown of a week. It is the first of the month.
fn shore() -> (World, Upstream) {
    let (world, far) = (world(), Upstream::start());
    world.remote("far", &far.url());
    set(&world, "far", &json!({ "cooldown_s": WEEK_S })).expect(200);
    (world, far)
}

fn path(version: &str, ending: &str) -> String {
    format!("org/example/lamp/{version}/lamp-{version}.{ending}")
}

/// Adds a jar and a POM of a version with this date to the upstream.
fn has(far: &Upstream, version: &str, modified: Option<&str>) {
    for ending in ["jar", "pom"] {
        let says = Says::bytes(format!("{ending} of {version}"));
        let says = modified.into_iter().fold(says, |says, modified| says.header("Last-Modified", modified));
        far.says(&format!("/{}", path(version, ending)), says);
    }
}

/// Makes the upstream list these versions with this `lastUpdated`.
fn lists<'a>(far: &Upstream, versions: impl IntoIterator<Item = &'a str>, updated: &str) {
    let versions: String = versions.into_iter().map(|version| format!("<version>{version}</version>")).collect();
    far.file(
        &format!("/{METADATA}"),
        format!("<metadata><versioning><versions>{versions}</versions><lastUpdated>{updated}</lastUpdated></versioning></metadata>"),
    );
}

fn get(world: &World, path: &str) -> Answer {
    world.anon().file("far", path)
}

fn listed(world: &World) -> Vec<String> {
    crate::maven_hosted::all(&get(world, METADATA).expect(200), "version")
}

/// Deletes the cached file of a path, so that the upstream is called again.
fn forget(world: &World, path: &str) {
    world.admin().ask("DELETE", &format!("/api/v1/repositories/far/contents/{path}"), &[], b"").expect(200);
}

/// Requests a file, and waits until the journal has its observation.
fn meet(world: &World, path: &str) -> Answer {
    let before = last_change(world);
    let answer = get(world, path);
    await_true("the file is recorded", || last_change(world) != before);
    answer
}

#[test]
fn a_version_that_turns_up_is_new_whatever_the_upstream_dates_it() {
    let (world, far) = shore();
    has(&far, "1.0", Some(OLD));
    lists(&far, ["1.0"], "20200101120000");
    assert_eq!(listed(&world), ["1.0"]);
    set_day(&world, 2);
    for version in ["1.1", "1.2"] {
        has(&far, version, Some(OLD));
    }
    lists(&far, ["1.0", "1.1"], "20200101120000");
    for _ in 0..2 {
        assert_eq!(listed(&world), ["1.0"]);
        // The version is on no list: a list without it was seen, so it is new.
        for hidden in ["1.1", "1.2"] {
            get(&world, &path(hidden, "jar")).expect(403);
            get(&world, &path(hidden, "jar.sha1")).expect(403);
        }
    }
    assert_eq!(get(&world, &path("1.0", "jar")).expect(200).text(), "jar of 1.0");
    world.set_time("2026-11-09T11:59:59Z");
    assert_eq!(listed(&world), ["1.0"]);
    set_day(&world, 9);
    assert_eq!(listed(&world), ["1.0", "1.1"]);
    for seen in ["1.1", "1.2"] {
        get(&world, &path(seen, "jar")).expect(200);
    }
}

#[test]
fn what_was_there_before_anybody_looked_is_as_old_as_the_upstream_dates_it() {
    let (world, far) = shore();
    has(&far, "1.0", Some(OLD));
    has(&far, "1.1", None);
    get(&world, &path("1.0", "jar")).expect(200);
    meet(&world, &path("1.1", "jar")).expect(403);
    // The negative answer for the list is cached for a while.
    world.set_time("2026-11-01T12:06:00Z");
    lists(&far, ["0.9", "1.0", "1.1"], "20261101110000");
    has(&far, "0.9", Some(OLD));
    assert_eq!(listed(&world), ["0.9", "1.0"]);
    get(&world, &path("0.9", "jar")).expect(200);
}

#[test]
fn what_fell_out_of_the_cache_is_as_old_as_it_was() {
    let (world, far) = shore();
    has(&far, "1.0", None);
    meet(&world, &path("1.0", "jar")).expect(403);
    set_day(&world, 8);
    forget(&world, &path("1.0", "jar"));
    assert_eq!(get(&world, &path("1.0", "jar")).expect(200).text(), "jar of 1.0");
    // The same for another file of the version that no client had requested.
    get(&world, &path("1.0", "pom")).expect(200);
}

#[test]
fn all_versions_are_dated_in_time_with_few_questions_at_a_time_and_one_for_each() {
    let (world, far) = shore();
    let all: Vec<String> = (0..100).map(|number| format!("1.{number}")).collect();
    all.iter().for_each(|version| has(&far, version, Some(OLD)));
    lists(&far, all.iter().map(String::as_str), "20261101110000");
    let mut asked = 0;
    for (second, seen) in [(0, 32), (5, 32), (10, 64), (20, 96), (30, 100), (40, 100)] {
        world.set_time(&format!("2026-11-01T13:00:{second:02}Z"));
        for _ in 0..2 {
            assert_eq!(listed(&world), all[all.len() - seen..], "after {second} s");
        }
        // The document, and 32 POMs with their checksums.
        assert!(far.total() - asked <= 65, "{} at once", far.total() - asked);
        asked = far.total();
    }
    for version in &all {
        assert_eq!(far.count(&format!("/{}", path(version, "pom"))), 1, "{version}");
        forget(&world, &path(version, "pom"));
    }
    // Recorded dates stay, even if the files are evicted.
    assert_eq!(listed(&world), all);
    assert_eq!(far.total(), asked);
}

#[test]
fn versions_that_cannot_be_dated_do_not_keep_others_from_their_turn() {
    let (world, far) = shore();
    let all: Vec<String> = (0..64).map(|number| format!("1.{number}")).collect();
    all.iter().for_each(|version| has(&far, version, Some(OLD)));
    for version in &all[32..] {
        far.says(&format!("/{}", path(version, "pom")), Says::status(403));
    }
    lists(&far, all.iter().map(String::as_str), "20261101110000");
    for (second, seen) in [(0, 0), (10, 0), (20, 32)] {
        world.set_time(&format!("2026-11-01T13:00:{second:02}Z"));
        assert_eq!(listed(&world), all[..seen], "after {second} s");
    }
}

#[test]
fn a_build_that_turns_up_is_new_whatever_its_name_says() {
    let (world, far) = shore();
    let metadata = "org/example/lamp/2-SNAPSHOT/maven-metadata.xml";
    let jar = |build: &str| format!("org/example/lamp/2-SNAPSHOT/lamp-2-{build}.jar");
    let deployed = |build: &str| {
        let (timestamp, number) = build.split_once('-').unwrap();
        far.file(&format!("/{}", jar(build)), build);
        far.file(
            &format!("/{metadata}"),
            format!(
                "<metadata><versioning><snapshot><timestamp>{timestamp}</timestamp><buildNumber>{number}</buildNumber></snapshot>\
                 <snapshotVersions><snapshotVersion><extension>jar</extension><value>2-{build}</value></snapshotVersion>\
                 </snapshotVersions></versioning></metadata>"
            ),
        );
    };
    deployed("20200101.120000-1");
    assert!(get(&world, metadata).expect(200).text().contains("2-20200101.120000-1<"));
    get(&world, &jar("20200101.120000-1")).expect(200);
    set_day(&world, 2);
    deployed("20200101.120001-2");
    for _ in 0..2 {
        assert!(!get(&world, metadata).expect(200).text().contains("120001"));
        get(&world, &jar("20200101.120001-2")).expect(403);
    }
    set_day(&world, 9);
    assert!(get(&world, metadata).expect(200).text().contains("2-20200101.120001-2<"));
    get(&world, &jar("20200101.120001-2")).expect(200);
}

#[test]
fn a_pinned_version_without_a_date_is_as_old_as_the_list_of_its_artifact_that_is_read_once() {
    let (world, far) = shore();
    for version in ["1.0", "1.1", "1.2"] {
        has(&far, version, None);
    }
    lists(&far, ["1.0", "1.1"], "20231101110000");
    // A build that pins the version requests no list. Its POM is the first request.
    assert_eq!(get(&world, &path("1.0", "pom")).expect(200).text(), "pom of 1.0");
    get(&world, &path("1.0", "jar")).expect(200);
    get(&world, &path("1.1", "jar.sha1")).expect(404);
    get(&world, &path("1.1", "jar")).expect(200);
    // A version that is on no list appeared later, as far as is known.
    get(&world, &path("1.2", "jar")).expect(403);
    assert_eq!(far.count(&format!("/{METADATA}")), 1);
    assert_eq!(listed(&world), ["1.0", "1.1"]);
    assert_eq!(far.count(&format!("/{METADATA}")), 1);
}

#[test]
fn a_version_that_only_a_young_list_dates_is_said_to_be_not_older_than_can_be_proven() {
    let (world, far) = shore();
    has(&far, "1.0", None);
    // A release of yesterday dates the whole list, which is no date of this version.
    lists(&far, ["1.0", "9.9"], "20261031120000");
    let refused = get(&world, &path("1.0", "pom")).expect(403);
    let expected = "not older than can be proven: its upstream had it by 2026-10-31T12:00:00.000Z";
    assert!(refused.text().contains(expected) && !refused.text().contains("is from"), "{}", refused.text());
    let explained = format!("/api/v1/explain?repository=far&path={}", path("1.0", "pom"));
    let explained = world.admin().get(&explained).expect(200).json();
    assert_eq!((&explained["rule"]["existed_by"], &explained["rule"]["first_seen"]), (&json!(true), &Value::Null));
    let page = world.admin().get(&format!("/explain?repository=far&path={}", path("1.0", "pom"))).expect(200);
    assert!(
        page.text().contains("not older than can be proven") && page.text().contains("Existed by"),
        "{}",
        page.text()
    );
}

#[test]
fn a_version_that_nothing_dates_is_refused_as_of_unknown_age() {
    let (world, far) = shore();
    has(&far, "1.0", None);
    for _ in 0..3 {
        for ending in ["pom", "jar"] {
            let refused = get(&world, &path("1.0", ending)).expect(403);
            assert!(refused.text().contains("not older than can be proven"), "{}", refused.text());
            assert!(refused.text().contains("so it counts from 2026-11-01"), "{}", refused.text());
            assert!(!refused.text().contains("this one is from"), "{}", refused.text());
        }
    }
    assert_eq!(far.count(&format!("/{METADATA}")), 1, "that there is none is remembered");
    let explained =
        world.admin().get(&format!("/api/v1/explain?repository=far&path={}", path("1.0", "jar"))).expect(200);
    assert!(explained.text().contains("not older than can be proven"), "{}", explained.text());
    // No upstream is called for a version that is hidden regardless of its age.
    set(&world, "far", &json!({ "deny": ["org.example:oil"] })).expect(200);
    get(&world, "org/example/oil/1.0/oil-1.0.pom").expect(403);
    assert_eq!(far.count("/org/example/oil/maven-metadata.xml"), 0);
}
