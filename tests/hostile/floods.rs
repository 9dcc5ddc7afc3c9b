//! Floods: each meets a limit, and causes no memory use that grows with it.

use super::{LAST, STUCK, answers, healthy, push, statuses};
use crate::world::{FIRST, Gem, World};
use std::io::Write as _;
use std::time::Instant;

const MANY: usize = 5_000;

#[test]
fn a_flood_of_headers_a_long_header_or_a_long_url_is_refused_by_its_own_status() {
    let world = World::start();
    let head = |line: &str, more: &str| format!("GET {line} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n{LAST}");
    let (many, long) = ("X: y\r\n".repeat(MANY), format!("X: {}\r\n", "y".repeat(1 << 20)));
    assert_eq!(statuses(&world, head("/", &many).as_bytes()), [431]);
    assert_eq!(statuses(&world, head("/", &long).as_bytes()), [431]);
    assert_eq!(statuses(&world, "\r\n".repeat(1 << 20).as_bytes()), [431]);
    assert_eq!(statuses(&world, head(&format!("/{}", "x".repeat(20_000)), "").as_bytes()), [414, 200]);
    assert_eq!(statuses(&world, head(&format!("/?{}", "x".repeat(20_000)), "").as_bytes()), [414, 200]);
    let told = statuses(&world, head(&format!("/{}", "x".repeat(1 << 20)), "").as_bytes());
    assert!(matches!(told[..], [414 | 431]), "{told:?}");
    healthy(&world);
}

#[test]
fn extensions_of_chunks_and_trailers_are_bounded() {
    let world = World::start();
    let head = format!("{}Transfer-Encoding: chunked\r\n\r\n", push(&world));
    for body in [
        format!("1;{}\r\nx\r\n0\r\n\r\n", "a".repeat(1 << 20)),
        format!("{}0\r\n\r\n", format!("1;{}\r\nx\r\n", "a".repeat(100)).repeat(MANY)),
        format!("1\r\nx\r\n0\r\n{}\r\n", "X: y\r\n".repeat(MANY)),
        format!("1\r\nx\r\n0\r\nX: {}\r\n\r\n", "y".repeat(1 << 20)),
    ] {
        let told = statuses(&world, format!("{head}{body}{LAST}").as_bytes());
        assert!(matches!(told[..], [400..=499]), "{}: {told:?}", &body[..20]);
    }
    // A few are not refused.
    let told = statuses(&world, format!("{head}1;a=b\r\nx\r\n0\r\nX: y\r\n\r\n{LAST}").as_bytes());
    assert_eq!(told, [422, 200]);
    healthy(&world);
}

#[test]
fn thousands_of_pipelined_requests_are_answered_in_their_order() {
    let world = World::start();
    for name in ["lamp", "oil"] {
        world.admin().push(FIRST, &Gem::new(name, "1.0.0")).expect(200);
    }
    let ask = |name: &str| format!("GET /repository/{FIRST}/info/{name} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut connection = world.anon().connect().unwrap();
    let mut sending = connection.stream().try_clone().unwrap();
    let burst = (ask("lamp") + &ask("oil") + &ask("nothing")).repeat(MANY);
    std::thread::scope(|scope| {
        scope.spawn(move || sending.write_all(burst.as_bytes()).unwrap());
        let [lamp, oil] = ["lamp", "oil"].map(|name| world.anon().get(&format!("/repository/{FIRST}/info/{name}")));
        for _ in 0..MANY {
            assert_eq!(connection.answer(false).unwrap().expect(200).body, lamp.body);
            assert_eq!(connection.answer(false).unwrap().expect(200).body, oil.body);
            connection.answer(false).unwrap().expect(404);
        }
    });
    drop(connection);
    healthy(&world);
}

#[test]
fn who_pipelines_and_reads_nothing_is_held_back_and_then_given_up() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_WRITE_TIMEOUT_S", "1")]);
    let before = world.memory();
    let mut connection = world.anon().connect().unwrap();
    let burst = format!("GET /repository/{FIRST}/versions HTTP/1.1\r\nHost: localhost\r\n\r\n").repeat(MANY);
    // The server reads only while its replies are read, so this write ends when the server closes the connection.
    let failed = (0..1_000).find_map(|_| connection.send(burst.as_bytes()).err());
    assert!(failed.is_some(), "5,000,000 requests were read whose replies nobody takes");
    let grown = world.memory().saturating_sub(before);
    assert!(grown < 16 << 20, "{grown} bytes more");
    drop(connection);
    healthy(&world);
}

#[test]
fn a_burst_of_connections_that_say_nothing_useful_leaves_room_for_others() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_MAX_CONNECTIONS", "64")]);
    for round in 0..20 {
        let crowd: Vec<_> = (0..100).map(|_| world.anon().connect()).collect();
        drop(crowd);
        let told = answers(&world, format!("{round} nonsense\r\n\r\n").as_bytes());
        assert!(told.iter().all(|answer| answer.status == 400));
    }
    // A client that has closed its connection holds its place until the server notices.
    let answered = || world.anon().connect().and_then(|mut it| it.call("GET", "/health/ready", &[], b""));
    let until = Instant::now() + STUCK;
    while !answered().is_ok_and(|answer| answer.status == 200) {
        assert!(Instant::now() < until, "there is no room");
    }
    healthy(&world);
}
