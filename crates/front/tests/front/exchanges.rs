//! From the first byte of a request to the last of its reply, and the event that follows.

use crate::running_front::{BIG, Front, HANGS, options};
use front::{Limits, Options};
use std::time::Duration;
use telemetry::{Op, Outcome, Reason};

#[test]
fn a_reply_carries_what_the_handler_said_and_the_event_s_id() {
    let front = Front::new();
    let answer = front.client().get("/a%20b//c?q=1");
    assert_eq!((answer.status, answer.body.as_slice()), (200, b"/a%20b//c Some(\"q=1\")".as_slice()));
    let event = front.event();
    assert_eq!(answer.header("daylight-event"), Some(event.id.to_string().as_str()));
    assert!(answer.header("date").is_some());
    assert_eq!((event.method, event.path.as_str(), event.client.as_str()), ("GET", "/a%20b//c", "127.0.0.1"));
    assert_eq!((event.status, event.outcome, event.bytes_out), (200, Some(Outcome::Answered), 21));
    assert!(event.first_byte > 0 && event.first_byte <= event.duration);
}

#[test]
fn an_event_is_released_after_the_last_byte_has_left_and_not_before() {
    for path in ["/big", "/file"] {
        let front = Front::new();
        let mut slow = front.client();
        slow.send(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n"));
        let (status, _) = slow.head();
        assert_eq!((status, slow.body(1000).len()), (200, 1000));
        // Another request runs meanwhile and its event is released.
        let other = front.client().get("/other");
        assert_eq!(other.header("daylight-event"), Some(front.event().id.to_string().as_str()));
        assert_eq!(front.released(), 1, "{path}");
        assert_eq!(slow.body(BIG - 1000).len(), BIG - 1000);
        let event = front.event();
        assert_eq!((event.path.as_str(), event.outcome), (path, Some(Outcome::Answered)));
        assert_eq!(event.bytes_out, BIG as u64);
        assert_eq!(event.tally(Op::BodySend).count, 1);
        assert!(event.first_byte < event.duration);
    }
}

#[test]
fn replies_without_a_body_release_their_events_too() {
    let front = Front::new();
    let mut client = front.client();
    for (request, status, outcome) in [
        ("HEAD /tagged", 200, Outcome::Answered),
        ("HEAD /big", 200, Outcome::Answered),
        ("HEAD /file", 200, Outcome::Answered),
        ("GET /nothing", 204, Outcome::Answered),
        ("GET /tagged", 304, Outcome::NotModified),
        ("GET /busy", 503, Outcome::Shed),
    ] {
        client
            .send(format!("{request} HTTP/1.1\r\nhost: a\r\nif-none-match: \"v{}\"\r\n\r\n", u8::from(status == 304)));
        let (got, head) = client.head();
        assert_eq!(got, status, "{request}: {head}");
        let event = front.event();
        assert_eq!((event.status, event.outcome, event.bytes_out), (status, Some(outcome), 0), "{request}");
        let length = if request.contains("/big") || request.contains("/file") { Some(BIG) } else { None };
        assert!(length.is_none_or(|length| head.contains(&format!("content-length: {length}"))), "{head}");
    }
}

#[test]
fn a_part_of_a_file_comes_from_its_middle() {
    let front = Front::new();
    let mut client = front.client();
    client.send("GET /file HTTP/1.1\r\nhost: a\r\nrange: bytes=300000-900000\r\n\r\n");
    let answer = client.answer();
    assert_eq!((answer.status, answer.body.len()), (206, 600_001));
    assert_eq!(answer.header("content-range"), Some(format!("bytes 300000-900000/{BIG}").as_str()));
    assert_eq!(front.event().bytes_out, 600_001);
}

#[test]
fn a_request_whose_beginning_came_with_the_one_before_it_is_whole() {
    let front = Front::new();
    let mut client = front.client();
    for _ in 0..3 {
        assert_eq!(client.get("/fine").status, 200);
    }
    client.send("GET /a HTTP/1.1\r\nhost: a\r\n\r\nPOST /upl");
    assert_eq!(client.answer().status, 200);
    client.send("oad HTTP/1.1\r\nhost: a\r\ncontent-le");
    client.send("ngth: 3\r\n\r\na");
    client.send("bc");
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.get("/fine").status, 200);
    let paths: Vec<_> = (0..6).map(|_| front.event().path).collect();
    assert_eq!(paths, ["/fine", "/fine", "/fine", "/a", "/upload", "/fine"]);
}

#[test]
fn a_client_that_leaves_within_the_reply_is_recorded_as_gone() {
    for path in ["/big", "/file"] {
        let front = Front::new();
        let mut client = front.client();
        client.send(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n"));
        client.head();
        drop(client);
        let event = front.event();
        assert_eq!((event.status, event.outcome), (200, Some(Outcome::ClientGone)), "{path}");
    }
}

#[test]
fn a_client_that_leaves_while_the_handler_works_is_recorded_as_gone() {
    let front = Front::new();
    let mut client = front.client();
    client.send("GET /never HTTP/1.1\r\nhost: a\r\n\r\n");
    drop(client);
    let event = front.event();
    assert_eq!((event.path.as_str(), event.status, event.outcome), ("/never", 0, Some(Outcome::ClientGone)));
}

#[test]
fn a_panic_is_a_500_and_the_connection_lives_on() {
    let front = Front::new();
    let mut client = front.client();
    assert_eq!(client.get("/panic").status, 500);
    let event = front.event();
    assert_eq!((event.outcome, event.reason), (Some(Outcome::Failed), Some(Reason::Panicked)));
    assert_eq!(event.detail, "on purpose");
    assert_eq!(client.get("/next").status, 200);
}

#[test]
fn a_file_that_is_shorter_than_said_breaks_the_connection_and_is_our_fault() {
    let front = Front::new();
    let mut client = front.client();
    client.send("GET /short-file HTTP/1.1\r\nhost: a\r\n\r\n");
    let rest = client.rest();
    let rest = String::from_utf8_lossy(&rest);
    assert!(rest.contains("content-length: 20") && rest.ends_with("\r\n\r\nffffffffff"), "{rest}");
    let event = front.event();
    assert_eq!((event.outcome, event.reason), (Some(Outcome::Failed), Some(Reason::Io)));
}

#[test]
fn pipelined_requests_are_answered_and_recorded_in_order() {
    let front = Front::new();
    let mut client = front.client();
    client.send((0..50).map(|number| format!("GET /{number} HTTP/1.1\r\nhost: a\r\n\r\n")).collect::<String>());
    for number in 0..50 {
        assert_eq!(client.answer().body, format!("/{number} None").as_bytes());
    }
    for number in 0..50 {
        let event = front.event();
        assert_eq!((event.path, event.outcome), (format!("/{number}"), Some(Outcome::Answered)));
    }
}

#[test]
fn credentials_and_lengths_in_what_clients_send_are_kept_out_of_events() {
    let front = Front::new();
    let mut client = front.client();
    let path = format!("/{}", "p".repeat(2000));
    client.send(format!("GET {path}?secret HTTP/1.1\r\nhost: a\r\nuser-agent: b http://me:pw@h/\r\n\r\n"));
    client.answer();
    let event = front.event();
    assert_eq!((event.path.as_str(), event.agent.as_str()), (&path[..512], "b http://***@h/"));
}

#[test]
fn stopping_lets_requests_under_way_finish_and_closes_idle_connections() {
    let front = Front::new();
    let (mut idle, mut busy, mut slow) = (front.client(), front.client(), front.client());
    idle.get("/");
    busy.send("POST /upload HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\nexpect: 100-continue\r\n\r\n");
    assert_eq!(busy.head().0, 100);
    slow.send("GET /file HTTP/1.1\r\nhost: a\r\n\r\n");
    slow.head();
    front.stop.now();
    assert_eq!(idle.rest(), b"");
    busy.send("abc");
    assert_eq!(busy.answer().body, b"3");
    assert_eq!(busy.rest(), b"");
    assert_eq!(slow.rest().len(), BIG);
    assert!(front.recorder.flush(HANGS));
    assert_eq!(front.released(), 3);
}

#[test]
fn stopping_with_a_farewell_answers_who_asks_again_and_says_that_the_connection_ends() {
    let front = Front::new();
    let (mut kept, mut new) = (front.client(), front.client());
    assert_eq!(kept.get("/").header("connection"), None);
    front.stop.after(HANGS);
    while !front.refuses() {
        std::thread::yield_now();
    }
    for client in [&mut kept, &mut new] {
        assert_eq!(client.get("/").header("connection"), Some("close"));
        assert_eq!(client.rest(), b"");
    }
}

#[test]
fn stopping_cuts_what_is_not_done_within_the_timeout_and_records_it() {
    let front = Front::with(Options { shutdown_timeout: Duration::from_millis(50), ..options(Limits::default()) });
    let mut client = front.client();
    client.send("GET /never HTTP/1.1\r\nhost: a\r\n\r\n");
    while front.recorder.totals().attempts() == 0 {
        std::thread::yield_now();
    }
    front.stop.now();
    assert_eq!(client.rest(), b"");
    assert_eq!(front.event().path, "/never");
}

#[test]
fn a_client_of_http_1_0_gets_its_reply_and_a_closed_connection() {
    let front = Front::new();
    let mut client = front.client();
    client.send("GET /old HTTP/1.0\r\n\r\n");
    let rest = String::from_utf8(client.rest()).unwrap();
    assert!(rest.starts_with("HTTP/1.0 200") && rest.ends_with("\r\n\r\n/old None"), "{rest}");
    assert_eq!(front.event().outcome, Some(Outcome::Answered));
}
