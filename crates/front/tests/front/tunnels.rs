//! Connections that change their protocol.

use crate::handlers::{front, with};
use crate::running_front::{Client, Front, HANGS, options};
use crate::tls::{Certificate, encrypted};
use front::{Body, ClientSide, Limits, Options, Reply, Request, Tunnel};
use http::{HeaderValue, StatusCode, header};
use std::io::{Read, Write};
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Op, Outcome, Reason};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const ASKED: &str = "GET /echo HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";

/// Sends back what comes, and ends after a `.`. `/flood` only sends.
#[derive(Debug)]
struct Echo {
    floods: bool,
    left: Sender<()>,
}

impl Tunnel for Echo {
    fn run(self: Box<Self>, mut client: Box<dyn ClientSide>) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            let mut bytes = vec![0; 64 << 10];
            if self.floods {
                while client.write_all(&bytes).await.is_ok() {}
            }
            while let Ok(read @ 1..) = client.read(&mut bytes).await {
                client.write_all(&bytes[..read]).await.unwrap();
                client.flush().await.unwrap();
                if bytes[..read].ends_with(b".") {
                    break;
                }
            }
            client.shutdown().await.unwrap();
        })
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.left.send(());
    }
}

fn switched(request: &Request, left: Sender<()>) -> Reply {
    Reply::new(StatusCode::SWITCHING_PROTOCOLS)
        .header(header::CONNECTION, HeaderValue::from_static("upgrade"))
        .header(header::UPGRADE, HeaderValue::from_static("echo"))
        .body(Body::Tunnel(Box::new(Echo { floods: request.path() == "/flood", left })))
}

/// The receiver gets a message when a tunnel has ended.
fn echo(options: Options) -> (Front, Receiver<()>) {
    let (left, leaves) = channel();
    let left = Mutex::new(left);
    let answer = move |request: &mut Request| match request.path() {
        "/echo" | "/flood" => switched(request, left.lock().unwrap().clone()),
        _ => Reply::new(StatusCode::OK),
    };
    (with(options, answer), leaves)
}

fn opened(client: &mut Client, path: &str) {
    client.send(ASKED.replace("/echo", path));
    let (status, head) = client.head();
    assert!(status == 101 && head.contains("connection: upgrade\r\nupgrade: echo\r\n"), "{head}");
    assert!(!head.contains("content-length") && head.contains("daylight-event"), "{head}");
}

#[test]
fn after_the_101_the_bytes_go_both_ways_and_the_event_counts_them() {
    // The client stays idle for longer than a connection may.
    let short = Duration::from_millis(20);
    let limits = Limits { keep_alive: short, head_time: short, write_stall: short, ..Limits::default() };
    let (front, leaves) = echo(options(limits));
    let mut client = front.client();
    assert_eq!(client.get("/plain").status, 200);
    front.event();
    opened(&mut client, "/echo");
    for text in ["one", "\n\nGET / HTTP/1.1\r\n\r\n", "\0"] {
        client.send(text);
        assert_eq!(client.body(text.len()), text.as_bytes());
        // A client that is turned away shows that so much time has passed.
        let mut late = front.client();
        late.send("GET /");
        assert_eq!(front.event().reason, Some(Reason::HeadTooSlow));
    }
    client.send("end.");
    assert_eq!(client.rest(), b"end.");
    leaves.recv_timeout(HANGS).unwrap();
    let event = front.event();
    assert_eq!((event.status, event.outcome, event.path.as_str()), (101, Some(Outcome::Answered), "/echo"));
    assert_eq!((event.bytes_in, event.bytes_out), (28, 28));
    assert!(event.duration == event.first_byte && event.tally(Op::BodySend).count == 0, "{event:?}");
}

#[test]
fn a_tunnel_runs_through_tls() {
    let certificate = Certificate::new();
    let handler = Arc::new(crate::handlers::Answers(|request: &mut Request| switched(request, channel().0)));
    let front = Front::of(options(Limits::default()), Some(certificate.tls()), handler);
    let mut client = encrypted(&certificate, front.client().stream);
    client.write_all(ASKED.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    client.write_all(b"abc.").unwrap();
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"abc.");
    assert_eq!(front.event().bytes_out, 4);
}

#[test]
fn a_client_that_takes_nothing_or_goes_ends_its_tunnel() {
    let (front, leaves) = echo(options(Limits { write_stall: Duration::from_millis(200), ..Limits::default() }));
    let mut client = front.client();
    opened(&mut client, "/flood");
    leaves.recv_timeout(HANGS).unwrap();
    let event = front.event();
    assert!(event.outcome == Some(Outcome::ClientGone) && event.bytes_out > 0, "{event:?}");
    let mut client = front.client();
    opened(&mut client, "/echo");
    drop(client);
    leaves.recv_timeout(HANGS).unwrap();
    assert_eq!(front.event().outcome, Some(Outcome::Answered), "the tunnel ended well");
}

#[test]
fn a_tunnel_lasts_as_long_as_a_stop_allows() {
    let brief = Duration::from_millis(1);
    for shutdown_timeout in [2 * HANGS, brief] {
        let limits = Limits { linger: brief, ..Limits::default() };
        let (front, leaves) = echo(Options { shutdown_timeout, ..options(limits) });
        let mut client = front.client();
        opened(&mut client, "/echo");
        client.send("still");
        assert_eq!(client.body(5), b"still");
        front.stop.now();
        while !front.refuses() {}
        if shutdown_timeout == brief {
            leaves.recv_timeout(HANGS).unwrap();
            assert_eq!(client.rest(), b"");
        } else {
            client.send("more.");
            assert_eq!(client.rest(), b"more.");
        }
        let (event, bytes) = (front.event(), if shutdown_timeout == brief { 5 } else { 10 });
        let outcome = if shutdown_timeout == brief { Outcome::ClientGone } else { Outcome::Answered };
        assert_eq!((event.outcome, event.bytes_in, event.bytes_out), (Some(outcome), bytes, bytes));
    }
}

#[test]
fn a_change_of_protocol_that_was_not_asked_for_is_a_502_and_the_connection_goes_on() {
    let front = front(|request: &mut Request| match request.path() {
        "/early" => Reply::new(StatusCode::EARLY_HINTS),
        "/bare" => Reply::new(StatusCode::SWITCHING_PROTOCOLS),
        "/next" => Reply::new(StatusCode::OK),
        _ => switched(request, channel().0),
    });
    let mut client = front.client();
    for request in [
        "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /early HTTP/1.1\r\nhost: a\r\nupgrade: x\r\n\r\n",
        "GET /bare HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\ncontent-length: 1\r\n\r\nx",
    ] {
        client.send(request);
        assert_eq!(client.answer().status, 502, "{request}");
        let event = front.event();
        assert_eq!((event.outcome, event.reason), (Some(Outcome::Failed), Some(Reason::AppInvalid)));
        assert_eq!(client.get("/next").status, 200);
        front.event();
    }
}

#[test]
fn what_is_sent_before_the_101_reaches_the_tunnel_unless_it_was_taken_for_a_head() {
    let (front, _leaves) = echo(options(Limits::default()));
    let mut client = front.client();
    client.send(format!("{ASKED}early."));
    client.head();
    assert_eq!(client.rest(), b"early.");
    let mut client = front.client();
    client.send(format!("{ASKED}early\n"));
    client.head();
    assert_eq!(client.rest(), b"");
}
