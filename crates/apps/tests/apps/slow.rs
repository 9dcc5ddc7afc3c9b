//! Slow clients hold no backend: its slot is free when it has sent its last byte.

use crate::origin::{Origin, ok};
use crate::responses::pattern;
use crate::running_apps::{RunningApps, shop};
use apps::AppOptions;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use telemetry::{Op, Outcome};

/// More than the buffers of both sockets of a client hold.
const BIG: usize = 24 << 20;

fn big() -> Origin {
    Origin::replying(|request| match request.path() {
        "/big" => [format!("HTTP/1.1 200 OK\r\ncontent-length: {BIG}\r\n\r\n").into_bytes(), pattern(BIG)].concat(),
        path => ok(path).into_bytes(),
    })
}

#[test]
fn a_client_that_does_not_read_holds_no_slot() {
    let origin = big();
    let apps = RunningApps::of(vec![AppOptions { slots: 1, ..shop(&origin) }]);
    let mut slow = apps.client();
    slow.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(slow.head().status, 200);
    apps.until("the backend is free although its client does not read", |view| {
        view.lanes.iter().all(|lane| lane.busy == 0)
    });
    assert!(apps.apps.view()[0].spool_bytes > 0);
    assert_eq!(apps.client().get("/quick").text(), "/quick");
    assert!(slow.body(BIG) == pattern(BIG));
    let events = [apps.event(), apps.event()];
    let event = events.iter().find(|event| event.path == "/big").unwrap();
    assert_eq!((event.outcome, event.bytes_out), (Some(Outcome::Answered), BIG as u64));
    assert!(event.tally(Op::SpoolWrite).count > 0 && event.tally(Op::AppBody).nanos < event.duration, "{event:?}");
}

#[test]
fn a_client_that_sends_slowly_holds_no_slot() {
    let origin = Origin::replying(|request| ok(&request.body.len().to_string()));
    let apps = RunningApps::of(vec![AppOptions { slots: 1, ..shop(&origin) }]);
    let mut slow = apps.client();
    slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(slow.head().status, 100);
    slow.send(pattern(50_000));
    assert_eq!(apps.client().get("/quick").text(), "0");
    assert_eq!((apps.busy(), origin.connections()), (0, 1));
    slow.send(pattern(50_000));
    assert_eq!(slow.answer().text(), "100000");
}

#[test]
fn a_full_spool_slows_the_backend_down_and_breaks_nothing() {
    let origin = big();
    let apps = RunningApps::of(vec![AppOptions { spool_bytes: 200_000, ..shop(&origin) }]);
    let mut slow = apps.client();
    slow.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(slow.head().status, 200);
    apps.until("the spool is full", |view| view.spool_bytes > 100_000);
    assert!(apps.busy() == 1 && apps.apps.view()[0].spool_bytes <= 200_000);
    assert_eq!(apps.client().get("/quick").text(), "/quick", "small responses need no room");
    assert!(slow.body(BIG) == pattern(BIG));
    // A client that must know the length first needs room for all of it.
    let mut older = apps.client();
    older.send("GET /big HTTP/1.0\r\n\r\n");
    assert_eq!(older.head().status, 200, "its length is declared");
}

#[test]
fn a_client_that_leaves_ends_the_work_of_the_backend() {
    let (told, tells) = channel();
    let told = Mutex::new(told);
    let origin = Origin::new(move |connection| {
        if let Some(request) = connection.request() {
            if request.path() == "/answering" {
                connection.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
            }
            connection.ended();
            told.lock().unwrap().send(()).unwrap();
        }
    });
    let apps = RunningApps::before(&origin);
    for path in ["/silent", "/answering"] {
        let mut client = apps.client();
        client.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        match path {
            "/answering" => assert_eq!(client.head().status, 200),
            _ => apps.until("the request has come", |_| !origin.received().is_empty()),
        }
        drop(client);
        tells.recv_timeout(crate::running_apps::HANGS).unwrap();
        assert_eq!(apps.event().outcome, Some(Outcome::ClientGone), "{path}");
    }
}
