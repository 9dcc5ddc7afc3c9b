//! Invalid frames, and requests that a server behind a proxy would read in another way: they are refused.

use super::healthy;
use crate::world::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, Ended, Frames, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, fields, frame, request,
};
use crate::world::{FIRST, World};

/// A path that is answered 200 to everybody.
const PATH: &str = "/health/live";

fn field(name: &str, value: &str) -> Vec<u8> {
    fields(&[(name, value)])
}

/// Asserts that a request with these fields does not succeed.
#[track_caller]
fn refused(world: &World, what: &str, head: &[u8], body: Option<&[u8]>) {
    let mut frames = Frames::open(world.address(), &[]);
    let stream = frames.next_stream();
    let flags = if body.is_some() { END_HEADERS } else { END_HEADERS | END_STREAM };
    frames.send(HEADERS, flags, stream, head).unwrap();
    if let Some(body) = body {
        // It may have been refused already.
        let _ = frames.send(DATA, END_STREAM, stream, body);
    }
    let ended = frames.ended(stream);
    assert!(ended.is_refused(), "{what}: {ended:?}");
}

#[test]
fn what_belongs_to_a_connection_of_http_1_is_refused() {
    let world = World::start();
    for (name, value) in [
        ("connection", "keep-alive"),
        ("connection", "close, x"),
        ("keep-alive", "timeout=5"),
        ("proxy-connection", "keep-alive"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "h2c"),
        ("te", "gzip"),
    ] {
        refused(&world, name, &[request("GET", PATH), field(name, value)].concat(), None);
    }
    let mut frames = Frames::open(world.address(), &[]);
    let stream = frames.ask("GET", PATH, &[("te", "trailers")], END_STREAM).unwrap();
    assert_eq!(frames.ended(stream).status(), 200, "this one is allowed");
    healthy(&world);
}

#[test]
fn names_and_values_that_would_be_several_lines_or_other_names_are_refused() {
    let world = World::start();
    for (name, value) in [
        ("X-Upper", "a"),
        ("x y", "a"),
        ("x:y", "a"),
        ("", "a"),
        ("x\r\ny", "a"),
        ("x", "a\r\nb: c"),
        ("x", "a\nb"),
        ("x", "a\0b"),
        (":x", "a"),
        (":status", "200"),
        ("host", "elsewhere"),
    ] {
        refused(&world, &format!("{name:?}: {value:?}"), &[request("GET", PATH), field(name, value)].concat(), None);
    }
    healthy(&world);
}

#[test]
fn a_request_line_that_is_not_one_is_refused() {
    let world = World::start();
    let (method, scheme, host) = ((":method", "GET"), (":scheme", "http"), (":authority", "localhost"));
    let path = |path| (":path", path);
    for parts in [
        vec![scheme, host, path(PATH)],
        vec![method, host, path(PATH)],
        vec![method, scheme, host],
        vec![method, scheme, path(PATH)],
        vec![method, method, scheme, host, path(PATH)],
        vec![method, scheme, host, path(PATH), path("/")],
        vec![method, scheme, host, host, path(PATH)],
        vec![method, scheme, host, ("x", "y"), path(PATH)],
        vec![method, scheme, host, path("")],
        vec![method, scheme, host, path("health/live")],
        vec![method, scheme, host, path("*")],
        vec![method, scheme, host, path("http://elsewhere/health/live")],
        vec![method, scheme, host, path("/health/live HTTP/1.1\r\nX: y")],
        vec![method, scheme, host, path("/health/live\0")],
        vec![method, scheme, host, path("/health /live")],
        vec![method, scheme, (":authority", "me:secret@localhost"), path(PATH)],
        vec![method, scheme, (":authority", "local host"), path(PATH)],
        vec![(":method", "GET / HTTP/1.1"), scheme, host, path(PATH)],
        vec![(":method", ""), scheme, host, path(PATH)],
        vec![(":method", "CONNECT"), scheme, host, path(PATH)],
        vec![(":method", "CONNECT"), host],
        vec![(":method", "CONNECT"), (":protocol", "websocket"), scheme, host, path(PATH)],
    ] {
        refused(&world, &format!("{parts:?}"), &fields(&parts), None);
    }
    healthy(&world);
}

#[test]
fn a_body_that_is_not_as_long_as_it_says_is_refused() {
    let world = World::start();
    let head = |lengths: &[&str]| {
        let mut head = request("POST", &format!("/repository/{FIRST}/api/v1/gems"));
        head.extend(field("authorization", world.admin().secret()));
        lengths.iter().for_each(|length| head.extend(field("content-length", length)));
        head
    };
    for lengths in [&["4"][..], &["6"], &["5", "6"], &["+5"], &["-5"], &["0x5"], &["5, 5"], &[""], &["5 5"]] {
        refused(&world, &format!("{lengths:?}"), &head(lengths), Some(b"hello"));
    }
    refused(&world, "a length and no body", &head(&["5"]), None);
    refused(&world, "a length that is no number", &head(&["99999999999999999999999"]), Some(b"hello"));
    healthy(&world);
}

/// Asserts that these bytes end the connection or the stream, and that no reply succeeds.
#[track_caller]
fn ends(world: &World, what: &str, bytes: &[u8]) {
    let mut frames = Frames::open(world.address(), &[]);
    frames.raw(bytes).unwrap();
    frames.hang_up();
    let mut told = Vec::new();
    while let Some(frame) = frames.frame() {
        if matches!(frame.kind, GOAWAY | RST_STREAM) {
            told.push(frame);
        }
    }
    assert!(!told.is_empty(), "{what}: nothing is said about it");
    assert!(told.iter().all(|frame| frame.payload[frame.payload.len().min(8) - 4..] != [0; 4]), "{what}: {told:?}");
}

#[test]
fn streams_and_frames_out_of_their_order_or_size_end_the_connection() {
    let world = World::start();
    let ask = request("GET", PATH);
    let head = |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &ask);
    let ends = |what: &str, frames: &[Vec<u8>]| ends(&world, what, &frames.concat());
    ends("an even stream", &[head(2)]);
    ends("stream 0", &[head(0)]);
    ends("a stream that is below the last", &[head(5), head(3)]);
    ends("data on no stream", &[frame(DATA, 0, 0, b"x")]);
    ends("data on an idle stream", &[frame(DATA, 0, 1, b"x")]);
    ends("a reset of an idle stream", &[frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])]);
    ends("room for an idle stream", &[frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 8])]);
    ends("no room", &[frame(WINDOW_UPDATE, 0, 0, &[0; 4])]);
    ends("more room than there is", &[frame(WINDOW_UPDATE, 0, 0, &i32::MAX.to_be_bytes())]);
    ends("a window above all", &[frame(SETTINGS, 0, 0, &[0, 4, 255, 255, 255, 255])]);
    ends("a frame size that may not be", &[frame(SETTINGS, 0, 0, &[0, 5, 0, 0, 0, 1])]);
    ends("settings of a stream", &[frame(SETTINGS, 0, 1, &[])]);
    ends("settings of five bytes", &[frame(SETTINGS, 0, 0, &[0; 5])]);
    ends("an answer to settings that says something", &[frame(SETTINGS, 1, 0, &[0; 6])]);
    ends("a ping of seven bytes", &[frame(PING, 0, 0, &[0; 7])]);
    ends("a ping on a stream", &[frame(PING, 0, 1, &[0; 8])]);
    ends("a promise from a client", &[frame(5, END_HEADERS, 1, &[&[0, 0, 0, 2], &ask[..]].concat())]);
    ends("a frame longer than agreed", &[frame(DATA, 0, 1, &vec![0; 16_385])]);
    ends(
        "more padding than frame",
        &[frame(HEADERS, END_HEADERS | END_STREAM | 8, 1, &[[250].to_vec(), ask.clone()].concat())],
    );
    ends("a continuation of nothing", &[frame(CONTINUATION, END_HEADERS, 1, &ask)]);
    ends("a head that another frame cuts", &[frame(HEADERS, END_STREAM, 1, &ask), frame(PING, 0, 0, &[0; 8])]);
    ends(
        "a head that another stream goes on",
        &[frame(HEADERS, END_STREAM, 1, &ask), frame(CONTINUATION, END_HEADERS, 3, &[])],
    );
    ends("a field that no table holds", &[frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0xff, 0xff, 0x7f])]);
    ends("a table larger than agreed", &[frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0x3f, 0xe1, 0xff, 0x7f])]);
    ends(
        "a text longer than its frame",
        &[frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0, 0x7f, 0xff, 0xff, 0x7f, b'x'])],
    );
    healthy(&world);
}

#[test]
fn data_after_the_end_of_a_stream_is_no_other_request() {
    let world = World::start();
    let mut frames = Frames::open(world.address(), &[]);
    let first = frames.get(PATH).unwrap();
    assert_eq!(frames.ended(first).status(), 200);
    frames.send(DATA, END_STREAM, first, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    frames.hang_up();
    while let Some(frame) = frames.frame() {
        assert_ne!(frame.kind, HEADERS, "it was answered");
    }
    healthy(&world);
}

#[test]
fn a_preface_that_is_not_whole_is_no_http_2_and_http_1_refuses_it() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_HEAD_TIMEOUT_S", "1")]);
    let odd = "PRI / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    for bytes in ["PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", "PRI * HTTP/2.0\r\n\r\n", odd] {
        let told = super::statuses(&world, bytes.as_bytes());
        assert!(told.iter().all(|status| *status >= 400), "{bytes:?}: {told:?}");
    }
    let mut frames = Frames::silent(world.address());
    frames.raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET / HTTP/1.1\r\n\r\n").unwrap();
    frames.hang_up();
    while let Some(frame) = frames.frame() {
        assert_ne!(frame.kind, HEADERS, "it was answered");
    }
    // A connection that begins like the preface may be a request of HTTP/1.
    assert_eq!(super::statuses(&world, b"PUT /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").len(), 1);
    let mut frames = Frames::open(world.address(), &[]);
    assert_eq!(frames.fetch(PATH), Ended::Answered(200, b"alive\n".to_vec()));
    healthy(&world);
}
