//! Plain requests whose handler waits: they wait without hyper.

use crate::running_front::{Client, Front, HANGS, TestHandler, options};
use front::{Answering, Handler, Limits, Options, Request};
use std::io::{ErrorKind, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use telemetry::{Event, Outcome};
use tokio::sync::Semaphore;

/// Tells that a request has begun, and answers it when there is a permit.
struct Gated {
    begun: Sender<()>,
    permits: Arc<Semaphore>,
}

impl Handler for Gated {
    fn answer<'a>(&'a self, request: &'a mut Request, event: &'a mut Event) -> Answering<'a> {
        Box::pin(async {
            self.begun.send(()).unwrap();
            self.permits.acquire().await.unwrap().forget();
            TestHandler.answer(request, event).await
        })
    }
}

/// A front with one core and such a handler.
struct Gate {
    front: Front,
    begins: Receiver<()>,
    permits: Arc<Semaphore>,
}

impl Gate {
    fn new(limits: Limits) -> Self {
        let (begun, begins) = channel();
        let permits = Arc::new(Semaphore::new(0));
        let handler = Arc::new(Gated { begun, permits: permits.clone() });
        Self { front: Front::of(Options { cores: 1, ..options(limits) }, None, handler), begins, permits }
    }

    /// A client whose request has begun, and waits.
    fn waiting(&self, path: &str) -> Client {
        let mut client = self.front.client();
        client.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        self.begins.recv_timeout(HANGS).unwrap();
        client
    }
}

#[test]
fn requests_that_come_while_one_waits_are_answered_after_it_in_their_order() {
    let gate = Gate::new(Limits::default());
    let mut client = gate.waiting("/a");
    client.send("GET /bb HTTP/1.1\r\nHost: a\r\n\r\nGET /ccc HTTP/1.1\r\nHo");
    client.send("st: a\r\n\r\n");
    gate.permits.add_permits(4);
    assert_eq!([7, 8, 9], [0; 3].map(|_| client.answer().body.len()));
    assert_eq!(client.get("/dddd").body.len(), 10);
}

#[test]
fn no_limit_of_heads_and_idle_connections_is_for_a_request_that_waits() {
    const SHORT: Duration = Duration::from_millis(50);
    let gate = Gate::new(Limits { head_time: SHORT, keep_alive: SHORT, ..Limits::default() });
    let mut first = gate.waiting("/a");
    // Each of them ends by a limit, and all began after the request.
    for idle in [b"".as_slice(), b"GET / HT", b""] {
        let mut other = gate.front.client();
        other.send(idle);
        other.rest();
    }
    gate.permits.add_permits(1);
    assert_eq!(first.answer().body, b"/a None");
}

#[test]
fn a_stop_waits_for_it_and_then_closes_its_connection() {
    let gate = Gate::new(Limits::default());
    let mut idle = gate.front.client();
    let mut client = gate.waiting("/a");
    gate.front.stop.now();
    assert_eq!(idle.rest(), b"");
    gate.permits.add_permits(1);
    let answer = client.answer();
    assert_eq!((answer.header("connection"), answer.body.as_slice()), (Some("close"), &b"/a None"[..]));
    assert_eq!(client.rest(), b"");
}

#[test]
fn a_panic_after_the_wait_is_a_500_and_the_connection_goes_on() {
    let gate = Gate::new(Limits::default());
    let mut client = gate.waiting("/panic");
    gate.permits.add_permits(2);
    assert_eq!((client.answer().status, client.get("/a").status), (500, 200));
    assert_eq!(
        [gate.front.event().outcome, gate.front.event().outcome],
        [Outcome::Failed, Outcome::Answered].map(Some)
    );
}

#[test]
fn a_client_that_leaves_ends_its_request() {
    let gate = Gate::new(Limits::default());
    drop(gate.waiting("/a"));
    assert_eq!(gate.front.event().outcome, Some(Outcome::ClientGone));
    gate.permits.add_permits(1);
    assert_eq!(gate.waiting("/b").answer().status, 200);
}

#[test]
fn bytes_behind_it_stay_with_their_client() {
    let gate = Gate::new(Limits::default());
    let mut client = gate.waiting("/a");
    // More than both sockets hold: if the front read on, it would take all of it.
    let behind = b"GET /b HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1 << 20);
    client.stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let error = client.stream.write_all(&behind).unwrap_err();
    assert!([ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()), "{error}");
    gate.permits.add_permits(2);
    assert_eq!([client.answer().body, client.answer().body], [b"/a None", b"/b None"]);
    // The rest of them need not wait for the end of the server.
    gate.permits.add_permits(1 << 20);
}
