//! What cannot be what was asked for is given to nobody and kept nowhere.

use super::{JAR, Scene, at, bytes};
use crate::world::{Says, hex};
use sha1::{Digest, Sha1};

/// A reply whose end never came, or whose connection broke.
fn breaks(scene: &Scene) {
    let answer = scene.client().on(&mut scene.client().connect().unwrap(), "GET", &at(JAR), &[], b"");
    assert!(answer.is_err(), "a broken file ended like a whole one: {:?}", answer.map(|answer| answer.status));
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
    let scene = Scene::new();
    let path = format!("/{JAR}");
    let sha1 = hex(&Sha1::digest("lamp"));
    for name in ["X-Checksum-SHA1", "X-Goog-Meta-Checksum-SHA1"] {
        scene.upstream.says(&path, Says::bytes("lump").header(name, &sha1));
        let answer = scene.get(JAR).expect(502);
        assert!(answer.text().contains(&sha1), "{}", answer.text());
    }
    // No header says it, so the file beside it is asked.
    scene.upstream.says(&path, Says::bytes("lump"));
    scene.upstream.file(&format!("{path}.sha1"), format!("{sha1}  lamp-1.0.jar\n"));
    scene.get(JAR).expect(502);
    heals(&scene, b"lamp");
}

#[test]
fn a_large_file_that_is_not_what_its_checksum_says_breaks_before_its_end() {
    let scene = Scene::new();
    let whole = bytes(1 << 20);
    let mut other = whole.clone();
    other[700_000] ^= 1;
    let says = Says::bytes(other).header("X-Checksum-SHA1", &hex(&Sha1::digest(&whole)));
    scene.upstream.says(&format!("/{JAR}"), says);
    breaks(&scene);
    heals(&scene, &whole);
}

#[test]
fn a_body_that_ends_early_breaks_the_client_s_too() {
    let scene = Scene::new();
    let whole = bytes(1 << 20);
    for says in [Says::bytes(whole.clone()).cut_after(500_000), Says::bytes(whole.clone()).chunked().cut_after(500_000)]
    {
        scene.upstream.says(&format!("/{JAR}"), says);
        breaks(&scene);
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
fn what_comes_coded_is_no_file_unless_it_is_packed_by_itself() {
    let scene = Scene::new();
    scene.upstream.says(&format!("/{JAR}"), Says::bytes("packed").header("Content-Encoding", "gzip"));
    scene.get(JAR).expect(502);
    heals(&scene, b"lamp");
    let packed = "org/example/lamp/1.0/lamp-1.0.tar.gz";
    scene.upstream.says(&format!("/{packed}"), Says::bytes("packed").header("Content-Encoding", "x-gzip"));
    let answer = scene.get(packed).expect(200);
    assert_eq!((answer.text(), answer.header("content-encoding")), ("packed", None));
}

#[test]
fn metadata_that_cannot_be_read_is_an_error() {
    let scene = Scene::new();
    scene.upstream.file(&format!("/{}", super::METADATA), "<metadata><groupId>org");
    scene.get(super::METADATA).expect(502);
    scene.upstream.file(&format!("/{}", super::METADATA), super::cold::metadata("1.0"));
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
