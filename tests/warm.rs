//! A file that was requested before is answered without the database and the file system. The test counts system calls.

use crate::world::{Gem, Upstream, World};
use serde_json::json;

/// A file that is too large for a page.
const LARGE: usize = 2 << 20;
const JAR: &str = "org/example/lamp/1.0/lamp-1.0.jar";
const POM: &str = "org/example/lamp/1.0/lamp-1.0.pom";
/// How often each is made: a `GET`, a `HEAD`, and range requests.
const TIMES: usize = 20;

/// System calls that read the database, or open or inspect a published file. Sending a file is not one of them.
fn looks(calls: &[String]) -> Vec<&String> {
    let about_files = |call: &&String| {
        let sends = ["sendfile(", "preadv2(", "fadvise64("].iter().any(|name| call.contains(name));
        call.contains(".sqlite") || (["/blobs/", "/cached/"].iter().any(|folder| call.contains(folder)) && !sends)
    };
    calls.iter().filter(about_files).collect()
}

/// The number of replies whose status begins like this.
fn heads(calls: &[String], status: &str) -> usize {
    calls.iter().filter(|call| call.contains(&format!("HTTP/1.1 {status}"))).count()
}

#[test]
fn a_file_that_was_asked_for_before_costs_no_look_at_a_database_or_the_file_system() {
    let world = World::start();
    world.tree("trees", "maven");
    let bytes: Vec<u8> = (0..LARGE).map(|at| (at * 7919 % 251) as u8).collect();
    world.admin().put("trees", JAR, &bytes).expect(201);
    world.admin().put("trees", POM, b"<project/>").expect(201);
    let gem = Gem::new("lamp", "1.0").payload(&bytes);
    world.admin().push("gems-private", &gem).expect(200);
    let [jar, pom] = [JAR, POM].map(|path| format!("/repository/trees/{path}"));
    let gem_path = "/repository/gems-private/gems/lamp-1.0.gem";

    let cold = world.watch();
    assert!(world.anon().get(&jar).expect(200).body == bytes, "other bytes");
    assert!(!looks(&cold.calls()).is_empty(), "the first request starts a lookup");
    let gem_bytes = world.anon().get(gem_path).expect(200).body;
    for _ in 0..3 {
        world.anon().get(&pom).expect(200);
    }

    let mut connection = world.anon().connect().unwrap();
    let mut ask =
        |method: &str, path: &str, headers: &[(&str, &str)]| connection.call(method, path, headers, b"").unwrap();
    let warm = world.watch();
    for turn in 0..TIMES {
        let whole = ask("GET", &jar, &[]).expect(200);
        assert!(whole.body == bytes, "other bytes");
        let (mut told, mut head) = (whole.clone(), ask("HEAD", &jar, &[]).expect(200));
        told.body.clear();
        let same = ["etag", "last-modified", "content-length", "content-type", "cache-control", "x-checksum-sha1"];
        (told, head) = (told.only(&same), head.only(&same));
        assert_eq!(told, head);
        let etag = head.header("etag").unwrap().to_owned();
        let range = format!("bytes={turn}-");
        for (name, value, status) in [
            ("If-Range", etag.as_str(), 206),
            ("If-Range", "\"another\"", 200),
            ("If-Unmodified-Since", head.header("last-modified").unwrap(), 206),
            ("If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT", 412),
        ] {
            let part = ask("GET", &jar, &[("Range", &range), (name, value)]).expect(status);
            let from = if status == 206 { turn } else { 0 };
            assert!(status == 412 || part.body == bytes[from..], "other bytes");
        }
        assert!(ask("GET", gem_path, &[]).expect(200).body == gem_bytes, "other bytes");
        assert_eq!(ask("GET", &jar, &[("If-None-Match", &etag)]).status, 304);
    }
    let calls = warm.calls();
    assert_eq!(looks(&calls), Vec::<&String>::new());
    assert!(heads(&calls, "20") >= 6 * TIMES, "not all was looked at: {calls:#?}");

    let warm = world.watch();
    for _ in 0..TIMES {
        ask("GET", &pom, &[]).expect(200);
    }
    let calls = warm.calls();
    assert_eq!(looks(&calls), Vec::<&String>::new());
    // The server may ask itself meanwhile whether it answers.
    assert!((TIMES..=TIMES + 1).contains(&heads(&calls, "20")), "{calls:#?}");
    let written =
        calls.iter().filter(|call| call.contains("TCP:[") && !call.contains("recv") && call.contains("write"));
    assert!((TIMES..=TIMES + 1).contains(&written.count()), "one write for the head and a small body: {calls:#?}");

    // After a change the file is looked up again.
    world.admin().ask("DELETE", &jar, &[], b"").expect(204);
    assert_eq!(ask("GET", &jar, &[]).status, 404);
}

#[test]
fn a_file_of_an_upstream_that_was_asked_for_before_costs_no_such_look_either() {
    let (world, upstream) = (World::start(), Upstream::start());
    let bytes: Vec<u8> = (0..LARGE).map(|at| (at * 7907 % 251) as u8).collect();
    upstream.file(&format!("/{JAR}"), bytes.clone());
    let wanted = json!({ "name": "central", "format": "maven", "remote": { "urls": [upstream.url()] } });
    world.admin().post_json("/api/v1/repositories", &wanted).expect(201);
    let jar = format!("/repository/central/{JAR}");
    let mut connection = world.anon().connect().unwrap();
    let mut ask = || connection.call("GET", &jar, &[], b"").unwrap().expect(200);
    assert!(ask().body == bytes, "other bytes");
    // First sights are recorded after the reply, outside of the count.
    let seen = |change: u64| world.anon().file(&format!("central@seq-{change}"), JAR).status == 200;
    assert!((0..5_000).any(|look| seen(1 + look % 20)), "it is never in the journal that the file was seen");
    // A list of cached files comes after all that wait to be written.
    world.admin().get("/api/v1/repositories/central/contents").expect(200);
    let warm = world.watch();
    for _ in 0..TIMES {
        assert!(ask().body == bytes, "other bytes");
    }
    let calls = warm.calls();
    assert_eq!(looks(&calls), Vec::<&String>::new());
    assert!(heads(&calls, "200") >= TIMES, "not all was looked at: {calls:#?}");
    assert_eq!(upstream.count(&format!("/{JAR}")), 1);
}

#[test]
fn who_asks_a_folder_for_what_it_does_not_hold_costs_no_such_look_and_sees_what_comes_into_it() {
    let world = World::start();
    world.tree("trees", "maven");
    world.admin().put("trees", POM, b"<project/>").expect(201);
    let mut connection = world.anon().connect().unwrap();
    for folder in ["org/example/lamp/1.0/lamp-1.0", "org/example/lamp/2.0/lamp-2.0"] {
        let path = |number: usize| format!("{folder}-{number}.jar");
        let mut ask = |number: usize, ending: &str| {
            let url = format!("/repository/trees/{}{ending}", path(number));
            connection.call("GET", &url, &[], b"").unwrap().status
        };
        assert_eq!(ask(0, ""), 404);
        let warm = world.watch();
        for number in 1..TIMES {
            assert_eq!((ask(number, ""), ask(number, ".sha1")), (404, 404));
        }
        let calls = warm.calls();
        assert_eq!(looks(&calls), Vec::<&String>::new());
        assert_eq!(heads(&calls, "404"), 2 * (TIMES - 1));
        world.admin().put("trees", &path(7), b"jar").expect(201);
        assert_eq!((ask(7, ""), ask(7, ".sha1"), ask(8, "")), (200, 200, 404));
    }
}
