//! Several addresses, each with its handler and its TLS, on the same cores.

use crate::running_front::{Client, Front, TestHandler, options};
use crate::tls::{Certificate, encrypted};
use front::{Answering, Handler, Limits, Listener, Reply, Request, Site};
use http::StatusCode;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use telemetry::{BoundName, Event, Reason};

/// Answers everything with one text.
struct Says(&'static str);

impl Handler for Says {
    fn answer<'a>(&'a self, _: &'a mut Request, _: &'a mut Event) -> Answering<'a> {
        Box::pin(async { Reply::text(StatusCode::OK, self.0) })
    }
}

fn site(handler: impl Handler) -> (SocketAddr, Site) {
    let listener = Listener::bind(([127, 0, 0, 1], 0).into()).unwrap();
    (listener.local_addr().unwrap(), Site { listener, handler: Arc::new(handler), tls: None })
}

fn client(address: SocketAddr) -> Client {
    #[expect(clippy::disallowed_methods, reason = "a test is a client")]
    Client::over(TcpStream::connect(address).unwrap())
}

#[test]
fn each_address_has_its_handler_and_its_tls() {
    let certificate = Certificate::new();
    let ((_, first), (one, second), (two, third)) = (site(TestHandler), site(Says("one")), site(Says("two")));
    let third = Site { tls: Some(certificate.tls()), ..third };
    let front = Front::serving(vec![first, second, third], options(Limits::default()));
    for _ in 0..8 {
        assert_eq!(front.client().get("/a").body, b"/a None");
        assert_eq!(client(one).get("/a").body, b"one");
        let mut client = encrypted(&certificate, client(two).stream);
        client.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
        let mut reply = String::new();
        let _ = client.read_to_string(&mut reply);
        assert!(reply.ends_with("two"), "{reply}");
    }
}

#[test]
fn the_limits_are_for_all_addresses_together() {
    let ((_, first), (other, second)) = (site(TestHandler), site(Says("other")));
    let front = Front::serving(vec![first, second], options(Limits { connections: 1, ..Limits::default() }));
    let mut held = front.client();
    assert_eq!(held.get("/a").status, 200);
    front.event();
    assert_eq!(client(other).get("/a").status, 503);
    assert_eq!(front.event().reason, Some(Reason::TooManyConnections));
    let bounds = front.recorder.bounds();
    let bound = bounds.iter().find(|bound| bound.name() == BoundName::Connections).unwrap();
    assert_eq!(bound.rejected(), 1);
}

#[test]
fn a_stop_ends_all_of_them_and_finishes_what_is_open_on_each() {
    let ((_, first), (other, second)) = (site(TestHandler), site(TestHandler));
    let front = Front::serving(vec![first, second], options(Limits::default()));
    let mut open = client(other);
    open.send("POST /upload HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nx");
    assert_eq!(front.client().get("/a").status, 200);
    front.event();
    front.stop.now();
    while !front.refuses() {}
    open.send("y");
    let answer = open.answer();
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
}
