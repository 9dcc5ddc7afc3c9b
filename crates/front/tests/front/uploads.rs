//! Bodies of requests: read, unread, too long, too slow, too short.

use crate::running_front::{Front, HANGS};
use front::Limits;
use std::time::Duration;
use telemetry::{Op, Outcome, Reason};

fn post(path: &str, more: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: a\r\n{more}\r\n")
}

#[test]
fn an_upload_arrives_in_whole_with_a_length_or_in_chunks() {
    let front = Front::new();
    let mut client = front.client();
    client.send(post("/upload", "content-length: 300000\r\n"));
    client.send(vec![b'u'; 300_000]);
    assert_eq!(client.answer().body, b"300000");
    client.send(post("/upload", "transfer-encoding: chunked\r\n"));
    client.send("3\r\nabc\r\n4\r\ndefg\r\n0\r\nx-trailer: 1\r\n\r\n");
    assert_eq!(client.answer().body, b"7");
    let (first, second) = (front.event(), front.event());
    assert_eq!((first.bytes_in, second.bytes_in), (300_000, 7));
    assert!(first.tally(Op::BodyReceive).count > 0);
}

#[test]
fn a_client_that_waits_to_be_told_is_told_to_go_on_only_when_the_body_is_wanted() {
    let front = Front::new();
    let mut client = front.client();
    client.send(post("/upload", "content-length: 2\r\nexpect: 100-continue\r\n"));
    assert_eq!(client.head().0, 100);
    client.send("ab");
    assert_eq!(client.answer().body, b"2");
    for (path, status) in [("/waits-and-refuses", 403), ("/refused", 200)] {
        let mut client = front.client();
        client.send(post(path, "content-length: 2\r\nexpect: 100-continue\r\n"));
        assert_eq!(client.answer().status, status);
    }
}

#[test]
fn an_upload_over_the_limit_is_refused_by_its_announcement_or_as_it_comes() {
    let front = Front::new();
    let mut client = front.client();
    client.send(post("/upload?10", "content-length: 11\r\nexpect: 100-continue\r\n"));
    assert_eq!(client.answer().status, 413);
    let mut client = front.client();
    client.send(post("/upload?10", "transfer-encoding: chunked\r\n"));
    client.send("6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n");
    assert_eq!(client.answer().status, 413);
    assert_eq!(client.get("/next").status, 200, "a small remainder is discarded");
    let events: Vec<_> = (0..3).map(|_| front.event()).collect();
    let refused = events.iter().filter(|event| event.outcome == Some(Outcome::Refused));
    assert_eq!(refused.filter(|event| event.reason == Some(Reason::TooLarge)).count(), 2);
}

#[test]
fn the_limit_of_all_uploads_holds_where_the_handler_sets_none() {
    let front = Front::limited(Limits { upload: 4, ..Limits::default() });
    let mut client = front.client();
    client.send(post("/upload", "content-length: 5\r\n\r\nabcde"));
    assert_eq!(client.answer().status, 413);
}

#[test]
fn a_small_upload_that_nobody_wants_leaves_the_connection_in_use() {
    let front = Front::new();
    let mut client = front.client();
    client.send(post("/ignored", "content-length: 100000\r\n"));
    assert_eq!(client.answer().status, 200);
    client.send(vec![b'u'; 100_000]);
    assert_eq!(client.get("/next").body, b"/next None");
}

#[test]
fn the_rest_of_an_upload_that_nobody_wants_is_no_request_whatever_came_before_it() {
    let smuggled = "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";
    let sized =
        |len: usize, body: &str| format!("POST /ignored HTTP/1.1\r\nhost: a\r\ncontent-length: {len}\r\n\r\n{body}");
    let chunked = |len: usize, body: &str| {
        format!("POST /ignored HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{len:x}\r\n{body}")
    };
    let five = sized(5, "hello");
    for (before, begun, after) in [
        (five.clone(), sized(5 + smuggled.len(), "hello"), ""),
        (five.repeat(3), sized(smuggled.len(), ""), ""),
        (chunked(5, "hello\r\n0\r\n\r\n"), chunked(5 + smuggled.len(), "hello"), "\r\n0\r\n\r\n"),
        (five, chunked(smuggled.len(), ""), "\r\n0\r\n\r\n"),
    ] {
        let front = Front::new();
        let mut client = front.client();
        let first = before.matches("POST").count();
        client.send(format!("{before}{begun}"));
        (0..=first).for_each(|_| assert_eq!(client.answer().status, 200));
        // A connection that was quiet for this long would count as idle.
        assert_eq!(front.client().get("/meanwhile").status, 200);
        client.send(format!("{smuggled}{after}GET /next HTTP/1.1\r\nhost: a\r\n\r\n"));
        assert_eq!(client.answer().body, b"/next None", "{begun}");
        let paths: Vec<_> = (0..first + 3).map(|_| front.event().path.to_string()).collect();
        assert!(!paths.iter().any(|path| path == "/smuggled"), "{paths:?}");
    }
}

#[test]
fn a_client_still_sending_what_nobody_wants_can_read_why() {
    let front = Front::limited(Limits { linger: HANGS, ..Limits::default() });
    let mut client = front.client();
    client.send(post("/upload?10", "content-length: 20000000\r\n"));
    // More than the sockets buffer: it only arrives because the server reads and discards it.
    client.send(vec![b'u'; 20_000_000]);
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
    assert_eq!(client.rest(), b"");
}

#[test]
fn an_upload_that_stops_is_too_slow_and_one_that_ends_early_is_short() {
    let front = Front::limited(Limits { upload_idle: Duration::from_millis(300), ..Limits::default() });
    let mut client = front.client();
    client.send(post("/upload", "content-length: 5\r\n\r\nab"));
    assert_eq!(client.answer().status, 408);
    assert_eq!(front.event().reason, Some(Reason::BodyTooSlow));

    let mut client = front.client();
    client.send(post("/upload", "transfer-encoding: chunked\r\n\r\nnot a chunk"));
    assert_eq!(client.answer().status, 400);
    assert_eq!(front.event().reason, Some(Reason::BodyShort));

    let mut client = front.client();
    client.send(post("/upload", "content-length: 5\r\n\r\nab"));
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    let event = front.event();
    assert!(matches!(event.reason, Some(Reason::BodyShort)) || event.outcome == Some(Outcome::ClientGone), "{event:?}");
    assert!(front.recorder.flush(HANGS));
}

#[test]
fn an_upload_that_brings_too_little_is_too_slow_though_it_never_stops() {
    let front = Front::limited(Limits { upload_rate: u64::MAX, upload_grace: Duration::ZERO, ..Limits::default() });
    let mut client = front.client();
    client.send(post("/upload", "content-length: 5\r\n"));
    client.send("ab");
    assert_eq!(client.answer().status, 408);
    assert_eq!(front.event().reason, Some(Reason::BodyTooSlow));
    let mut client = front.client();
    client.send(post("/upload", "content-length: 5\r\n\r\nabcde"));
    assert_eq!(client.answer().body, b"5", "the bytes that have arrived are taken");
}
