//! Slow-loris attacks: a client that sends a little now and then occupies a socket for a limited time, and delays
//! nobody.

use super::{STUCK, healthy, push};
use crate::world::{Connection, FIRST, World};
use std::io::ErrorKind::{TimedOut, WouldBlock};
use std::time::{Duration, Instant};

/// One second for each timeout.
const IMPATIENT: &[(&str, &str)] = &[
    ("DAYLIGHT_SERVER_HEAD_TIMEOUT_S", "1"),
    ("DAYLIGHT_SERVER_IDLE_TIMEOUT_S", "1"),
    ("DAYLIGHT_SERVER_UPLOAD_IDLE_TIMEOUT_S", "1"),
    ("DAYLIGHT_SERVER_WRITE_TIMEOUT_S", "1"),
    ("DAYLIGHT_SERVER_MAX_CONNECTIONS", "60"),
];

/// Sends a byte each 50 ms on every connection until the server has ended all of them.
pub(super) fn drip(mut slow: Vec<Connection>, meanwhile: impl Fn()) {
    let began = Instant::now();
    for connection in &slow {
        connection.stream().set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    }
    while !slow.is_empty() {
        assert!(began.elapsed() < STUCK, "{} connections are held", slow.len());
        slow.retain_mut(|connection| {
            let sent = connection.send(b"x").is_ok();
            let heard = connection.answer(false);
            let silent = matches!(&heard, Err(error) if matches!(error.kind(), WouldBlock | TimedOut));
            sent && silent
        });
        meanwhile();
    }
}

#[test]
fn heads_that_arrive_byte_by_byte_end_after_their_time_and_hold_nobody_up() {
    let world = World::start_with(IMPATIENT);
    let slow = (0..50).map(|_| {
        let mut connection = world.anon().connect().unwrap();
        connection.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ").unwrap();
        connection
    });
    drip(slow.collect(), || drop(world.anon().get(&format!("/repository/{FIRST}/names")).expect(200)));
    healthy(&world);
}

#[test]
fn the_places_that_slow_clients_take_are_free_again_after_their_time() {
    let world = World::start_with(IMPATIENT);
    // All places and more: the last connections are refused.
    let slow = (0..80).filter_map(|_| {
        let mut connection = world.anon().connect().ok()?;
        connection.send(b"GET / HTTP/1.1\r\n").ok()?;
        Some(connection)
    });
    drip(slow.collect(), || ());
    healthy(&world);
}

#[test]
fn an_upload_that_stops_is_answered_and_ended_and_its_place_is_free_again() {
    let world = World::start_with(IMPATIENT);
    let head = format!("{}Content-Length: 1000\r\n\r\nsome", push(&world));
    let mut slow: Vec<Connection> = (0..20).map(|_| world.anon().connect().unwrap()).collect();
    for connection in &mut slow {
        connection.send(head.as_bytes()).unwrap();
    }
    for connection in &mut slow {
        let answer = connection.answer(false).unwrap();
        assert!(matches!(answer.status, 408 | 503), "{}", answer.status);
    }
    drop(slow);
    healthy(&world);
}

#[test]
fn connections_that_are_kept_and_not_used_end_after_their_time() {
    let world = World::start_with(IMPATIENT);
    let mut idle: Vec<Connection> = (0..50).map(|_| world.anon().connect().unwrap()).collect();
    for connection in &mut idle {
        connection.call("GET", "/health/live", &[], b"").unwrap().expect(200);
    }
    for connection in &mut idle {
        assert!(connection.answer(false).is_err(), "nothing was asked");
    }
    healthy(&world);
}
