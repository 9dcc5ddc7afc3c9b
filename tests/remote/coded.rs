//! Bodies that an upstream sends packed by gzip, though it was not asked for that, as object stores send what was uploaded so.

use super::{JAR, METADATA, Scene, at};
use crate::world::{Says, hex};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha1::{Digest, Sha1};
use std::io::Write as _;

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Bytes that no packing makes fewer.
fn noise(len: usize) -> Vec<u8> {
    (0..len as u64).step_by(20).flat_map(|at| Sha1::digest(at.to_be_bytes()).to_vec()).take(len).collect()
}

/// An object whose metadata names gzip.
fn object(body: Vec<u8>) -> Says {
    Says::bytes(body).header("Content-Encoding", "gzip")
}

#[test]
fn a_file_that_is_stored_packed_is_kept_and_answered_as_it_is() {
    let scene = Scene::new();
    let large = noise(1 << 20);
    let metadata = crate::world::metadata(&["1.0"]);
    let pom = JAR.replace(".jar", ".pom");
    for (path, whole) in [(JAR, &large[..]), (&pom, b"<project/>"), (METADATA, metadata.as_bytes())] {
        scene.upstream.says(&format!("/{path}"), object(packed(whole)));
        scene.upstream.says(&format!("/{path}.sha1"), object(packed(hex(&Sha1::digest(whole)).as_bytes())));
        for _ in 0..2 {
            let answer = scene.get(path).expect(200);
            assert!(answer.body == whole, "{path}");
            assert_eq!(answer.header("content-encoding"), None);
            assert_eq!(answer.header("x-checksum-sha1"), Some(&*hex(&Sha1::digest(whole))));
        }
        assert_eq!(scene.asked(path), 1);
        let asked = scene.upstream.asked().into_iter().find(|asked| asked.path == format!("/{path}")).unwrap();
        assert_eq!(asked.header("accept-encoding"), Some("identity"));
    }
}

#[test]
fn a_checksum_decides_between_a_body_and_what_it_decodes_to() {
    let scene = Scene::new();
    // Less than the bytes that are sent before the file is complete.
    let whole = noise(50_000);
    let (once, twice) = (packed(&whole), packed(&packed(&whole)));
    let tool = "org/example/lamp/1.0/lamp-1.0-bin.tar.gz";
    for (round, (path, body, file)) in [
        // Named gzip because it is a tar.gz, as Apache does, and stored packed once more.
        (tool, &once, &once),
        (tool, &twice, &once),
        // Stored packed, and named gzip though it is the file.
        (JAR, &once, &whole),
        (JAR, &once, &once),
    ]
    .into_iter()
    .enumerate()
    {
        let path = path.replace("1.0", &format!("1.{round}"));
        scene.upstream.says(&format!("/{path}"), object(body.clone()));
        scene.upstream.file(&format!("/{path}.sha1"), hex(&Sha1::digest(file)));
        assert!(scene.get(&path).expect(200).body == *file, "{round}");
        assert!(scene.get(&path).expect(200).body == *file, "{round}");
    }
    // Nothing is known of these, so their type decides.
    for (version, coding) in [("2.0", "gzip"), ("2.1", "x-gzip")] {
        let path = tool.replace("1.0", version);
        scene.upstream.says(&format!("/{path}"), Says::bytes(once.clone()).header("Content-Encoding", coding));
        let answer = scene.get(&path).expect(200);
        assert!(answer.body == once && answer.header("content-encoding").is_none(), "{coding}");
    }
}

#[test]
fn a_body_that_cannot_be_decoded_or_becomes_far_too_long_is_refused() {
    let scene = Scene::new();
    let whole = noise(200_000);
    let bomb = packed(&vec![0; 17 << 20]);
    let mut damaged = packed(&whole);
    damaged[1_000] ^= 1;
    let cut = packed(&whole)[..100_000].to_vec();
    let page = packed(b"<!doctype html><html>");
    for (number, body) in [bomb, damaged, cut, page, b"not packed".to_vec()].into_iter().enumerate() {
        let path = JAR.replace("1.0", &format!("3.{number}"));
        scene.upstream.says(&format!("/{path}"), object(body));
        let refused = scene.client().get(&at(&path)).expect(502);
        let why = scene.world.event(refused.header("daylight-event").unwrap())["detail"].to_string();
        assert!(["gzip", "page"].iter().any(|word| why.contains(word)), "{number}: {why}");
        // Once it is mended there, it is answered.
        scene.upstream.says(&format!("/{path}"), object(packed(&whole)));
        assert!(scene.client().get(&at(&path)).expect(200).body == whole, "{number}");
    }
}
