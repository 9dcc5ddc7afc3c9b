//! An answer that cannot be the requested file is neither served nor cached.

use super::cold::begin;
use super::{JAR, Scene, at, bytes};
use crate::pages::events;
use crate::world::{Answer, Connection, Says, hex};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use std::io::Read;

/// Requests a file that the upstream holds back at its middle, and lets it continue: the connection breaks before its
/// end.
fn breaks(scene: &Scene, whole: usize) {
    let (mut stream, _, read) = begin(scene.world.address(), &at(JAR), 100_000);
    scene.upstream.release(&format!("/{JAR}"));
    let mut rest = Vec::new();
    let ended = stream.read_to_end(&mut rest);
    let came = read.len() + rest.len();
    // The last chunk of a chunked body marks the end.
    let clean = came >= whole || rest.ends_with(b"0\r\n\r\n");
    assert!(!clean, "a broken file ended like a whole one: {came} bytes, {ended:?}");
}

fn heals(scene: &Scene, whole: &[u8]) {
    let says = Says::bytes(whole).header("X-Checksum-SHA1", &hex(&Sha1::digest(whole)));
    scene.upstream.says(&format!("/{JAR}"), says);
    for _ in 0..2 {
        assert!(scene.get(JAR).expect(200).body == whole);
    }
}

#[test]
fn a_small_file_that_is_not_what_its_checksum_says_is_an_error() {
    let mut scene = Scene::new();
    let path = format!("/{JAR}");
    let sha1 = hex(&Sha1::digest("lamp"));
    for name in ["X-Checksum-SHA1", "X-Goog-Meta-Checksum-SHA1"] {
        scene.upstream.says(&path, Says::bytes("lump").header(name, &sha1));
        scene.get(JAR).expect(502);
    }
    // No header has the digest, so the checksum file is requested.
    scene.upstream.says(&path, Says::bytes("lump"));
    scene.upstream.file(&format!("{path}.sha1"), format!("{sha1}  lamp-1.0.jar\n"));
    scene.get(JAR).expect(502);
    heals(&scene, b"lamp");
    scene.world.stop();
    let events = events(&scene.world);
    assert!(events.iter().any(|event| event["detail"].as_str().is_some_and(|detail| detail.contains(&sha1))));
}

/// A body that is longer than its kind can be is read no further: the rest of these never comes.
#[test]
fn a_checksum_or_a_list_of_versions_that_does_not_end_is_refused_at_its_limit() {
    let scene = Scene::new();
    let signature = "org/example/lamp/1.0/lamp-1.0.jar.asc.sha512";
    for (path, limit) in [(&*format!("{JAR}.sha1"), 4 << 10), (signature, 4 << 10), ("org/example/odd.md5", 4 << 10)] {
        let endless = || Says::bytes(vec![b'a'; 10 * limit]);
        for says in [endless().announces(1_300_000_000).held_at(0), endless().chunked().held_at(limit + 1)] {
            scene.upstream.says(&format!("/{path}"), says);
            let refused = scene.get(path).expect(502).json();
            assert!(refused["detail"].as_str().unwrap().contains("not the file"), "{refused}");
        }
        scene.upstream.says(&format!("/{path}"), Says::bytes(vec![b'a'; limit]));
        scene.get(path).expect(200);
    }
    let metadata = "org/example/lamp/maven-metadata.xml";
    scene.upstream.says(&format!("/{metadata}"), Says::bytes("<metadata/>").announces(1_300_000_000).held_at(0));
    scene.get(metadata).expect(502);
}

/// Waits for the end of the fetch behind an answer.
pub(super) fn ended(scene: &Scene, answer: &Answer) {
    let told = scene.world.event(answer.header("daylight-event").unwrap());
    scene.world.event(told["members"][0]["flight"].as_str().unwrap());
}

#[test]
fn an_upstream_whose_checksums_are_known_to_be_wrong_is_believed_as_far_as_its_repository_says() {
    let mut scene = Scene::new();
    let (path, wrong) = (format!("/{JAR}"), hex(&Sha1::digest("lamp")));
    scene.add("lenient", "maven", &json!({"checksums": "warn"}));
    scene.add("blind", "maven", &json!({"checksums": "ignore"}));
    let large = bytes(1 << 20);
    for (round, whole) in [&b"lump"[..], &large].into_iter().enumerate() {
        let get = |name: &str| scene.client().get(&format!("/repository/{name}/{JAR}"));
        scene.upstream.says(&path, Says::bytes(whole));
        scene.upstream.file(&format!("{path}.sha1"), wrong.clone());
        for name in ["lenient", "blind"] {
            let is = hex(&Sha1::digest(whole));
            let answer = get(name).expect(200);
            assert!(answer.body == whole);
            ended(&scene, &answer);
            // From now on it is recorded.
            assert_eq!(get(name).expect(200).header("x-checksum-sha1"), Some(is.as_str()));
            assert_eq!(scene.client().get(&format!("/repository/{name}/{JAR}.sha1")).expect(200).text(), is);
            let forgotten = format!("/api/v1/repositories/{name}/contents/{JAR}");
            scene.world.admin().ask("DELETE", &forgotten, &[], b"").expect(200);
        }
        assert_eq!(scene.asked(&format!("{JAR}.sha1")), round + 1, "nobody asks where nobody looks");
    }
    scene.world.stop();
    let fetches = events(&scene.world).into_iter().filter(|event| event["method"] == "fetch");
    let (lenient, blind): (Vec<_>, Vec<_>) = fetches.partition(|event| event["repository"] == "lenient");
    assert!(lenient.len() == 2 && lenient.iter().all(|event| event["reason"] == "checksum_differs"), "{lenient:?}");
    assert!(blind.iter().all(|event| event.get("reason").is_none()), "{blind:?}");
}

#[test]
fn a_file_whose_checksum_cannot_be_had_or_read_is_refused_unless_its_repository_says_otherwise() {
    let mut scene = Scene::new();
    scene.add("lenient", "maven", &json!({"checksums": "warn"}));
    let large = bytes(1 << 20);
    let cannot = [
        Says::html(),
        Says::bytes("0000"),
        Says::bytes(""),
        Says::status(500),
        Says::bytes(hex(&Sha1::digest("lamp"))).cut_after(20),
    ];
    for (number, says) in cannot.into_iter().enumerate() {
        let jar = format!("org/example/oil/{number}.0/oil-{number}.0.jar");
        scene.upstream.says(&format!("/{jar}"), Says::bytes("lamp"));
        scene.upstream.says(&format!("/{jar}.sha1"), says);
        let refused = scene.get(&jar).expect(502);
        let why = scene.world.event(refused.header("daylight-event").unwrap())["detail"].to_string();
        assert!(why.contains("the `.sha1` of the file is not available: "), "{number}: {why}");
        // A failure that passes is no reason to check no longer.
        assert_eq!(why.contains("--checksums warn"), number < 3, "{number}: {why}");
        let lenient = scene.client().get(&format!("/repository/lenient/{jar}")).expect(200);
        assert_eq!(lenient.text(), "lamp");
        ended(&scene, &lenient);
        scene.upstream.file(&format!("/{jar}.sha1"), hex(&Sha1::digest("lamp")));
        assert_eq!(scene.get(&jar).expect(200).text(), "lamp");
    }
    scene.upstream.says(&format!("/{JAR}"), Says::bytes(large.clone()).held_at(500_000));
    scene.upstream.says(&format!("/{JAR}.sha1"), Says::html());
    breaks(&scene, large.len());
    scene.world.stop();
    let fetches = events(&scene.world).into_iter().filter(|event| event["method"] == "fetch");
    let lenient: Vec<_> = fetches.filter(|event| event["repository"] == "lenient").collect();
    assert!(lenient.len() == 5 && lenient.iter().all(|event| event["reason"] == "unverified"), "{lenient:?}");
}

#[test]
fn a_file_that_has_no_checksum_is_taken_and_every_record_says_that_it_is_unverified() {
    let mut scene = Scene::new();
    let large = "org/example/lamp/2.0/lamp-2.0.jar";
    let proven = "org/example/lamp/3.0/lamp-3.0.jar";
    scene.upstream.file(&format!("/{JAR}"), "lamp");
    scene.upstream.file(&format!("/{large}"), bytes(1 << 20));
    scene.upstream.file(&format!("/{proven}"), "lamp");
    scene.upstream.file(&format!("/{proven}.sha1"), hex(&Sha1::digest("lamp")));
    for path in [JAR, large, proven] {
        ended(&scene, &scene.get(path).expect(200));
    }
    // While it is cached.
    for _ in 0..2 {
        for (path, reason) in [(JAR, json!("unverified")), (large, json!("unverified")), (proven, Value::Null)] {
            let url = format!("/api/v1/explain?repository=central&path={path}");
            let told = scene.world.admin().get(&url).expect(200).json();
            assert_eq!(
                (&told["members"][0]["said"], &told["members"][0]["reason"]),
                (&json!("hit"), &reason),
                "{told}"
            );
        }
        scene.world.restart();
    }
    scene.world.stop();
    let fetches = events(&scene.world).into_iter().filter(|event| event["method"] == "fetch");
    let unverified: Vec<_> = fetches.filter(|event| event["reason"] == "unverified").collect();
    assert_eq!(unverified.len(), 2, "{unverified:?}");
}

#[test]
fn a_large_file_that_is_not_what_its_checksum_says_breaks_before_its_end_and_no_part_of_it_is_complete() {
    let scene = Scene::new();
    let whole = bytes(1 << 20);
    let mut other = whole.clone();
    other[700_000] ^= 1;
    let right = hex(&Sha1::digest(&whole));
    for (said_beside, bytes) in [(true, &other), (false, &whole), (false, &other)] {
        let says = Says::bytes(bytes.clone());
        let sum = if *bytes == whole { hex(&Sha1::digest("lamp")) } else { right.clone() };
        let says = if said_beside { says } else { says.header("X-Checksum-SHA1", &sum) };
        scene.upstream.file(&format!("/{JAR}.sha1"), sum);
        scene.upstream.says(&format!("/{JAR}"), says.held_at(900_000));
        // A request for the whole file makes it arrive.
        let (mut all, _, begun_with) = begin(scene.world.address(), &at(JAR), 100_000);
        let ranges = [("0-99", 100), ("0-199999", 200_000), ("100000-", whole.len() - 100_000)];
        let begun = ranges.map(|(range, len)| {
            let mut connection = Connection::open(scene.world.address()).unwrap();
            let head = format!("GET {} HTTP/1.1\r\nHost: localhost\r\nRange: bytes={range}\r\n\r\n", at(JAR));
            connection.send(head.as_bytes()).unwrap();
            let (mut stream, mut read) = (connection.stream().try_clone().unwrap(), Vec::new());
            let mut byte = [0];
            while !read.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte).unwrap();
                read.push(byte[0]);
            }
            assert!(read.starts_with(b"HTTP/1.1 206"), "{}", String::from_utf8_lossy(&read));
            (range, len, stream)
        });
        scene.upstream.release(&format!("/{JAR}"));
        for (range, len, stream) in begun {
            let mut came = Vec::new();
            // The kind of end does not matter: fewer bytes arrived than the head announced.
            let _ = stream.take(len as u64).read_to_end(&mut came);
            assert!(came.len() < len, "all of {range} came: {} bytes", came.len());
        }
        let mut rest = Vec::new();
        let _ = all.read_to_end(&mut rest);
        assert!(begun_with.len() + rest.len() < whole.len(), "a broken file ended like a whole one");
    }
    heals(&scene, &whole);
}

#[test]
fn a_body_that_ends_early_breaks_the_client_s_too() {
    let scene = Scene::new();
    let whole = bytes(1 << 20);
    for says in [Says::bytes(whole.clone()), Says::bytes(whole.clone()).chunked()] {
        scene.upstream.says(&format!("/{JAR}"), says.cut_after(600_000).held_at(500_000));
        breaks(&scene, whole.len());
    }
    scene.upstream.says(&format!("/{JAR}"), Says::bytes("lamp").cut_after(2));
    scene.get(JAR).expect(502);
    heals(&scene, &whole);
}

#[test]
fn a_page_for_people_is_no_file_whatever_it_is_called() {
    let scene = Scene::new();
    let path = format!("/{JAR}");
    let disguised = Says::bytes("\n<!doctype HTML><html>").header("Content-Type", "application/java-archive");
    for says in [Says::html(), disguised] {
        scene.upstream.says(&path, says);
        assert!(scene.get(JAR).expect(502).text().contains("hint"));
    }
    heals(&scene, b"lamp");
}

#[test]
fn metadata_that_cannot_be_read_is_an_error() {
    let scene = Scene::new();
    scene.upstream.file(&format!("/{}", super::METADATA), "<metadata><groupId>org");
    scene.get(super::METADATA).expect(502);
    scene.upstream.file(&format!("/{}", super::METADATA), crate::world::metadata(&["1.0"]));
    scene.get(super::METADATA).expect(200);
}

#[test]
fn a_redirect_is_followed_and_a_loop_is_an_error() {
    let scene = Scene::new();
    scene.upstream.says(&format!("/{JAR}"), Says::redirect("/elsewhere"));
    scene.upstream.file("/elsewhere", "lamp");
    assert_eq!(scene.get(JAR).expect(200).text(), "lamp");
    let other = "org/example/other/1/other-1.jar";
    scene.upstream.says(&format!("/{other}"), Says::redirect(&format!("/{other}")));
    scene.get(other).expect(502);
}
