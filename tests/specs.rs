//! The older index: `gem list` reads it with the date of its own copy.

use crate::world::{Answer, FIRST, Gem, Person, Ruby, World};
use serde_json::json;

fn path(what: &str) -> String {
    format!("/repository/{FIRST}/{what}")
}

fn since(person: &Person, moment: &str) -> Answer {
    person.ask("GET", &path("specs.4.8.gz"), &[("If-Modified-Since", moment)], b"")
}

#[test]
fn the_files_are_octets_of_a_known_length_and_come_in_no_coding() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let anon = world.anon();
    for file in ["specs", "latest_specs", "prerelease_specs"] {
        let path = path(&format!("{file}.4.8.gz"));
        let got = anon.ask("GET", &path, &[("Accept-Encoding", "gzip")], b"").expect(200);
        assert_eq!(got.header("content-type"), Some("application/octet-stream"));
        assert_eq!((got.header("content-encoding"), &got.body[..2]), (None, &[0x1f, 0x8b][..]));
        let head = anon.ask("HEAD", &path, &[], b"").expect(200);
        let length = got.body.len().to_string();
        assert_eq!([&got, &head].map(|answer| answer.header("content-length")), [Some(&*length); 2]);
        assert_eq!(got.header("last-modified"), head.header("last-modified"));
    }
    world
        .admin()
        .patch_json(&format!("/api/v1/repositories/{FIRST}"), &json!({ "protocols": { "full_index": false } }))
        .expect(200);
    anon.get(&path("specs.4.8.gz")).expect(404);
    anon.get(&path("versions")).expect(200);
}

#[test]
fn a_file_is_unchanged_only_for_those_whose_copy_is_later_than_the_change_by_whatever_clock() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let anon = world.anon();
    let modified = anon.get(&path("specs.4.8.gz")).expect(200).header("last-modified").unwrap().to_owned();
    since(&anon, &modified).expect(200);
    since(&anon, "Fri, 01 Jan 2100 00:00:00 GMT").expect(304);
    since(&anon, "Thu, 01 Jan 1970 00:00:00 GMT").expect(200);
}

#[test]
fn gem_lists_what_there_is_and_what_is_new() {
    let world = World::start();
    let (admin, ruby) = (world.admin(), Ruby::new());
    for (name, version) in [("lamp", "1.9.0"), ("lamp", "1.10.0"), ("oil", "2.0.0.rc1")] {
        admin.push(FIRST, &Gem::new(name, version)).expect(200);
    }
    admin.push(FIRST, &Gem::new("lamp", "1.8.0").platform("java")).expect(200);
    let url = world.url(FIRST);
    let list = |more: &str| ruby.shell("", &format!("gem list --remote --clear-sources --source {url} {more}")).good();
    let said = list("--all");
    assert!(said.contains("lamp (1.10.0, 1.9.0, 1.8.0 java)") && !said.contains("oil"), "{said}");
    assert!(list("--prerelease").contains("oil (2.0.0.rc1)"));
    admin.yank(FIRST, "lamp", "1.10.0").expect(200);
    admin.push(FIRST, &Gem::new("wick", "0.1.0")).expect(200);
    let said = list("");
    assert!(said.contains("lamp (1.9.0, 1.8.0 java)") && said.contains("wick (0.1.0)"), "{said}");
}
