//! Files that are not cached: each is fetched once for any number of clients, and sent on as it arrives.

use super::{JAR, METADATA, Scene, at, bytes};
use crate::world::{Connection, Says, hex, metadata};
use md5::Md5;
use serde_json::json;
use sha1::{Digest, Sha1};
use sha2::{Sha256, Sha512};
use std::io::Read;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

#[test]
fn a_file_is_fetched_once_and_told_with_its_digests_and_a_head_tells_the_same() {
    let scene = Scene::new();
    scene.upstream.file(&format!("/{JAR}"), "lamp");
    let first = scene.get(JAR).expect(200);
    assert_eq!(first.header("cache-status"), Some("daylight; fwd=uri-miss; stored"));
    for _ in 0..3 {
        let again = scene.get(JAR).expect(200);
        assert_eq!((again.text(), again.header("cache-status")), ("lamp", Some("daylight; hit")));
        let told = ["etag", "x-checksum-sha1", "x-checksum-sha256"];
        let told = told.map(|name| again.header(name).unwrap().to_owned());
        let sha1 = hex(&Sha1::digest("lamp"));
        let expected = [format!("\"{sha1}\""), sha1, hex(&Sha256::digest("lamp"))];
        assert_eq!(told, expected);
        assert_eq!(again.header("last-modified"), Some("Thu, 01 Oct 2026 12:00:00 GMT"));
    }
    let names = ["etag", "x-checksum-sha1", "last-modified", "content-length", "content-type", "cache-control"];
    let head = scene.client().ask("HEAD", &at(JAR), &[], b"").expect(200).only(&names);
    let mut whole = scene.get(JAR).only(&names);
    whole.body.clear();
    assert_eq!((head, scene.asked(JAR)), (whole, 1));
    for method in ["PUT", "DELETE"] {
        let answer = scene.world.admin().ask(method, &at(JAR), &[], b"lamp").expect(405);
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
    }
}

#[test]
fn checksums_are_of_what_is_given_and_cost_the_upstream_nothing_where_the_file_is_known() {
    let scene = Scene::new();
    scene.upstream.says(&format!("/{JAR}"), Says::bytes("lamp").header("X-Checksum-SHA1", &hex(&Sha1::digest("lamp"))));
    scene.upstream.file(&format!("/{METADATA}"), metadata(&["1.0"]));
    scene.upstream.file(&format!("/{METADATA}.sha1"), "0".repeat(40));
    scene.get(JAR).expect(200);
    for (ending, digest) in [
        ("md5", hex(&Md5::digest("lamp"))),
        ("sha1", hex(&Sha1::digest("lamp"))),
        ("sha256", hex(&Sha256::digest("lamp"))),
        ("sha512", hex(&Sha512::digest("lamp"))),
    ] {
        let path = format!("{JAR}.{ending}");
        assert_eq!(scene.get(&path).expect(200).text(), digest);
        assert_eq!(scene.asked(&path), 0);
    }
    // Requested first, and wrong at the upstream.
    let sha1 = hex(&Sha1::digest(metadata(&["1.0"])));
    assert_eq!(scene.get(&format!("{METADATA}.sha1")).expect(200).text(), sha1);
    assert_eq!((scene.asked(METADATA), scene.asked(&format!("{METADATA}.sha1"))), (1, 0));
    // The checksum of a file that was never requested is an ordinary file.
    let pom = "org/example/lamp/1.0/lamp-1.0.pom";
    scene.upstream.file(&format!("/{pom}.sha1"), sha1.as_str());
    assert_eq!(scene.get(&format!("{pom}.sha1")).expect(200).text(), sha1);
    assert_eq!(scene.asked(pom), 0);
}

/// Sends a request, and reads its head and this number of bytes of the body.
pub(super) fn begin(address: std::net::SocketAddr, path: &str, bytes: usize) -> (TcpStream, String, Vec<u8>) {
    let mut connection = Connection::open(address).unwrap();
    connection.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
    let mut stream = connection.stream().try_clone().unwrap();
    let (mut read, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let n = stream.read(&mut piece).unwrap();
        assert!(n > 0, "it ended: {}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&piece[..n]);
        if let Some(head) = read.windows(4).position(|four| four == b"\r\n\r\n")
            && read.len() >= head + 4 + bytes
        {
            assert!(read.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&read[..head]));
            let body = read.split_off(head + 4);
            return (stream, String::from_utf8(read).unwrap(), body);
        }
    }
}

#[test]
fn a_hundred_who_ask_for_one_cold_file_get_its_bytes_while_it_arrives_from_one_request() {
    let scene = Scene::new();
    let whole = bytes(8 << 20);
    let path = format!("/{JAR}");
    scene.upstream.says(&path, Says::bytes(whole.clone()).held_at(4 << 20));
    let (begun, before, address) = (AtomicUsize::new(0), scene.world.memory(), scene.world.address());
    thread::scope(|scope| {
        let (begun, whole) = (&begun, &whole);
        let ask = move |leaves: bool| {
            let (mut stream, _, mut read) = begin(address, &at(JAR), 3 << 20);
            begun.fetch_add(1, SeqCst);
            if leaves {
                return;
            }
            let mut rest = vec![0; whole.len() - read.len()];
            stream.read_exact(&mut rest).unwrap();
            read.extend(rest);
            assert!(read == *whole, "other bytes");
        };
        for number in 0..100 {
            scope.spawn(move || ask(number % 10 == 0));
        }
        while begun.load(SeqCst) < 100 {
            thread::yield_now();
        }
        scene.upstream.release(&path);
    });
    assert_eq!(scene.asked(JAR), 1);
    let grown = scene.world.memory().saturating_sub(before);
    assert!(grown < 100 << 20, "{grown} bytes more for 100 that wait for 8 MiB");
    let kept = scene.get(JAR).expect(200);
    assert!(kept.body == whole && kept.header("x-checksum-sha1").is_some());
}

#[test]
fn a_head_of_what_still_arrives_says_its_length_and_keeps_the_connection() {
    let scene = Scene::new();
    let whole = bytes(1 << 20);
    scene.upstream.says(&format!("/{JAR}"), Says::bytes(whole.clone()).held_at(500_000));
    let client = scene.client();
    let mut connection = client.connect().unwrap();
    let head = client.on(&mut connection, "HEAD", &at(JAR), &[], b"").unwrap().expect(200);
    assert_eq!(head.header("content-length"), Some(&*whole.len().to_string()));
    scene.upstream.release(&format!("/{JAR}"));
    assert!(client.on(&mut connection, "GET", &at(JAR), &[], b"").unwrap().expect(200).body == whole);
    assert_eq!(scene.asked(JAR), 1);
}

#[test]
fn the_checksum_of_what_changes_is_of_what_it_has_become() {
    let scene = Scene::with(&json!({"fresh_s": 0}));
    let jar = "org/example/lamp/1-SNAPSHOT/lamp-1-SNAPSHOT.jar";
    scene.upstream.file(&format!("/{jar}"), "old");
    scene.get(jar).expect(200);
    scene.upstream.file(&format!("/{jar}"), "new");
    assert_eq!(scene.get(&format!("{jar}.sha1")).expect(200).text(), hex(&Sha1::digest("new")));
    assert_eq!(scene.get(jar).expect(200).text(), "new");
}

#[test]
fn what_an_upstream_promises_of_a_file_is_told_before_it_has_come() {
    let scene = Scene::new();
    let whole = bytes(1 << 20);
    let sha1 = hex(&Sha1::digest(&whole));
    let says = Says::bytes(whole.clone()).header("X-Checksum-SHA1", &sha1).held_at(500_000);
    scene.upstream.says(&format!("/{JAR}"), says);
    let (_leaves, head, _) = begin(scene.world.address(), &at(JAR), 100_000);
    scene.upstream.release(&format!("/{JAR}"));
    assert!(head.contains("cache-status: daylight; fwd=uri-miss; stored\r\n"), "{head}");
    assert!(head.contains(&format!("x-checksum-sha1: {sha1}\r\n")), "{head}");
    assert!(head.contains(&format!("etag: \"{sha1}\"\r\n")) && !head.contains("x-checksum-md5"), "{head}");
    // Without a header, the checksum file decides.
    let other = "org/example/other/1/other-1.jar";
    scene.upstream.says(&format!("/{other}"), Says::bytes(whole.clone()));
    scene.upstream.file(&format!("/{other}.sha1"), sha1.as_str());
    assert_eq!(scene.get(other).expect(200).header("x-checksum-sha1"), Some(&*sha1));
    assert_eq!(scene.asked(&format!("{other}.sha1")), 1);
    // A checksum request that is not answered delays no client for long.
    let third = "org/example/third/1/third-1.jar";
    scene.upstream.says(&format!("/{third}"), Says::bytes(whole.clone()));
    scene.upstream.says(&format!("/{third}.sha1"), Says::bytes(sha1.as_str()).silent());
    let (mut stream, _, read) = begin(scene.world.address(), &at(third), 900_000);
    scene.upstream.release(&format!("/{third}.sha1"));
    let mut rest = vec![0; whole.len() - read.len()];
    stream.read_exact(&mut rest).unwrap();
    assert!([read, rest].concat() == whole);
}

#[test]
fn a_file_of_any_length_comes_whole_whether_its_upstream_says_the_length_or_not() {
    let scene = Scene::new();
    scene.add("tools", "raw", &json!({}));
    // Around the lengths at which pieces and files of the cache begin (64 KiB and 512 KiB).
    for len in [65_535, 65_536, 65_537, 131_072, 524_287, 524_288, 524_289, 589_824, 1 << 20] {
        let whole = bytes(len);
        for (path, says) in [("said", Says::bytes(whole.clone())), ("unsaid", Says::bytes(whole.clone()).chunked())] {
            let path = format!("{path}/{len}");
            scene.upstream.says(&format!("/{path}"), says);
            for _ in 0..2 {
                assert!(scene.client().get(&format!("/repository/tools/{path}")).expect(200).body == whole, "{path}");
            }
            assert_eq!(scene.asked(&path), 1, "{path}");
        }
    }
}

#[test]
fn a_raw_repository_keeps_whatever_it_is_asked_for_and_knows_no_checksums() {
    let scene = Scene::new();
    scene.add("tools", "raw", &json!({}));
    for (path, text) in [("dist/v1/tool.zip", "zip"), ("dist/v1/tool.zip.sha256", "sums"), ("dist/latest", "v1")] {
        scene.upstream.file(&format!("/{path}"), text);
        for _ in 0..2 {
            let answer = scene.client().get(&format!("/repository/tools/{path}")).expect(200);
            assert_eq!(answer.text(), text);
        }
        assert_eq!(scene.asked(path), 1, "{path}");
    }
    scene.client().get("/repository/tools/dist/../x").expect(404);
    assert_eq!(scene.upstream.asked().len(), 3);
}
