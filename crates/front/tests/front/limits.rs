//! Limits of size and of time on everything that a client sends.

use crate::running_front::{Front, HANGS};
use front::Limits;
use std::time::Duration;
use telemetry::{BoundName, Outcome, Reason};

const SHORT: Duration = Duration::from_millis(300);

#[test]
fn a_url_a_head_and_a_number_of_headers_over_their_limits_are_refused() {
    let front = Front::limited(Limits { head: 8192, headers: 10, uri: 100, ..Limits::default() });
    let path = "p".repeat(100);
    let many = "a: b\r\n".repeat(11);
    let long = format!("a: {}\r\n", "b".repeat(8192));
    for (request, status, outcome) in [
        (format!("GET /{path} HTTP/1.1\r\nhost: a\r\n\r\n"), 414, Outcome::Refused),
        (format!("GET / HTTP/1.1\r\n{many}\r\n"), 431, Outcome::Malformed),
        (format!("GET / HTTP/1.1\r\n{long}\r\n"), 431, Outcome::Malformed),
    ] {
        let mut client = front.client();
        client.send(request);
        assert_eq!(client.answer().status, status);
        let event = front.event();
        assert_eq!((event.status, event.outcome, event.reason), (status, Some(outcome), Some(Reason::TooLarge)));
    }
}

#[test]
fn what_is_not_http_is_answered_counted_and_closed() {
    let front = Front::new();
    for bytes in ["\0\x01\x02\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n", "GET / FTP/1.1\r\n\r\n"] {
        let mut client = front.client();
        client.send(bytes);
        assert_eq!(client.answer().status, 400, "{bytes:?}");
        assert_eq!(client.rest(), b"");
        let event = front.event();
        assert_eq!((event.status, event.outcome), (400, Some(Outcome::Malformed)));
    }
    // Neither a preface of HTTP/2 nor a request of HTTP/1.
    let mut client = front.client();
    client.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n");
    client.rest();
    assert_eq!(front.event().outcome, Some(Outcome::Malformed));
}

#[test]
fn a_head_that_comes_too_slowly_ends_the_connection_and_is_counted() {
    let front = Front::limited(Limits { head_time: SHORT, ..Limits::default() });
    let mut client = front.client();
    client.send("GET / HTTP/1.1\r\nhos");
    assert_eq!(client.rest(), b"");
    let event = front.event();
    assert_eq!((event.status, event.outcome), (0, Some(Outcome::TurnedAway)));
    assert_eq!(event.reason, Some(Reason::HeadTooSlow));
}

#[test]
fn a_head_is_slow_from_its_own_first_byte_and_idle_time_is_another_limit() {
    let front = Front::limited(Limits { head_time: SHORT, keep_alive: HANGS, ..Limits::default() });
    let mut client = front.client();
    assert_eq!(client.get("/").status, 200);
    assert_eq!(front.event().outcome, Some(Outcome::Answered));
    client.send("GET");
    assert_eq!(client.rest(), b"");
    assert_eq!(front.event().reason, Some(Reason::HeadTooSlow));
}

#[test]
fn connections_that_ask_nothing_are_closed_and_not_counted() {
    let front = Front::limited(Limits { head_time: SHORT, keep_alive: SHORT, ..Limits::default() });
    assert_eq!(front.client().rest(), b"");
    let mut client = front.client();
    assert_eq!(client.get("/").status, 200);
    assert_eq!(client.rest(), b"");
    assert!(front.recorder.flush(HANGS));
    assert_eq!(front.released(), 1);
}

#[test]
fn a_client_that_leaves_within_its_head_is_counted() {
    let front = Front::new();
    let mut client = front.client();
    client.send("GET / HT");
    drop(client);
    assert_eq!(front.event().outcome, Some(Outcome::ClientGone));
}

#[test]
fn a_client_that_takes_nothing_is_given_up() {
    let front = Front::limited(Limits { write_stall: SHORT, ..Limits::default() });
    let mut client = front.client();
    client.send("GET /big HTTP/1.1\r\nhost: a\r\n\r\n");
    client.head();
    let event = front.event();
    assert_eq!((event.status, event.outcome), (200, Some(Outcome::ClientGone)));
}

#[test]
fn connections_over_the_limit_are_turned_away_and_counted() {
    let front = Front::limited(Limits { connections: 1, ..Limits::default() });
    let mut first = front.client();
    assert_eq!(first.get("/").status, 200);
    front.event();
    let refused = front.client().get("/");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    let event = front.event();
    assert_eq!((event.outcome, event.reason), (Some(Outcome::TurnedAway), Some(Reason::TooManyConnections)));
    assert_eq!(front.client().get("/vital").status, 200);
    assert_eq!(front.event().outcome, Some(Outcome::Answered));
    assert_eq!(first.get("/").status, 200);
    let bound = front.recorder.bounds().into_iter().find(|bound| bound.name() == BoundName::Connections).unwrap();
    assert_eq!((bound.used(), bound.capacity(), bound.rejected()), (1, 1, 2));
}

#[test]
fn those_in_reserve_who_ask_nothing_make_room_for_who_does_and_are_counted() {
    let front = Front::limited(Limits { connections: 1, ..Limits::default() });
    let _first = front.client();
    let silent: Vec<_> = (0..200).map(|_| front.client()).collect();
    for _ in 0..5 {
        assert_eq!(front.client().get("/vital").status, 200);
    }
    drop(silent);
    let mut outcomes = [0; 2];
    while outcomes != [5, 200] {
        match front.event().outcome {
            Some(Outcome::Answered) => outcomes[0] += 1,
            other => {
                assert_eq!(other, Some(Outcome::TurnedAway));
                outcomes[1] += 1;
            }
        }
    }
}

#[test]
fn one_client_cannot_take_all_connections_and_others_still_come_in() {
    let front = Front::limited(Limits { client_connections: 2, ..Limits::default() });
    let mut mine = [front.client(), front.client()];
    for client in &mut mine {
        assert_eq!(client.get("/").status, 200);
        front.event();
    }
    assert_eq!(front.client().get("/").status, 503);
    let event = front.event();
    assert_eq!((event.outcome, event.reason), (Some(Outcome::TurnedAway), Some(Reason::TooManyOfClient)));
    assert_eq!(front.client_from([127, 0, 0, 2]).get("/").status, 200);
    let [_, left] = mine;
    drop(left);
    assert_eq!(front.event().client, "127.0.0.2");
    let bound = |name| front.recorder.bounds().into_iter().find(|bound| bound.name() == name).unwrap();
    let each = bound(BoundName::ClientConnections);
    assert_eq!((each.capacity(), each.highest(), each.rejected()), (2, 2, 1));
    assert_eq!(bound(BoundName::Connections).rejected(), 0);
}
