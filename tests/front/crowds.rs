//! Crowds at one page: what may be shared is asked once, and what may not be shared is never serialised.

use super::gate::Gate;
use super::origin::{Origin, response};
use super::program::Front;
use crate::world::Connection;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const CROWD: usize = 1_000;

/// A front with room for the whole crowd at once.
fn front(origin: &Origin) -> Front {
    let text = format!(
        "[[app]]\nname = \"shop\"\nlisten = \"127.0.0.1:0\"\nto = \"{}\"\nslots = {}\n",
        origin.url(),
        2 * CROWD
    );
    Front::start(&[], &text, &[("DAYLIGHT_SERVER_CLIENT_SHARE_PERCENT", "100")])
}

/// Sends the same request on as many connections.
fn crowd(front: &Front, request: &str) -> Vec<Connection> {
    let ask = |_| {
        let mut client = front.connect();
        client.send(request.as_bytes()).unwrap();
        client
    };
    (0..CROWD).map(ask).collect()
}

#[test]
fn a_thousand_cold_requests_for_one_page_are_one_at_the_backend() {
    let gate = Gate::closed();
    let held = gate.clone();
    let origin = Origin::start(move |_, client| {
        held.pass()?;
        client.write_all(&response("200 OK", &["Cache-Control: public, max-age=600"], b"the page")).map(|()| true)
    });
    let front = front(&origin);
    let mut clients = crowd(&front, "GET /page HTTP/1.1\r\nHost: a\r\n\r\n");
    gate.await_inside(1);
    // The last one of the crowd was sent before this, and other targets are not held by it.
    gate.open();
    front.get("/another").expect(200);
    for client in &mut clients {
        assert_eq!(client.answer(false).unwrap().expect(200).text(), "the page");
    }
    assert_eq!(origin.count_of("/page"), 1);
}

#[test]
fn a_thousand_requests_that_cannot_be_cached_are_all_at_the_backend_at_once() {
    // Nobody knows that a page cannot be cached before its first response has said so.
    for (request, control, first) in [
        ("GET /page HTTP/1.1\r\nHost: a\r\n\r\n", "Cache-Control: private, no-store", 1),
        ("GET /page HTTP/1.1\r\nHost: a\r\n\r\n", "X-Nothing: said", 1),
        ("GET /page HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YTpi\r\n\r\n", "Cache-Control: max-age=600", 1),
        ("POST /page HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", "Cache-Control: max-age=600", 0),
    ] {
        // It opens only once all the others are inside: a front that lets them in one after the other never comes to that.
        let (gate, came) = (Gate::opens_at(CROWD - first), AtomicUsize::new(0));
        let origin = Origin::start(move |_, client| {
            if came.fetch_add(1, SeqCst) >= first {
                gate.pass()?;
            }
            client.write_all(&response("200 OK", &[control], b"for one")).map(|()| true)
        });
        let front = front(&origin);
        for client in &mut crowd(&front, request) {
            assert_eq!(client.answer(false).unwrap().expect(200).text(), "for one", "{request} {control}");
        }
        assert_eq!(origin.count_of("/page"), CROWD);
    }
}
