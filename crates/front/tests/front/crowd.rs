//! Many clients at once, most of them misbehaving: the front continues to serve, and its counters add up.

use crate::running_front::Front;
use front::Limits;
use proptest::prelude::*;
use std::time::Duration;

/// One thing that a client does on a new connection.
fn misbehave(front: &Front, what: u32) {
    let mut client = front.client();
    match what % 12 {
        0 => assert_eq!(client.get("/fine").status, 200),
        1 => client.send("GET /big HTTP/1.1\r\nhost: a\r\n\r\n"),
        2 => client.send("GET /fi"),
        3 => client.send("\r\n\r\n\0nonsense\r\n\r\n"),
        4 => assert_eq!(client.get("/panic").status, 500),
        5 => client.send("GET /never HTTP/1.1\r\nhost: a\r\n\r\n"),
        6 => client.send("POST /upload HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nabc"),
        7 => client.send("POST /ignored HTTP/1.1\r\nhost: a\r\ncontent-length: 999999\r\n\r\nabc"),
        8 => client.send("GET /a HTTP/1.1\r\nhost: a\r\n\r\nGET /b HTTP/1.1\r\nhost: a\r\n\r\nGET /pan"),
        9 => assert_eq!(client.get("/nothing").status, 204),
        10 => {
            client.send("GET /file HTTP/1.1\r\nhost: a\r\n\r\n");
            client.head();
        }
        _ => {}
    }
}

#[test]
fn a_crowd_is_served_and_every_attempt_of_it_has_an_outcome() {
    let times = Duration::from_millis(300);
    let limits = Limits { upload_idle: times, write_stall: times, linger: times, ..Limits::default() };
    let front = Front::limited(limits);
    std::thread::scope(|scope| {
        for start in 0..6 {
            let front = &front;
            scope.spawn(move || (0..24).for_each(|step| misbehave(front, start * 5 + step)));
        }
    });
    assert_eq!(front.client().get("/after").status, 200);
    // When the front is dropped, it checks that outcomes add up to attempts.
}

#[test]
fn whatever_bytes_come_the_next_client_is_served() {
    let front = Front::limited(Limits { linger: Duration::from_millis(20), ..Limits::default() });
    let header = "[a-z-]{0,8}:? ?[ -~]{0,12}|content-length: [0-9]{0,22}|transfer-encoding: chunked";
    proptest!(|(
        head in "(GET|POST|HEAD|X) [!-~]{0,20}( HTTP/1.[0-2])?",
        headers in proptest::collection::vec(header, 0..4),
        rest in proptest::collection::vec(any::<u8>(), 0..40),
    )| {
        let mut client = front.client();
        client.send([format!("{head}\r\n{}\r\n\r\n", headers.join("\r\n")).as_bytes(), &rest].concat());
        drop(client);
        prop_assert_eq!(front.client().get("/next").status, 200);
    });
}
