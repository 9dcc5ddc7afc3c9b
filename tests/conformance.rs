//! The calls of a conformance suite for gem servers: it sets the clock and reads the index in the older form.

use crate::world::{FIRST, Gem, Index, Person, World, hex};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use md5::Md5;
use sha2::{Digest, Sha256};
use std::process::Command;

const KEY: &str = "suite";
const SETTINGS: &[(&str, &str)] = &[("DAYLIGHT_CONFORMANCE_KEY", KEY)];

fn path(what: &str) -> String {
    format!("/repository/{FIRST}/{what}")
}

/// A file of the index, with the headers that the suite checks.
fn index(person: &Person, what: &str) -> String {
    let answer = person.get(&path(what)).expect(200);
    let sha256 = BASE64_STANDARD.encode(Sha256::digest(&answer.body));
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"), "{what}");
    assert_eq!(answer.header("accept-ranges"), Some("bytes"), "{what}");
    assert_eq!(answer.header("etag"), Some(&*format!("\"{}\"", hex(&Md5::digest(&answer.body)))), "{what}");
    assert_eq!(answer.header("digest"), Some(&*format!("sha-256={sha256}")), "{what}");
    assert_eq!(answer.header("repr-digest"), Some(&*format!("sha-256=:{sha256}:")), "{what}");
    answer.text().to_owned()
}

#[test]
fn the_time_is_what_the_suite_says_and_its_key_opens_everything() {
    let world = World::start_in_conformance(SETTINGS);
    let suite = world.holder(KEY);
    world.set_time("1990-01-01T00:00:00Z");
    suite.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.set_time("1990-01-01T01:01:00+01:00");
    suite.push(FIRST, &Gem::new("lamp", "0.9.0")).expect(200);
    suite.push(FIRST, &Gem::new("lamp", "0.9.0").payload(b"other")).expect(409);
    let [first, second] = ["1.0.0", "0.9.0"]
        .map(|version| format!("{version} |checksum:{}\n", hex(&Sha256::digest(Gem::new("lamp", version).bytes()))));
    assert_eq!(index(&suite, "info/lamp"), format!("---\n{first}{second}"));
    suite.yank(FIRST, "lamp", "1.0.0").expect(200);
    assert_eq!(index(&suite, "info/lamp"), format!("---\n{second}"));
    suite.yank(FIRST, "lamp", "0.9.0").expect(200);
    let lines = index(&suite, "versions");
    assert!(lines.ends_with("lamp -0.9.0 6105347ebb9825ac754615ca55ff3b0c\n"), "{lines}");
    assert_eq!(index(&suite, "names"), "---\n\n");
    suite.get(&path("gems/lamp-1.0.0.gem")).expect(404);
    suite.yank(FIRST, "nothing", "1.0.0").expect(404);

    let new = serde_json::json!({ "name": "more", "format": "gem", "kind": "hosted" });
    assert_eq!(suite.post_json("/api/v1/repositories", &new).expect(201).json()["info_format"], "v1");
    Index::read(&suite, FIRST);
}

#[test]
fn the_index_begins_anew_with_a_line_for_each_gem_that_is_offered() {
    let world = World::start_in_conformance(SETTINGS);
    let suite = world.holder(KEY);
    let rebuild = |moment: &str| {
        world.set_time(moment);
        world.anon().ask("POST", &path("rebuild_versions_list"), &[], b"").expect(200);
    };
    rebuild("1990-01-01T00:00:00Z");
    assert_eq!(index(&suite, "versions"), "created_at: 1990-01-01T00:00:00Z\n---\n");
    world.set_time("1990-01-01T00:01:00Z");
    let gems =
        [Gem::new("oil", "1.0.0"), Gem::new("lamp", "1.0.0"), Gem::new("lamp", "0.9.0"), Gem::new("wick", "1.0.0")];
    for gem in &gems {
        suite.push(FIRST, gem).expect(200);
    }
    suite.push(FIRST, &Gem::new("lamp", "1.0.0").platform("java")).expect(200);
    suite.yank(FIRST, "lamp", "0.9.0").expect(200);
    suite.yank(FIRST, "wick", "1.0.0").expect(200);
    rebuild("1990-01-01T00:02:00Z");
    let sum = |name: &str| hex(&Md5::digest(index(&suite, &format!("info/{name}")).as_bytes()));
    let head = "created_at: 1990-01-01T00:02:00Z\n---\n";
    let base = format!("{head}lamp 1.0.0,1.0.0-java {}\noil 1.0.0 {}\n", sum("lamp"), sum("oil"));
    assert_eq!(index(&suite, "versions"), base);
    // From there on the file grows as before. A gem without published versions keeps its name in the file.
    world.set_time("1990-01-01T00:03:00Z");
    suite.push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    assert_eq!(index(&suite, "versions"), format!("{base}lamp 1.1.0 {}\n", sum("lamp")));
    assert_eq!(index(&suite, "info/wick"), "---\n");
    Index::read(&suite, FIRST);
}

#[test]
fn what_is_no_moment_is_refused_and_so_is_another_sites_page() {
    let world = World::start_in_conformance(&[]);
    for odd in ["", "soon", "1990-01-01", "1970-01-01T00:00:00Z"] {
        let refused = world.anon().ask("POST", &path("set_time"), &[], odd.as_bytes()).expect(400);
        assert!(refused.text().contains("is not a moment in ISO 8601"), "{}", refused.text());
    }
    let elsewhere = [("Origin", "http://other.example")];
    world.anon().ask("POST", &path("set_time"), &elsewhere, b"1990-01-01T00:00:00Z").expect(403);
    world.anon().ask("POST", "/repository/nothing/set_time", &[], b"1990-01-01T00:00:00Z").expect(404);
    world.holder(KEY).push(FIRST, &Gem::new("lamp", "1.0.0")).expect(401);
}

#[test]
fn without_the_mode_there_are_no_such_routes_and_its_key_opens_nothing() {
    let world = World::start_in_conformance(SETTINGS);
    world.holder(KEY).push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let world = world.without_flags();
    world.holder(KEY).push(FIRST, &Gem::new("lamp", "1.1.0")).expect(401);
    for wish in ["set_time", "rebuild_versions_list"] {
        world.admin().ask("POST", &path(wish), &[], b"1990-01-01T00:00:00Z").expect(404);
    }
    assert!(world.log().contains("`DAYLIGHT_CONFORMANCE_KEY` has no effect without `--conformance`"));
}

#[test]
fn it_is_refused_where_others_than_this_machine_could_ask() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_daylight"));
    command.args(["serve", "--conformance", "--listen", "0.0.0.0:0", "--data"]).arg(folder.path().join("data"));
    let output = command.env_clear().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("needs a loopback address") && said.contains("hint: add `--listen 127.0.0.1:8080`"),
        "{said}"
    );
    assert!(!folder.path().join("data").exists(), "nothing was touched");
}
