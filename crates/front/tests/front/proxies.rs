//! Clients behind a proxy: the handler and the event see the real client.

use crate::running_front::{Client, Front};
use front::{ClientFrom, Limits};
use telemetry::{Outcome, Reason};

fn asked_by(client: &mut Client, headers: &str) -> String {
    client.send(format!("GET /who HTTP/1.1\r\nhost: a\r\n{headers}\r\n"));
    String::from_utf8(client.answer().body).unwrap()
}

#[test]
fn the_client_that_a_trusted_proxy_announces_is_the_event_s_and_the_handler_s() {
    let front = Front::behind(ClientFrom::ProxyProtocol, Limits::default());
    let mut client = front.client();
    client.send("PROXY TCP4 192.0.2.1 198.51.100.1 1 443\r\n");
    for _ in 0..2 {
        assert_eq!(asked_by(&mut client, "x-forwarded-for: 192.0.2.7\r\n"), "192.0.2.1");
        assert_eq!(front.event().client, "192.0.2.1");
    }
    let mut checking = front.client();
    checking.send("PROXY UNKNOWN\r\n");
    assert_eq!(asked_by(&mut checking, ""), "127.0.0.1");
}

#[test]
fn the_client_that_a_trusted_proxy_forwards_for_is_that_of_each_request() {
    let front = Front::behind(ClientFrom::XForwardedFor, Limits::default());
    let mut client = front.client();
    for (headers, who) in [
        ("x-forwarded-for: 192.0.2.1\r\n", "192.0.2.1"),
        ("x-forwarded-for: 192.0.2.2\r\nforwarded: for=192.0.2.3\r\n", "192.0.2.2"),
        ("", "127.0.0.1"),
    ] {
        assert_eq!(asked_by(&mut client, headers), who);
        assert_eq!(front.event().client, who);
    }
}

#[test]
fn whoever_is_not_a_trusted_proxy_speaks_for_nobody() {
    let front = Front::behind(ClientFrom::XForwardedFor, Limits::default());
    assert_eq!(asked_by(&mut front.client_from([127, 0, 0, 2]), "x-forwarded-for: 192.0.2.1\r\n"), "127.0.0.2");
    let front = Front::behind(ClientFrom::ProxyProtocol, Limits::default());
    let mut stranger = front.client_from([127, 0, 0, 2]);
    assert_eq!(asked_by(&mut stranger, ""), "127.0.0.2");
    front.event();
    stranger.send("PROXY TCP4 192.0.2.1 198.51.100.1 1 443\r\n");
    assert_eq!(stranger.answer().status, 400);
    assert_eq!(front.event().outcome, Some(Outcome::Malformed));
}

#[test]
fn a_proxy_that_announces_nobody_is_closed_and_counted_but_not_when_it_only_looks() {
    let front = Front::behind(ClientFrom::ProxyProtocol, Limits::default());
    drop(front.client());
    let mut client = front.client();
    client.send("GET /who HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(client.rest(), b"");
    let event = front.event();
    assert_eq!((event.outcome, event.reason), (Some(Outcome::Malformed), Some(Reason::InputInvalid)));
    assert_eq!((event.client.as_str(), front.released()), ("127.0.0.1", 1));
}

#[test]
fn a_connection_that_is_not_announced_keeps_nobody_from_stopping() {
    let front = Front::behind(ClientFrom::ProxyProtocol, Limits::default());
    let (mut silent, mut asking) = (front.client(), front.client());
    asking.send("PROXY UNKNOWN\r\n");
    asked_by(&mut asking, "");
    front.stop.now();
    assert_eq!((silent.rest(), asking.rest()), (Vec::new(), Vec::new()));
}

#[test]
fn a_proxy_has_as_many_connections_as_it_likes_and_each_client_behind_it_no_more_than_its_own() {
    let limits = Limits { client_connections: 1, ..Limits::default() };
    let front = Front::behind(ClientFrom::ProxyProtocol, limits);
    let connect = |who: &str| {
        let mut client = front.client();
        client.send(format!("PROXY TCP4 {who} 198.51.100.1 1 443\r\n"));
        client
    };
    let (mut first, mut second) = (connect("192.0.2.1"), connect("192.0.2.2"));
    for client in [&mut first, &mut second] {
        asked_by(client, "");
        front.event();
    }
    assert_eq!(connect("192.0.2.1").rest(), b"");
    let event = front.event();
    assert_eq!((event.client.as_str(), event.reason), ("192.0.2.1", Some(Reason::TooManyOfClient)));
}
