//! Upstreams as of a moment: only files that had been seen by then.

use super::{last_change, now};
use crate::world::{Answer, Upstream, World, await_true, hex};
use serde_json::json;
use sha1::{Digest, Sha1};

const METADATA: &str = "org/lamp/maven-metadata.xml";

fn metadata(versions: &[&str]) -> String {
    let versions: String = versions.iter().map(|version| format!("<version>{version}</version>")).collect();
    format!(
        "<metadata><groupId>org</groupId><artifactId>lamp</artifactId><versioning><versions>{versions}</versions>\
         </versioning></metadata>"
    )
}

fn jar(version: &str) -> String {
    format!("org/lamp/{version}/lamp-{version}.jar")
}

/// Requests a file, and waits until the journal has this number of first-seen changes.
fn see(world: &World, path: &str, changes: u64) -> Answer {
    let before = last_change(world);
    let answer = world.anon().file("far", path).expect(200);
    await_true("the changes are recorded", || last_change(world) >= before + changes);
    answer
}

/// Deletes the cached file, so that the next request calls the upstream.
fn forget(world: &World, path: &str) {
    world.admin().ask("DELETE", &format!("/api/v1/repositories/far/contents/{path}"), &[], b"").expect(200);
}

fn then(world: &World) -> String {
    now(world, "far", &[]).names[0].clone()
}

fn versions(answer: &Answer) -> Vec<String> {
    crate::maven_hosted::all(answer, "version")
}

#[test]
fn an_upstream_is_told_as_it_had_been_seen() {
    let (mut world, far) = (World::start(), Upstream::start());
    world.remote("far", &far.url());
    world.make(&json!({ "name": "all", "format": "maven", "members": ["maven-releases", "far"] }));
    for version in ["1.0", "1.1"] {
        far.file(&format!("/{}", jar(version)), version);
        far.file(&format!("/org/lamp/{version}/lamp-{version}.pom"), "pom");
    }
    far.file(&format!("/{METADATA}"), metadata(&["1.0"]));
    let never = then(&world);
    assert_eq!(versions(&see(&world, METADATA, 2)), ["1.0"]);
    let first = then(&world);
    // The version that was seen has a date of its own now. The other one is new, although no list has it yet.
    see(&world, &jar("1.0"), 1);
    see(&world, &jar("1.1"), 1);
    let second = then(&world);
    far.file(&format!("/{METADATA}"), metadata(&["1.0", "1.1", "1.2"]));
    forget(&world, METADATA);
    see(&world, METADATA, 1);

    world.restart();
    let ask = |moment: &str, path: &str| world.anon().file(&format!("far@{moment}"), path);
    let early = ask(&never, METADATA).expect(404);
    assert!(early.text().contains("nothing is known of `far` before"), "{}", early.text());
    ask(&never, &jar("1.0")).expect(404);
    let told = ask(&first, METADATA).expect(200);
    assert_eq!(versions(&told), ["1.0"]);
    assert_eq!(ask(&first, &format!("{METADATA}.sha1")).expect(200).text(), hex(&Sha1::digest(&told.body)));
    assert_eq!(versions(&ask(&second, METADATA).expect(200)), ["1.0", "1.1"]);
    // Any file of a version that had been seen is answered, whenever it was fetched, and no file of other versions.
    assert_eq!(ask(&first, &jar("1.0")).expect(200).text(), "1.0");
    assert_eq!(ask(&first, "org/lamp/1.0/lamp-1.0.pom").expect(200).text(), "pom");
    ask(&first, &jar("1.1")).expect(404);
    ask(&first, &format!("{}.sha1", jar("1.1"))).expect(404);
    assert_eq!(ask(&second, &jar("1.1")).expect(200).text(), "1.1");
    assert_eq!(versions(&world.anon().file(&format!("all@{first}"), METADATA).expect(200)), ["1.0"]);
    let through = |moment: &str| world.anon().file(&format!("all@{moment}"), &jar("1.1")).status;
    assert_eq!((through(&first), through(&second)), (404, 200));
    ask(&first, "org/lamp/2-SNAPSHOT/maven-metadata.xml").expect(410);
    let early = world.anon().file("all@seq-0", METADATA).expect(404);
    assert!(early.text().contains("nothing is known of `all` before"), "{}", early.text());
    world.anon().put(&format!("far@{first}"), &jar("1.0"), b"x").expect(405);
}

#[test]
fn a_refresh_costs_what_it_shows_that_is_new_however_much_there_is() {
    let (world, far) = (World::start(), Upstream::start());
    world.remote("far", &far.url());
    let mut all: Vec<String> = (0..300).map(|number| format!("1.{number}")).collect();
    let listed = |all: &[String]| metadata(&all.iter().map(String::as_str).collect::<Vec<_>>());
    far.file(&format!("/{METADATA}"), listed(&all));
    // One row has all versions of the folder, and one row has the existence of the upstream.
    let before = last_change(&world);
    see(&world, METADATA, 2);
    forget(&world, METADATA);
    world.anon().file("far", METADATA).expect(200);
    all.push("2.0".into());
    far.file(&format!("/{METADATA}"), listed(&all));
    forget(&world, METADATA);
    see(&world, METADATA, 1);
    assert_eq!(last_change(&world), before + 3);
}

#[test]
fn a_raw_file_that_changed_since_is_gone_and_not_told_with_the_bytes_of_today() {
    let (world, far) = (World::start(), Upstream::start());
    let remote = json!({ "urls": [far.url()], "fresh_s": 1 });
    world.make(&json!({ "name": "far", "format": "raw", "kind": "remote", "remote": remote }));
    far.file("/tool.zip", "one");
    see(&world, "tool.zip", 2);
    let first = then(&world);
    let ask = |moment: &str| world.anon().file(&format!("far@{moment}"), "tool.zip");
    assert_eq!(ask(&first).expect(200).text(), "one");
    far.file("/tool.zip", "two");
    forget(&world, "tool.zip");
    see(&world, "tool.zip", 1);
    let second = then(&world);
    let gone = ask(&first).expect(410);
    assert!(gone.text().contains("no longer has"), "{}", gone.text());
    assert_eq!(ask(&second).expect(200).text(), "two");
}
