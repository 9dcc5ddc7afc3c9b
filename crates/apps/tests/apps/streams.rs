//! Event streams and tunnels: what comes goes on at once, and no slot is held.

use crate::client::Client;
use crate::origin::{Connection, Origin, ok};
use crate::running_apps::{HANGS, RunningApps, shop};
use apps::AppOptions;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use telemetry::{Outcome, Reason};

const UPGRADE: &str = "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const SWITCHES: &str =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n";

#[test]
fn an_event_stream_comes_piece_by_piece_and_holds_no_slot() {
    for head in ["content-type: text/event-stream; charset=utf-8\r\n", "x-accel-buffering: no\r\n"] {
        let (say, said) = channel::<&str>();
        let said = Mutex::new(said);
        let origin = Origin::new(move |connection| {
            if connection.request().is_none_or(|request| request.path() == "/quick") {
                connection.send(ok("quick"));
                return;
            }
            connection.send(format!("HTTP/1.1 200 OK\r\n{head}transfer-encoding: chunked\r\n\r\n"));
            for piece in said.lock().unwrap().iter() {
                connection.send(format!("{:x}\r\n{piece}\r\n", piece.len()));
            }
            connection.send("0\r\n\r\n");
        });
        let apps = RunningApps::of(vec![AppOptions { slots: 1, ..shop(&origin) }]);
        let mut client = apps.client();
        client.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
        let answer = client.head();
        assert_eq!((answer.status, answer.header("x-accel-buffering")), (200, None));
        for piece in ["data: 1\n\n", "data: 2\n\n", "data: 3\n\n"] {
            say.send(piece).unwrap();
            assert_eq!(client.chunk(), piece.as_bytes());
            assert_eq!((apps.busy(), apps.apps.streams()), (0, 1));
        }
        assert_eq!(apps.client().get("/quick").text(), "quick");
        drop(say);
        assert_eq!(client.chunk(), b"");
        apps.until("the stream has ended", |view| view.streams == 0);
    }
}

#[test]
fn a_restart_ends_event_streams_as_if_the_application_had_and_breaks_any_other() {
    for (line, is_events) in [("content-type: text/event-stream", true), ("x-accel-buffering: no", false)] {
        let origin = Origin::new(move |connection| {
            connection.request();
            connection.send(format!("HTTP/1.1 200 OK\r\n{line}\r\ntransfer-encoding: chunked\r\n\r\n2\r\n:\n\r\n"));
            connection.ended();
        });
        let apps = RunningApps::before(&origin);
        let mut client = apps.client();
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!((client.head().status, client.chunk()), (200, b":\n".to_vec()));
        apps.apps.end_streams();
        if is_events {
            assert_eq!(client.chunk(), b"");
            assert_eq!(apps.event().outcome, Some(Outcome::Answered));
        } else {
            assert_eq!(client.rest(), b"");
        }
    }
}

#[test]
fn an_event_stream_that_breaks_breaks_the_connection() {
    let origin = Origin::new(|connection| {
        connection.request();
        connection.send(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n2\r\n:\n\r\n",
        );
    });
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!((client.head().status, client.chunk(), client.rest()), (200, b":\n".to_vec(), Vec::new()));
    let event = apps.event();
    assert_eq!((event.outcome, event.reason), (Some(Outcome::Failed), Some(Reason::AppCut)));
}

/// Answers with a 101 and the first bytes in one write, then says everything twice.
fn echo(connection: &mut Connection) {
    while let Some(request) = connection.request() {
        if request.header("upgrade").is_none() {
            connection.send(ok("no upgrade"));
            continue;
        }
        connection.send(format!("{SWITCHES}hello"));
        while let Some(byte) = connection.bytes(1) {
            connection.send([byte[0], byte[0]]);
        }
        connection.send("bye");
        return;
    }
}

fn switched(client: &mut Client) {
    let head = client.head();
    assert_eq!((head.status, head.header("upgrade")), (101, Some("websocket")), "{}", head.head);
    assert_eq!(head.header("sec-websocket-accept"), Some("x"));
    assert!(head.header("connection").unwrap().eq_ignore_ascii_case("upgrade"));
}

#[test]
fn a_websocket_carries_bytes_both_ways_and_the_end_of_each_direction() {
    let origin = Origin::new(echo);
    let apps = RunningApps::of(vec![AppOptions { slots: 1, ..shop(&origin) }]);
    let mut client = apps.client();
    // The client speaks before it has seen the answer.
    client.send(format!("{UPGRADE}a"));
    switched(&mut client);
    assert_eq!(client.body(7), b"helloaa");
    client.send("bc");
    assert_eq!(client.body(4), b"bbcc");
    assert_eq!((apps.busy(), apps.apps.streams()), (0, 1));
    assert_eq!(apps.client().get("/").text(), "no upgrade");
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.rest(), b"bye");
    apps.until("the tunnel has ended", |view| view.streams == 0);
    let events = [apps.event(), apps.event()];
    let event = events.iter().find(|event| event.status == 101).unwrap();
    assert_eq!((event.bytes_in, event.bytes_out), (3, 14));
    let received = origin.received();
    assert_eq!(received[0].header("connection"), Some("upgrade"));
}

#[test]
fn a_restart_closes_websockets_on_both_sides() {
    let (told, tells) = channel();
    let told = Mutex::new(told);
    let origin = Origin::new(move |connection| {
        connection.request();
        connection.send(SWITCHES);
        connection.ended();
        told.lock().unwrap().send(()).unwrap();
    });
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    client.send(UPGRADE);
    switched(&mut client);
    apps.apps.end_streams();
    assert_eq!(client.rest(), b"");
    tells.recv_timeout(HANGS).unwrap();
}

#[test]
fn an_application_that_declines_the_protocol_answers_as_ever() {
    let origin = Origin::replying(|_| "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nx: y\r\n\r\nno");
    let apps = RunningApps::before(&origin);
    let mut client = apps.client();
    for _ in 0..2 {
        let answer = client.ask(UPGRADE);
        assert_eq!((answer.status, answer.text(), answer.header("x")), (400, "no", Some("y")));
    }
}
