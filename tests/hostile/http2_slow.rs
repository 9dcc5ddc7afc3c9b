//! Slow clients of HTTP/2: a client that does not read one reply loses the stream, a client that does not read at all
//! loses the connection, and no other client is delayed.

use super::{STUCK, healthy};
use crate::world::frames::{
    ALL, DATA, END_HEADERS, END_STREAM, Ended, Frames, HEADERS, PING, RST_STREAM, WINDOW_UPDATE, request,
};
use crate::world::{FIRST, Gem, World};
use std::time::Instant;

/// One second for each timeout.
const IMPATIENT: &[(&str, &str)] = &[
    ("DAYLIGHT_SERVER_HEAD_TIMEOUT_S", "1"),
    ("DAYLIGHT_SERVER_IDLE_TIMEOUT_S", "1"),
    ("DAYLIGHT_SERVER_UPLOAD_IDLE_TIMEOUT_S", "1"),
    ("DAYLIGHT_SERVER_WRITE_TIMEOUT_S", "1"),
];

/// `SETTINGS_INITIAL_WINDOW_SIZE`.
const WINDOW: u16 = 4;
const CANCEL: u32 = 8;
const REFUSED: u32 = 7;

/// A gem of a few megabytes, and its path.
fn large(world: &World) -> (Vec<u8>, String) {
    let noise: Vec<u8> = (0..4_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let gem = Gem::new("lamp", "1.0.0").payload(&noise);
    world.admin().push(FIRST, &gem).expect(200);
    (gem.bytes(), format!("/repository/{FIRST}/gems/lamp-1.0.0.gem"))
}

#[test]
fn streams_without_room_are_reset_after_their_time_and_the_others_are_answered() {
    let world = World::start_with(IMPATIENT);
    let (_, path) = large(&world);
    let (memory, descriptors) = (world.memory(), world.descriptors());
    let mut frames = Frames::open(world.address(), &[(WINDOW, 0)]);
    let waiting: Vec<u32> = (0..50).map(|_| frames.get(&path).unwrap()).collect();
    let info = frames.get(&format!("/repository/{FIRST}/info/lamp")).unwrap();
    frames.send(WINDOW_UPDATE, 0, info, &1_000_u32.to_be_bytes()).unwrap();
    assert_eq!(frames.ended(info).status(), 200, "among fifty that wait");
    assert!(world.memory().saturating_sub(memory) < 16 << 20);
    for stream in waiting {
        assert_eq!(frames.ended(stream), Ended::Reset(CANCEL));
    }
    let info = frames.get(&format!("/repository/{FIRST}/info/lamp")).unwrap();
    frames.send(WINDOW_UPDATE, 0, info, &1_000_u32.to_be_bytes()).unwrap();
    assert_eq!(frames.ended(info).status(), 200, "the connection lives");
    drop(frames);
    // Descriptors are closed on the thread that reads the file, not here.
    let until = Instant::now() + STUCK;
    // One file stays open for the next request, and each reader thread opens the log of the database at its first read.
    while world.descriptors() > descriptors + 10 {
        assert!(Instant::now() < until, "files stay open");
        healthy(&world);
    }
}

#[test]
fn a_page_without_room_is_reset_too() {
    let world = World::start_with(IMPATIENT);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let path = format!("/repository/{FIRST}/info/lamp");
    (0..3).for_each(|_| drop(world.anon().get(&path).expect(200)));
    let mut frames = Frames::open(world.address(), &[(WINDOW, 10)]);
    let waiting: Vec<u32> = (0..80).map(|_| frames.get(&path).unwrap()).collect();
    for stream in waiting {
        assert_eq!(frames.ended(stream), Ended::Reset(CANCEL));
    }
    healthy(&world);
}

#[test]
fn who_reads_nothing_at_all_is_given_up() {
    let world = World::start_with(IMPATIENT);
    let (_, path) = large(&world);
    let before = world.memory();
    let mut frames = Frames::open(world.address(), &[(WINDOW, ALL)]);
    frames.send(WINDOW_UPDATE, 0, 0, &(ALL - 65_535).to_be_bytes()).unwrap();
    for _ in 0..50 {
        frames.get(&path).unwrap();
    }
    let began = Instant::now();
    // The server has closed the connection when no further frame can be sent.
    while frames.send(PING, 0, 0, &[0; 8]).is_ok() {
        assert!(began.elapsed() < STUCK, "it is held");
        world.anon().get(&format!("/repository/{FIRST}/names")).expect(200);
    }
    assert!(world.memory().saturating_sub(before) < 24 << 20);
    drop(frames);
    healthy(&world);
}

#[test]
fn an_upload_that_stops_is_answered_and_the_connection_lives() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_UPLOAD_IDLE_TIMEOUT_S", "1")]);
    let secret = world.admin().secret().to_owned();
    let mut frames = Frames::open(world.address(), &[]);
    let path = format!("/repository/{FIRST}/api/v1/gems");
    let stopped = frames.ask("POST", &path, &[("authorization", &secret)], 0).unwrap();
    frames.send(DATA, 0, stopped, b"some").unwrap();
    assert_eq!(frames.ended(stopped).status(), 408);
    assert_eq!(frames.fetch("/health/live").status(), 200);
    // A client that is refused before its body arrives learns it, and may stop sending.
    let stream = frames.ask("POST", &path, &[("content-length", "100000")], 0).unwrap();
    assert_eq!(frames.ended(stream).status(), 401);
    frames.send(DATA, 0, stream, &[0; 10_000]).unwrap();
    assert_eq!(frames.fetch("/health/live").status(), 200);
    drop(frames);
    healthy(&world);
}

#[test]
fn connections_that_begin_nothing_or_ask_no_more_end_after_their_time() {
    let world = World::start_with(IMPATIENT);
    let mut silent = Frames::open(world.address(), &[]);
    let mut half = Frames::open(world.address(), &[]);
    half.send(HEADERS, END_STREAM, 1, &request("GET", "/")[..5]).unwrap();
    let mut cut = Frames::silent(world.address());
    cut.raw(b"PRI * HTTP/2.0\r\n\r\nSM").unwrap();
    let mut idle = Frames::open(world.address(), &[]);
    assert_eq!(idle.fetch("/health/live").status(), 200);
    for frames in [&mut silent, &mut half, &mut cut, &mut idle] {
        frames.until_closed();
    }
    assert_eq!(idle.goaway(), Some((0, 1)), "it was told, and which request was the last");
    healthy(&world);
}

#[test]
fn pings_do_not_keep_a_connection() {
    let world = World::start_with(IMPATIENT);
    let mut frames = Frames::open(world.address(), &[]);
    assert_eq!(frames.fetch("/health/live").status(), 200);
    let began = Instant::now();
    while frames.goaway().is_none() {
        assert!(began.elapsed() < STUCK, "it is kept");
        let _ = frames.send(PING, 0, 0, &[0; 8]);
        // The answer to it, or the refusal.
        if frames.frame().is_none() {
            break;
        }
        std::thread::yield_now();
    }
    frames.until_closed();
    healthy(&world);
}

#[test]
fn requests_that_wait_on_one_connection_count_as_connections() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_MAX_CONNECTIONS_PER_CLIENT", "20")]);
    let (_, path) = large(&world);
    let mut frames = Frames::open(world.address(), &[(WINDOW, 0)]);
    let waiting: Vec<u32> = (0..40).map(|_| frames.get(&path).unwrap()).collect();
    // One stream comes with the connection, and nineteen more are accepted. The number that the next client needs is
    // unknown.
    let refused = waiting[30..].iter().filter(|stream| frames.ended(**stream) == Ended::Reset(REFUSED)).count();
    assert_eq!(refused, 10);
    for stream in &waiting {
        frames.send(RST_STREAM, 0, *stream, &CANCEL.to_be_bytes()).unwrap();
    }
    // Their places are free again.
    frames.send(HEADERS, END_HEADERS | END_STREAM, 201, &request("GET", "/health/live")).unwrap();
    frames.send(WINDOW_UPDATE, 0, 201, &100_u32.to_be_bytes()).unwrap();
    assert_eq!(frames.ended(201).status(), 200);
    drop(frames);
    // The connection ends after its timeout, and returns its places. Until then another client gets 503.
    let live = || world.anon().connect().and_then(|mut one| one.call("GET", "/health/live", &[], b""));
    while !live().is_ok_and(|answer| answer.status == 200) {
        std::thread::yield_now();
    }
}
