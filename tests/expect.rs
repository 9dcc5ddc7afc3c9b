//! Refused uploads. A client that sends `Expect: 100-continue`, as Maven's resolver does, gets the reason before it
//! sends the body. A client that sends at once can read the reason while the server still reads the body.

use crate::world::{Person, World};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const RELEASE: &str = "org/example/lamp/1.0/lamp-1.0.jar";
const SNAPSHOT: &str = "org/example/lamp/1.0-SNAPSHOT/lamp-1.0-SNAPSHOT.jar";
const BODY: &[u8] = b"jar";

fn world() -> World {
    let world = World::start_with(&[("DAYLIGHT_SERVER_MAX_UPLOAD_BYTES", "1000000")]);
    let wanted = json!({ "name": "releases", "format": "maven", "kind": "hosted", "versions": "releases" });
    world.admin().post_json("/api/v1/repositories", &wanted).expect(201);
    world
}

/// Sends the head of an upload of this length on a connection of its own.
fn announce(person: &Person, path: &str, length: usize, more: &str) -> TcpStream {
    let mut connection = person.connect().unwrap();
    connection
        .send(
            format!("PUT /repository/releases/{path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n{more}\r\n")
                .as_bytes(),
        )
        .unwrap();
    connection.stream().try_clone().unwrap()
}

fn shown(person: &Person) -> String {
    format!("Authorization: Bearer {}\r\n", person.secret())
}

/// The status of the next head, including 1xx.
fn status(stream: &mut TcpStream) -> u16 {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    std::str::from_utf8(&head).unwrap().split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn who_waits_to_be_told_hears_what_refuses_an_upload_before_a_byte_of_it_is_asked_for() {
    let world = world();
    let (admin, anyone) = (world.admin(), world.anon());
    let reader = world.person("reader", &["read"], &[]);
    let stranger = world.holder("daylight_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA");
    for (shown, path, length, expected) in [
        (String::new(), RELEASE, BODY.len(), 401),
        (shown(&stranger), RELEASE, BODY.len(), 401),
        (shown(&reader), RELEASE, BODY.len(), 403),
        (shown(&admin), "org/example/../lamp.jar", BODY.len(), 404),
        (shown(&admin), "lamp.jar", BODY.len(), 400),
        (shown(&admin), SNAPSHOT, BODY.len(), 400),
        (shown(&admin), RELEASE, 1_000_001, 413),
    ] {
        let mut stream = announce(&anyone, path, length, &format!("Expect: 100-continue\r\n{shown}"));
        assert_eq!(status(&mut stream), expected, "{path}");
    }
    anyone.get(&format!("/repository/releases/{RELEASE}")).expect(404);
    let mut stream = announce(&anyone, RELEASE, BODY.len(), &format!("Expect: 100-continue\r\n{}", shown(&admin)));
    assert_eq!(status(&mut stream), 100);
    stream.write_all(BODY).unwrap();
    assert_eq!(status(&mut stream), 201);
    assert_eq!(anyone.get(&format!("/repository/releases/{RELEASE}")).expect(200).body, BODY);
}

#[test]
fn who_sends_at_once_can_read_why_the_upload_is_refused() {
    let world = world();
    let length = 30_000_000;
    let mut stream = announce(&world.anon(), RELEASE, length, "");
    stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
    // A body that exceeds the socket buffers gets through only because the server reads and discards it.
    stream.write_all(&vec![7; length]).unwrap();
    assert_eq!(status(&mut stream), 401);
    stream.read_to_end(&mut Vec::new()).unwrap();
}
