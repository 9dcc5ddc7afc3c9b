//! MD5 and SHA-512 of an upstream's file, which are made after its arrival.

use super::{JAR, METADATA, Scene, bytes};
use crate::world::{Answer, Says, await_true, hex, metadata};
use md5::Md5;
use serde_json::Value;
use sha1::{Digest, Sha1};
use sha2::Sha512;

/// A larger file, which is in a file of its own.
const LARGE: &str = "org/example/oil/1.0/oil-1.0.jar";

/// The digests in the headers of an answer: MD5, and SHA-512.
fn told(answer: &Answer) -> [Option<&str>; 2] {
    ["x-checksum-md5", "x-checksum-sha512"].map(|name| answer.header(name))
}

/// Lets the upstream have both files and metadata, each without a digest in the headers.
fn publish(scene: &Scene) -> [(&'static str, Vec<u8>); 3] {
    let files = [(JAR, b"lamp".to_vec()), (LARGE, bytes(300_000)), (METADATA, metadata(&["1.0"]).into_bytes())];
    files.iter().for_each(|(path, whole)| scene.upstream.says(&format!("/{path}"), Says::bytes(whole.clone())));
    files
}

#[track_caller]
fn has_all(answer: &Answer, whole: &[u8]) {
    let (md5, sha512) = (hex(&Md5::digest(whole)), hex(&Sha512::digest(whole)));
    assert_eq!(told(answer), [Some(&*md5), Some(&*sha512)]);
}

/// The file in the list of cached files.
fn listed(scene: &Scene, path: &str) -> Value {
    let all = scene.world.admin().get("/api/v1/repositories/central/contents").expect(200).json();
    all["contents"].as_array().unwrap().iter().find(|file| file["path"] == path).unwrap().clone()
}

#[test]
fn they_are_made_when_one_is_asked_for_and_told_from_then_on() {
    let mut scene = Scene::new();
    let files = publish(&scene);
    for (path, whole) in &files {
        for _ in 0..3 {
            assert_eq!(told(&scene.get(path).expect(200)), [None, None], "{path}");
        }
        // A file that is still arriving has no digest at all.
        await_true("it is cached", || scene.get(path).header("x-checksum-sha256").is_some());
        assert!(listed(&scene, path).get("md5").is_none() && listed(&scene, path)["sha1"].is_string(), "{path}");
        let sum = scene.get(&format!("{path}.sha512")).expect(200);
        assert_eq!((sum.text(), scene.asked(path)), (&*hex(&Sha512::digest(whole)), 1));
        has_all(&scene.get(path).expect(200), whole);
        assert_eq!(scene.get(&format!("{path}.md5")).expect(200).text(), hex(&Md5::digest(whole)));
        assert_eq!(listed(&scene, path)["md5"], hex(&Md5::digest(whole)));
    }
    scene.world.stop();
    scene.world.resume();
    files.iter().for_each(|(path, whole)| has_all(&scene.get(path).expect(200), whole));
    assert_eq!(files.map(|(path, _)| scene.asked(&format!("{path}.md5"))), [0; 3]);
}

#[test]
fn they_are_made_within_an_hour_of_each_file_also_for_answers_that_are_in_memory() {
    let scene = Scene::at_any_time();
    scene.world.set_time("2026-11-01T12:00:00Z");
    let files = publish(&scene);
    for (path, _) in &files {
        await_true("it is cached", || scene.get(path).expect(200).header("x-checksum-sha256").is_some());
    }
    scene.world.set_time("2026-11-01T12:09:59Z");
    files.iter().for_each(|(path, _)| assert_eq!(told(&scene.get(path).expect(200)), [None, None], "{path}"));
    scene.world.set_time("2026-11-01T12:10:01Z");
    for (path, whole) in &files {
        await_true("it has all digests", || told(&scene.get(path).expect(200)).iter().all(Option::is_some));
        has_all(&scene.get(path).expect(200), whole);
        assert_eq!(scene.asked(path), 1, "{path}");
    }
}

#[test]
fn a_header_that_alone_has_one_proves_the_bytes_and_beside_a_sha_1_it_is_not_read() {
    let scene = Scene::new();
    let path = format!("/{JAR}");
    let md5 = hex(&Md5::digest("lamp"));
    scene.upstream.says(&path, Says::bytes("lump").header("X-Checksum-MD5", &md5));
    scene.get(JAR).expect(502);
    scene.upstream.says(&path, Says::bytes("lamp").header("X-Checksum-MD5", &md5));
    let proven = scene.get(JAR).expect(200);
    assert_eq!((told(&proven), scene.asked(&format!("{JAR}.sha1"))), ([Some(&*md5), None], 0));
    let both = Says::bytes(bytes(300_000)).header("X-Checksum-SHA1", &hex(&Sha1::digest(bytes(300_000))));
    scene.upstream.says(&format!("/{LARGE}"), both.header("X-Checksum-MD5", &"0".repeat(32)));
    for _ in 0..2 {
        assert_eq!(told(&scene.get(LARGE).expect(200)), [None, None], "nor promised while it arrives");
    }
}
