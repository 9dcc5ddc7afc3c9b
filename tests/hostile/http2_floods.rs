//! Floods of frames: a connection that sends frames without requests is closed, and meanwhile all other clients are
//! answered.

use super::healthy;
use crate::world::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, Ended, Frames, HEADERS, PING, PRIORITY, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, fields, frame, request, text,
};
use crate::world::{FIRST, World};
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Maximum memory that a flood may add to the server.
const LITTLE: u64 = 16 << 20;

fn versions() -> String {
    format!("/repository/{FIRST}/versions")
}

/// Sends `one` repeatedly until the server closes the connection, while others are answered. Everything may be in
/// transit at once if the server is busy.
fn flooded(world: &World, what: &str, begin: impl Fn(&mut Frames) -> u32, one: impl Fn(u32) -> Vec<u8> + Sync) {
    const MOST: u32 = 400_000;
    let before = world.memory();
    let mut frames = Frames::open(world.address(), &[]);
    let first = begin(&mut frames);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut sending = frames.stream().try_clone().unwrap();
        let (over, one) = (&over, &one);
        scope.spawn(move || {
            let _ = (0..MOST / 100).try_for_each(|batch| {
                let burst: Vec<u8> = (0..100).flat_map(|number| one(first + 2 * (batch * 100 + number))).collect();
                sending.write_all(&burst)
            });
            over.store(true, Relaxed);
        });
        while !over.load(Relaxed) {
            world.anon().get(&versions()).expect(200);
        }
    });
    frames.until_closed();
    let grown = world.memory().saturating_sub(before);
    assert!(grown < LITTLE, "{what}: {grown} bytes more");
}

#[test]
fn streams_that_are_opened_and_reset_at_once_end_the_connection() {
    let world = World::start();
    let ask = request("GET", &versions());
    flooded(
        &world,
        "rapid reset",
        |frames| frames.next_stream(),
        |stream| {
            let head = frame(HEADERS, END_HEADERS | END_STREAM, stream, &ask);
            [head, frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())].concat()
        },
    );
    // And streams with a body that is still to come.
    let push = request("POST", &format!("/repository/{FIRST}/api/v1/gems"));
    flooded(
        &world,
        "rapid reset of uploads",
        |frames| frames.next_stream(),
        |stream| {
            let head = frame(HEADERS, END_HEADERS, stream, &push);
            [head, frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())].concat()
        },
    );
    healthy(&world);
}

#[test]
fn frames_that_ask_for_nothing_and_a_request_in_thousands_of_pieces_end_the_connection() {
    let world = World::start();
    let nothing = |_: &mut Frames| 1;
    flooded(&world, "pings", nothing, |_| frame(PING, 0, 0, b"12345678"));
    flooded(&world, "settings", nothing, |_| frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]));
    flooded(&world, "empty settings", nothing, |_| frame(SETTINGS, 0, 0, &[]));
    flooded(&world, "priorities", nothing, |stream| frame(PRIORITY, 0, stream, &[0, 0, 0, 0, 7]));
    flooded(&world, "windows", nothing, |_| frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes()));
    flooded(&world, "what nobody knows", nothing, |_| frame(0xfa, 0xff, 0, b"anything"));
    let begin = |frames: &mut Frames| {
        let stream = frames.next_stream();
        frames.send(HEADERS, END_STREAM, stream, &request("GET", "/")).unwrap();
        stream
    };
    flooded(&world, "empty continuations", begin, |_| frame(CONTINUATION, 0, 1, &[]));
    flooded(&world, "continuations", begin, |_| frame(CONTINUATION, 0, 1, &fields(&[("x", "y")])));
    let large = fields(&[("x", &"y".repeat(16_000))]);
    flooded(&world, "large continuations", begin, |_| frame(CONTINUATION, 0, 1, &large));
    let secret = world.admin().secret().to_owned();
    let begin = |frames: &mut Frames| {
        let path = format!("/repository/{FIRST}/api/v1/gems");
        frames.ask("POST", &path, &[("authorization", &secret)], 0).unwrap()
    };
    flooded(&world, "empty data", begin, |_| frame(DATA, 0, 1, &[]));
    flooded(&world, "a byte at a time", begin, |_| frame(DATA, 0, 1, b"x"));
    // Padding only: 255 bytes of it, and no data.
    let padding = [&[255][..], &[0; 255]].concat();
    flooded(&world, "padding", begin, |_| frame(DATA, 8, 1, &padding));
    healthy(&world);
}

#[test]
fn a_small_head_that_stands_for_a_large_one_is_refused_and_holds_no_memory() {
    let world = World::start();
    let before = world.memory();
    for _ in 0..20 {
        let mut frames = Frames::open(world.address(), &[]);
        // One field of 4,000 bytes into the table, and then that again 12,000 times: 48 MB from 16 KB.
        let mut bomb = request("GET", "/");
        bomb.extend([&[0x40][..], &text("x"), &text(&"y".repeat(4_000))].concat());
        bomb.extend(vec![0xbe; 12_000]);
        let stream = frames.next_stream();
        if frames.send(HEADERS, END_HEADERS | END_STREAM, stream, &bomb).is_ok() {
            let ended = frames.ended(stream);
            assert!(ended.is_refused(), "{ended:?}");
        }
    }
    let grown = world.memory().saturating_sub(before);
    assert!(grown < LITTLE, "{grown} bytes more");
    healthy(&world);
}

#[test]
fn a_long_list_of_headers_is_refused_by_its_own_status_and_the_connection_lives() {
    let world = World::start();
    let mut frames = Frames::open(world.address(), &[]);
    let long = "y".repeat(15_000);
    let (many, few) = (vec![("x", "y"); 150], vec![("x", "y"); 90]);
    let stream = frames.ask("GET", "/health/live", &many, END_STREAM).unwrap();
    assert_eq!(frames.ended(stream).status(), 431);
    let stream = frames.ask("GET", "/health/live", &few, END_STREAM).unwrap();
    assert_eq!(frames.ended(stream).status(), 200);
    // Longer than a head may be, in frames that are not.
    let stream = frames.next_stream();
    frames.send(HEADERS, END_STREAM, stream, &request("GET", "/health/live")).unwrap();
    for flags in [0, 0, END_HEADERS] {
        frames.send(CONTINUATION, flags, stream, &fields(&[("x", &long)])).unwrap();
    }
    assert_eq!(frames.ended(stream).status(), 431);
    assert_eq!(frames.fetch("/health/live").status(), 200);
    let stream = frames.get(&format!("/{}", "x".repeat(10_000))).unwrap();
    assert_eq!(frames.ended(stream).status(), 414);
    healthy(&world);
}

#[test]
fn more_requests_at_once_than_may_be_are_refused_and_may_be_asked_again() {
    let world = World::start();
    let secret = world.admin().secret().to_owned();
    let mut frames = Frames::open(world.address(), &[]);
    let path = format!("/repository/{FIRST}/api/v1/gems");
    let open: Vec<u32> =
        (0..130).map(|_| frames.ask("POST", &path, &[("authorization", &secret)], 0).unwrap()).collect();
    // Streams beyond the limit are refused at once with `REFUSED_STREAM`, whatever the others wait for.
    for stream in &open[100..] {
        assert_eq!(frames.ended(*stream), Ended::Reset(7));
    }
    drop(frames);
    healthy(&world);
}
