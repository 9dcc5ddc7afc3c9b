//! Backends that hang, drip, reset or lie: a client never takes a part of a response for the whole, and no connection is used again that
//! may be out of step.

use crate::origin::{Connection, Origin, ok};
use crate::running_apps::{HANGS, RunningApps, shop};
use apps::AppOptions;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;
use telemetry::{Event, MemberSaid, Outcome, Reason};

/// Long enough for a request on loopback, and short enough for a test that waits for its end.
const SHORT: Duration = Duration::from_millis(300);

fn reason_of(event: &Event) -> (u16, Option<Outcome>, Option<Reason>) {
    (event.status, event.outcome, event.reason)
}

#[test]
fn a_backend_that_accepts_and_never_answers_is_told_apart() {
    for begun in ["", "HTTP/1.1 200 OK\r\nserver: a", "HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n"] {
        let origin = Origin::new(move |connection| {
            connection.request();
            connection.send(begun);
            connection.ended();
        });
        let apps = RunningApps::of(vec![AppOptions { answer_within: SHORT, ..shop(&origin) }]);
        let mut client = apps.client();
        client.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
        let answer = client.answer();
        assert_eq!((answer.status, answer.header("cache-control")), (504, Some("no-store")), "{begun:?}");
        let event = apps.event();
        assert_eq!(reason_of(&event), (504, Some(Outcome::Failed), Some(Reason::AppSilent)), "{begun:?}");
        assert_eq!((event.members[0].said, event.members[0].reason), (MemberSaid::Timeout, Some(Reason::AppSilent)));
    }
}

#[test]
fn a_backend_that_does_not_listen_is_told_apart() {
    let options = AppOptions { to: vec!["http://127.0.0.1:1".to_owned()], ..AppOptions::of("shop") };
    let apps = RunningApps::of(vec![options]);
    let answer = apps.client().get("/");
    assert_eq!((answer.status, answer.text()), (502, "the application cannot be reached\n"));
    let event = apps.event();
    assert_eq!(reason_of(&event), (502, Some(Outcome::Failed), Some(Reason::AppDown)));
    assert_eq!(event.members[0].reason, Some(Reason::AppDown));
    assert_eq!(apps.client().ask("CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n").status, 405);
}

#[test]
fn a_backend_that_closes_or_sends_no_http_is_a_502() {
    for (reply, reason) in [
        ("", Reason::AppCut),
        ("HTTP/1.1 200 OK\r\ncontent-le", Reason::AppCut),
        ("HELLO\r\n\r\n", Reason::AppInvalid),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello", Reason::AppInvalid),
        ("HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nhello", Reason::AppInvalid),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", Reason::AppInvalid),
        ("HTTP/1.1 200 OK\r\na b: c\r\n\r\n", Reason::AppInvalid),
        ("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", Reason::AppInvalid),
        // All of it is there at once, so no byte of it has been sent to the client.
        ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello", Reason::AppCut),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n", Reason::AppInvalid),
    ] {
        let origin = Origin::new(move |connection| {
            connection.request();
            connection.send(reply);
        });
        let apps = RunningApps::before(&origin);
        let mut client = apps.client();
        let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        client.send(request);
        let sent = String::from_utf8(client.rest()).unwrap();
        let event = apps.event();
        // Where the reply had begun, it broke: its end is missing.
        let broke =
            sent.starts_with("HTTP/1.1 200 ") && !sent.ends_with("0\r\n\r\n") && event.outcome == Some(Outcome::Failed);
        assert!(sent.starts_with("HTTP/1.1 502 ") || broke, "{reply:?}: {sent:?} {event:?}");
        assert_eq!(event.reason, Some(reason), "{reply:?}: {event:?}");
        assert_eq!(origin.connections(), 1, "{reply:?}: a connection that is new is not tried again");
    }
}

#[test]
fn a_response_that_breaks_off_breaks_the_connection_of_the_client() {
    let begins: &[(&str, &str, bool)] = &[
        ("length", "HTTP/1.1 200 OK\r\ncontent-length: 300000\r\n\r\n", false),
        ("chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20000\r\n", false),
        ("reset", "HTTP/1.1 200 OK\r\ncontent-length: 300000\r\n\r\n", true),
    ];
    for (name, head, resets) in begins.iter().copied() {
        let (go, goes) = channel::<()>();
        let goes = Mutex::new(goes);
        let origin = Origin::new(move |connection| {
            connection.request();
            connection.send(head);
            connection.send(vec![b'x'; 100_000]);
            let _ = goes.lock().unwrap().recv();
            if resets {
                connection.reset();
            }
        });
        let apps = RunningApps::before(&origin);
        let mut client = apps.client();
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(client.head().status, 200, "{name}");
        client.body(10);
        go.send(()).unwrap();
        let rest = client.rest();
        assert!(!rest.ends_with(b"0\r\n\r\n") && rest.len() < 110_000, "{name}: {}", rest.len());
        let event = apps.event();
        assert_eq!(reason_of(&event), (200, Some(Outcome::Failed), Some(Reason::AppCut)), "{name}: {event:?}");
        assert_eq!(event.members[0].reason, Some(Reason::AppCut), "{name}");
        // An older client cannot tell a part from the whole, so it gets an error.
        if name == "chunks" {
            let mut client = apps.client();
            client.send("GET / HTTP/1.0\r\n\r\n");
            go.send(()).unwrap();
            assert_eq!(client.head().status, 502);
        }
    }
}

#[test]
fn a_backend_that_stops_within_its_response_is_given_up() {
    let origin = Origin::new(|connection| {
        connection.request();
        connection.send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello");
        connection.ended();
    });
    let apps = RunningApps::of(vec![AppOptions { body_idle: SHORT, ..shop(&origin) }]);
    let mut client = apps.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.head().status, 200);
    assert_eq!(client.rest(), b"hello");
    assert_eq!(reason_of(&apps.event()), (200, Some(Outcome::Failed), Some(Reason::AppSilent)));
}

#[test]
fn bytes_that_nobody_asked_for_never_answer_another_request() {
    let second = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged";
    for stray in [second, "x", "\r\n", "HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n"] {
        let origin = Origin::new(move |connection| {
            while let Some(request) = connection.request() {
                connection.send(format!("{}{stray}", ok(request.path())));
            }
        });
        let apps = RunningApps::before(&origin);
        let mut client = apps.client();
        for number in 0..5 {
            let path = format!("/{number}");
            let answer = client.get(&path);
            assert_eq!((answer.status, answer.text()), (200, path.as_str()), "{stray:?}");
        }
        assert_eq!((origin.connections(), origin.received().len()), (5, 5), "{stray:?}");
    }
}

#[test]
fn more_bytes_than_declared_are_no_part_of_the_response() {
    let origin = Origin::replying(|_| "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello and more");
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    for _ in 0..3 {
        assert_eq!(client.get("/").text(), "hello");
    }
    assert_eq!(origin.connections(), 3);
}

#[test]
fn a_flood_of_interim_responses_is_ended() {
    let origin = Origin::new(|connection| {
        connection.request();
        while connection.send("HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n".repeat(100)) {}
    });
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let mut interim = 0;
    let last = loop {
        match client.head() {
            head if head.status == 103 => interim += 1,
            head => break head,
        }
    };
    assert!(last.status == 502 && interim <= 16, "{interim} {last:?}");
    assert_eq!(apps.event().reason, Some(Reason::AppInvalid));
}

/// Answers the first request of each connection, and closes when the second one has come.
fn closes_at_the_second(connection: &mut Connection) {
    if let Some(request) = connection.request() {
        connection.send(ok(request.path()));
        connection.request();
    }
}

#[test]
fn a_request_that_changes_nothing_is_sent_again_where_a_used_connection_closes_under_it() {
    let origin = Origin::new(closes_at_the_second);
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    assert_eq!(client.get("/1").text(), "/1");
    assert_eq!(client.get("/2").text(), "/2");
    let paths: Vec<String> = origin.received().iter().map(|request| request.path().to_owned()).collect();
    assert_eq!(paths, ["/1", "/2", "/2"]);
    let event = [apps.event(), apps.event()].into_iter().find(|event| event.members.len() == 2).unwrap();
    assert_eq!(
        event.members.iter().map(|member| member.said).collect::<Vec<_>>(),
        [MemberSaid::Failed, MemberSaid::Hit]
    );
}

#[test]
fn a_request_that_may_change_something_is_never_sent_twice() {
    let origin = Origin::new(closes_at_the_second);
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    assert_eq!(client.get("/1").text(), "/1");
    let answer = client.ask("POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
    assert_eq!(answer.status, 502);
    assert_eq!(origin.received().len(), 2);
}

#[test]
fn an_idle_connection_that_the_backend_closed_is_noticed_before_it_is_used() {
    let (told, tells) = channel();
    let told = Mutex::new(told);
    let origin = Origin::new(move |connection| {
        if let Some(request) = connection.request() {
            connection.send(ok(request.path()));
            connection.close();
            told.lock().unwrap().send(()).unwrap();
        }
    });
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    for number in 0..5 {
        let path = format!("/{number}");
        let answer = client.ask(&format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"));
        assert_eq!((answer.status, answer.text()), (200, path.as_str()));
        tells.recv_timeout(HANGS).unwrap();
    }
    assert_eq!(origin.received().len(), 5);
}
