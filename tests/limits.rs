//! Every input has a limit, and a refused request leaves no files behind.

use crate::world::{FIRST, Gem, Index, World};
use std::path::PathBuf;

fn blobs(world: &World) -> Vec<PathBuf> {
    let is_blob = |path: &PathBuf| path.iter().any(|part| part == "blobs");
    world.files().into_iter().filter(is_blob).collect()
}

#[test]
fn what_is_not_a_gem_is_refused_and_leaves_nothing_behind() {
    let mut world = World::start();
    let admin = world.admin();
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let (before, index) = (blobs(&world), Index::read(&admin, FIRST));
    assert!(!before.is_empty());

    let whole = Gem::new("lamp", "2.0.0").bytes();
    let mut flipped = whole.clone();
    // In the bytes of the first member, after its header of 512 bytes.
    flipped[600] ^= 0x55;
    let garbage: [&[u8]; 6] = [b"x", b"\0", &[0; 4096], &whole[..whole.len() / 3], &flipped, &[0xff; 100_000]];
    let connection = &mut admin.connect().unwrap();
    for bytes in garbage {
        let refused = admin.push_on(connection, FIRST, bytes).unwrap().expect(422);
        assert!(!refused.body.is_empty(), "it says why");
    }
    for name in ["../evil", "la mp", "lamp\n", "-lamp", "lamp,", "lamp.gem"] {
        let refused = admin.push(FIRST, &Gem::new("lamp", "1.0.0").claims(name));
        assert_eq!(refused.status, 403, "{name:?}: {}", refused.text());
    }
    assert_eq!(Index::read(&admin, FIRST), index);
    index.download(&admin, FIRST);
    // The temporary file is removed after the reply, and before the stop.
    world.stop();
    assert_eq!(blobs(&world), before);
}

#[test]
fn an_upload_beyond_the_limit_is_refused_before_its_bytes_are_read() {
    let mut world = World::start();
    let before = blobs(&world);
    let mut connection = world.admin().connect().unwrap();
    let request = format!(
        "POST /repository/{FIRST}/api/v1/gems HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\
         Content-Length: 1000000000000\r\n\r\n",
        world.admin().secret()
    );
    connection.send(request.as_bytes()).unwrap();
    connection.answer(false).unwrap().expect(413);
    world.stop();
    assert_eq!(blobs(&world), before);
}

#[test]
fn an_upload_that_breaks_off_leaves_nothing_behind() {
    let mut world = World::start();
    let before = blobs(&world);
    let bytes = Gem::new("lamp", "1.0.0").payload(&[7; 100_000]).bytes();
    for part in [0, 1, bytes.len() / 2, bytes.len() - 1] {
        let mut connection = world.admin().connect().unwrap();
        let head = format!(
            "POST /repository/{FIRST}/api/v1/gems HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\
             Content-Length: {}\r\n\r\n",
            world.admin().secret(),
            bytes.len()
        );
        connection.send(head.as_bytes()).unwrap();
        connection.send(&bytes[..part]).unwrap();
    }
    // A graceful stop waits for open requests, and so shows that they have ended.
    world.stop();
    assert_eq!(blobs(&world), before);
    world.resume();
    world.anon().get(&format!("/repository/{FIRST}/info/lamp")).expect(404);
}

#[test]
fn requests_that_are_too_long_are_refused_and_the_next_one_is_answered() {
    let world = World::start();
    let long = "x".repeat(1 << 20);
    let targets = [
        format!("GET /repository/{FIRST}/info/{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(10_000)),
        format!("{long} / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ];
    for request in targets {
        let mut connection = world.anon().connect().unwrap();
        // The server may answer and close before everything is sent.
        if connection.send(request.as_bytes()).is_ok()
            && let Ok(answer) = connection.answer(false)
        {
            assert!((400..500).contains(&answer.status), "{}", answer.status);
        }
    }
    world.anon().get(&format!("/repository/{FIRST}/versions")).expect(200);
}

#[test]
fn paths_that_try_to_leave_their_repository_find_nothing() {
    let world = World::start();
    world.repository("vault", true);
    world.admin().push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    for path in [
        "gems-private/../vault/info/lamp",
        "gems-private/%2e%2e/vault/info/lamp",
        "gems-private/info/..%2f..%2fvault%2finfo%2flamp",
        "gems-private/gems/../../vault/gems/lamp-1.0.0.gem",
        "gems-private/gems/%00.gem",
        "gems-private/info/%ff",
        "gems-private/info/",
        "gems-private/gems/.gem",
    ] {
        let status = world.anon().get(&format!("/repository/{path}")).status;
        assert!((400..500).contains(&status), "{path}: {status}");
    }
}
