//! The part of an event about the calls that it made: hosts, connections, and the parts of setting one up.

use super::proxy::Tunnels;
use super::tls::{Certificate, trusting};
use super::*;
use telemetry::ClosedBy;

const CLOSES: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
const SET_UP: [Op; 4] = [Op::UpstreamResolve, Op::UpstreamTcp, Op::UpstreamProxy, Op::UpstreamTls];

/// The event of a call, whatever its result.
fn called(world: &World, upstream: &Upstream, path: &str) -> Box<Event> {
    let mut event = Event::job("test", Millis(1));
    let _ = world.get_as(upstream, path, &Conditions::default(), &mut event);
    event
}

/// How often each part of setting up a connection ran.
fn set_up(event: &Event) -> [u32; 4] {
    SET_UP.map(|op| event.tally(op).count)
}

/// Connections that were opened, calls over an open one, and why the open one was gone.
fn connections(event: &Event) -> (u32, u32, Option<ClosedBy>) {
    event.upstream().map(|used| (used.connects, used.reused, used.closed_by)).unwrap()
}

#[test]
fn a_call_that_sets_up_a_connection_has_each_part_and_the_next_call_has_none() {
    let certificate = Certificate::of("IP:127.0.0.1");
    let there = StandIn::with_tls(certificate.server(None), [("/a", ok("hello"))]);
    let world = World::new();
    let upstream = world.upstream_with(&[&there.url], trusting(&certificate));
    let (first, second) = (called(&world, &upstream, "a"), called(&world, &upstream, "a"));
    assert_eq!((set_up(&first), connections(&first)), ([1, 1, 0, 1], (1, 0, None)));
    assert_eq!((set_up(&second), connections(&second)), ([0; 4], (0, 1, None)));
    let used = first.upstream().unwrap();
    let host: &str = &used.host;
    assert_eq!((host, used.status, used.calls, used.bytes), (&there.url[8..], 200, 1, 5));
}

#[test]
fn an_upstream_that_closes_each_connection_is_the_reason_for_the_next_one() {
    let certificate = Certificate::of("IP:127.0.0.1");
    let there = StandIn::with_tls(certificate.server(None), [("/a", CLOSES.to_owned())]);
    let world = World::new();
    let upstream = world.upstream_with(&[&there.url], trusting(&certificate));
    assert_eq!(connections(&called(&world, &upstream, "a")), (1, 0, None));
    for _ in 0..2 {
        let event = called(&world, &upstream, "a");
        assert_eq!((set_up(&event), connections(&event)), ([1, 1, 0, 1], (1, 0, Some(ClosedBy::Upstream))));
    }
}

#[test]
fn a_connection_that_was_idle_for_too_long_was_closed_by_us() {
    let there = StandIn::new([("/a", ok("hello"))]);
    let world = World::with(HostsOptions { keep_for: Duration::ZERO, ..HostsOptions::default() });
    let upstream = world.upstream(&[&there.url]);
    called(&world, &upstream, "a");
    assert_eq!(connections(&called(&world, &upstream, "a")), (1, 0, Some(ClosedBy::Us)));
}

#[test]
fn a_connection_that_breaks_off_in_a_body_was_closed_by_an_error() {
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nhello";
    let there = StandIn::new([("/a", ok("hello")), ("/cut", cut.to_owned())]);
    let world = World::new();
    let upstream = world.upstream(&[&there.url]);
    called(&world, &upstream, "cut");
    assert_eq!(connections(&called(&world, &upstream, "a")), (1, 0, Some(ClosedBy::Error)));
}

#[test]
fn the_target_of_a_redirect_is_counted_and_not_named() {
    let store = StandIn::new([("/bytes", ok("hello"))]);
    let there = StandIn::new([("/a", says(302, &format!("Location: {}/bytes\r\n", store.url)))]);
    let world = World::new();
    let event = called(&world, &world.upstream(&[&there.url]), "a");
    let used = event.upstream().unwrap();
    let host: &str = &used.host;
    assert_eq!((host, used.status, used.calls, used.redirected), (&there.url[7..], 200, 2, 1));
}

#[test]
fn the_tunnel_of_a_proxy_is_a_part_of_its_own() {
    let certificate = Certificate::of("IP:127.0.0.1");
    let there = StandIn::with_tls(certificate.server(None), [("/a", ok("hello"))]);
    let (world, proxy) = (World::new(), Tunnels::new());
    let options = UpstreamOptions { trust: Some(certificate.pem()), ..proxy.options(Some("me:hush")) };
    let event = called(&world, &world.upstream_with(&[&there.url], options), "a");
    assert_eq!(set_up(&event), [1; 4]);
}

#[test]
fn the_part_in_which_a_call_is_given_up_is_recorded() {
    let plain = StandIn::new([("/a", ok("hello"))]);
    let world = World::new();
    // The server takes the handshake for a request that is not complete yet.
    let mut upstream = world.upstream(&[&plain.url.replace("http:", "https:")]);
    upstream.timeouts.connect = Duration::from_millis(100);
    let event = called(&world, &upstream, "a");
    assert_eq!((set_up(&event), event.tally(Op::UpstreamFirstByte).count), ([1, 1, 0, 1], 0));
    assert!(event.tally(Op::UpstreamTls).nanos > 50_000_000, "{event:?}");
    let used = event.upstream().unwrap();
    assert_eq!((used.status, used.calls, used.connects), (0, 1, 1));
}
