//! Upstreams against local servers with fixed responses.

mod pins;
mod post;
mod proxy;
mod stand_in;
mod tls;
mod used;

use super::*;
use crate::circuit::Circuit;
use crate::circuit::CircuitOptions;
use crate::host_options::HostsOptions;
use stand_in::{StandIn, nobody, ok, says};
use std::time::Duration;
use telemetry::Op;
use telemetry::{Clock, Millis, Recorder};
use tokio::time::timeout;

struct World {
    runtime: tokio::runtime::Runtime,
    clock: Clock,
    recorder: Arc<Recorder>,
    hosts: Arc<Hosts>,
}

const QUICK: Timeouts = Timeouts {
    slot: Duration::from_millis(50),
    connect: Duration::from_secs(5),
    head: Duration::from_millis(100),
    idle: Duration::from_millis(100),
    slowest_bytes: 1000,
    slowest_within: Duration::from_secs(5),
};

impl World {
    fn new() -> Self {
        Self::with(HostsOptions {
            circuit: CircuitOptions { failures: 2, ..CircuitOptions::default() },
            timeouts: QUICK,
            ..HostsOptions::default()
        })
    }

    fn with(options: HostsOptions) -> Self {
        let clock = Clock::at(Millis(1_000_000));
        let recorder = Recorder::silent(clock.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, hosts: Hosts::new(recorder.clone(), options), recorder, clock }
    }

    fn upstream(&self, urls: &[&str]) -> Upstream {
        self.upstream_with(urls, UpstreamOptions::default())
    }

    fn upstream_with(&self, urls: &[&str], options: UpstreamOptions) -> Upstream {
        let urls = urls.iter().map(|url| (*url).to_owned()).collect();
        Upstream::new(UpstreamOptions { urls, ..options }, self.hosts.clone()).unwrap()
    }

    /// Status and body, or the name of the failure.
    fn get(&self, upstream: &Upstream, path: &str) -> Result<(u16, String), &'static str> {
        self.get_if(upstream, path, &Conditions::default()).map_err(|error| error.label())
    }

    fn get_if(&self, upstream: &Upstream, path: &str, conditions: &Conditions) -> Result<(u16, String), Error> {
        self.get_as(upstream, path, conditions, &mut Event::job("test", Millis(1)))
    }

    fn get_as(
        &self,
        upstream: &Upstream,
        path: &str,
        conditions: &Conditions,
        event: &mut Event,
    ) -> Result<(u16, String), Error> {
        self.runtime.block_on(async {
            let mut answer = upstream.get(path, conditions, event).await?;
            let mut body = Vec::new();
            while let Some(piece) = answer.next(event).await {
                body.extend_from_slice(&piece?);
            }
            Ok((answer.status(), String::from_utf8(body).unwrap()))
        })
    }

    fn later(&self, by: Duration) {
        self.clock.set(Some(self.clock.now().plus(by)));
    }
}

#[test]
fn a_file_comes_as_it_is_over_a_connection_that_is_kept() {
    let there = StandIn::new([("/base/a%20b/c%2Bd", ok("hello"))]);
    let world = World::new();
    let upstream = world.upstream(&[&format!("{}/base/", there.url)]);
    for _ in 0..3 {
        assert_eq!(world.get(&upstream, "a b/c+d"), Ok((200, "hello".to_owned())));
        assert_eq!(world.get(&upstream, "missing"), Ok((404, String::new())));
    }
    assert_eq!((there.connections(), there.heads().len()), (1, 6));
    assert!(there.heads()[0].contains("accept-encoding: identity\r\n"), "{:?}", there.heads());
    let state = &upstream.states()[0];
    assert_eq!((state.calls, state.kept, state.circuit), (0, 1, Circuit::Closed { failures: 0 }));
    assert_eq!(world.recorder.bounds().iter().filter(|bound| bound.which() == state.number.to_string()).count(), 2);
}

#[test]
fn a_connection_that_nobody_needs_is_let_go() {
    let there = StandIn::new([("/a", ok("hello"))]);
    let world = World::with(HostsOptions { keep_for: Duration::from_millis(20), ..HostsOptions::default() });
    let upstream = world.upstream(&[&there.url]);
    for _ in 0..2 {
        assert_eq!(world.get(&upstream, "a"), Ok((200, "hello".to_owned())));
        world.runtime.block_on(async {
            while upstream.states()[0].kept > 0 {
                tokio::task::yield_now().await;
            }
        });
    }
    assert_eq!(there.connections(), 2);
}

#[test]
fn what_is_known_is_sent_along_and_the_head_alone_brings_a_length() {
    let there =
        StandIn::new([("/a", says(304, "")), ("/b", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nX-A: b\r\n\r\n".into())]);
    let world = World::new();
    let upstream = world.upstream(&[&there.url]);
    let known = Conditions {
        etag: Some("\"x\"".into()),
        modified: Some("Sun, 01 Nov 2026 12:01:00 GMT".into()),
        ..Conditions::default()
    };
    assert_eq!(world.get_if(&upstream, "a", &known).unwrap().0, 304);
    let head = &there.heads()[0];
    assert!(
        head.contains("if-none-match: \"x\"\r\n") && head.contains("if-modified-since: Sun, 01 Nov 2026"),
        "{head}"
    );

    let mut event = Event::job("test", Millis(1));
    let answer = world.runtime.block_on(upstream.head("b", &mut event)).unwrap();
    assert_eq!((answer.status(), answer.length(), answer.header("x-a")), (200, Some(7), Some("b")));
    assert_eq!((event.tally(Op::UpstreamFirstByte).count, event.tally(Op::UpstreamTcp).count), (1, 0));
    assert_eq!(upstream.states()[0].kept, 1);
}

#[test]
fn credentials_go_to_the_upstream_s_own_hosts_and_not_where_it_redirects_to() {
    let store = StandIn::new([("/bytes", ok("hello"))]);
    let there = StandIn::new([
        ("/a", says(302, &format!("Location: {}/bytes\r\n", store.url))),
        ("/b", says(307, "Location: /c\r\n")),
        ("/c", ok("there")),
    ]);
    let world = World::new();
    let credentials = Some(Secret::new("me:hush".into()));
    let upstream = world.upstream_with(&[&there.url], UpstreamOptions { credentials, ..UpstreamOptions::default() });
    assert_eq!(world.get(&upstream, "a"), Ok((200, "hello".into())));
    assert_eq!(world.get(&upstream, "b"), Ok((200, "there".into())));
    assert!(there.heads().iter().all(|head| head.contains("authorization: Basic bWU6aHVzaA==\r\n")));
    assert!(store.heads().iter().all(|head| !head.to_lowercase().contains("authorization")), "{:?}", store.heads());
    assert!(!format!("{upstream:?}").contains("hush") && !format!("{upstream:?}").contains("aHVzaA"));
}

#[test]
fn a_redirect_to_where_clouds_tell_secrets_is_not_followed() {
    let there = StandIn::new([("/a", says(302, "Location: http://169.254.169.254/latest\r\n"))]);
    let world = World::new();
    assert_eq!(world.get(&world.upstream(&[&there.url]), "a"), Err("out_of_reach"));
}

#[test]
fn redirects_end() {
    let there = StandIn::new([
        ("/a", says(301, "Location: /b\r\n")),
        ("/b", says(301, "Location: a\r\n")),
        ("/c", says(302, "")),
    ]);
    let world = World::new();
    let upstream = world.upstream(&[&there.url]);
    assert_eq!(world.get(&upstream, "a"), Err("too_many_redirects"));
    assert_eq!(there.heads().len(), REDIRECTS_MAX + 1);
    assert_eq!(world.get(&upstream, "c"), Err("bad_redirect"));
}

#[test]
fn a_short_body_is_an_error_and_never_the_end() {
    let there = StandIn::new([
        ("/short", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\nhello".into()),
        ("/chunks", "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n".into()),
    ]);
    let world = World::new();
    for path in ["short", "chunks"] {
        assert_eq!(world.get(&world.upstream(&[&there.url]), path), Err("cut"), "{path}");
    }
    assert_eq!(world.hosts.states()[0].calls, 0);
}

#[test]
fn silence_and_dripping_are_told_apart() {
    let there = StandIn::new([
        ("/silent", "...".into()),
        ("/stops", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello...".into()),
    ]);
    let world = World::new();
    assert_eq!(world.get(&world.upstream(&[&there.url]), "silent"), Err("silent"));
    // The circuit of the host is open.
    assert_eq!(world.get(&world.upstream(&[&there.url]), "stops"), Err("left_alone"));
    world.later(Duration::from_secs(2));
    assert_eq!(world.get(&world.upstream(&[&there.url]), "stops"), Err("silent"));
    let mut upstream = world.upstream(&[&there.url]);
    upstream.timeouts.slowest_within = Duration::from_millis(50);
    world.later(Duration::from_secs(5));
    assert_eq!(world.get(&upstream, "stops"), Err("too_slow"));
}

#[test]
fn a_path_that_takes_long_is_no_host_that_hangs() {
    let there = StandIn::new([("/silent", "...".into()), ("/a", ok("a"))]);
    let world = World::new();
    let upstream = world.upstream(&[&there.url]);
    let mut event = Event::job("test", Millis(1));
    let known = Conditions::default();
    world.runtime.block_on(async {
        let mut other = Event::job("test", Millis(1));
        let answers = async {
            // This one is answered while the other waits.
            tokio::task::yield_now().await;
            upstream.get("a", &known, &mut other).await.map(drop)
        };
        let (silent, answered) = tokio::join!(upstream.get("silent", &known, &mut event), answers);
        assert_eq!((silent.unwrap_err().label(), answered.is_ok()), ("silent", true));
    });
    assert_eq!(upstream.states()[0].circuit, Circuit::Closed { failures: 1 });
}

#[test]
fn calls_under_way_end_when_the_host_is_found_to_hang() {
    let there = StandIn::new([("/silent", "...".into()), ("/too", "...".into())]);
    let world = World::new();
    let upstream = world.upstream(&[&there.url]);
    let mut patient = world.upstream(&[&there.url]);
    patient.timeouts.head = Duration::from_secs(60);
    let known = Conditions::default();
    let (mut one, mut other) = (Event::job("test", Millis(1)), Event::job("test", Millis(1)));
    let labels = world.runtime.block_on(async {
        let both = (upstream.get("silent", &known, &mut one), patient.get("too", &known, &mut other));
        let (one, other) = tokio::join!(both.0, both.1);
        [one, other].map(|said| said.unwrap_err().label())
    });
    assert_eq!(labels, ["silent", "left_alone"]);
}

#[test]
fn a_host_that_says_how_long_it_wants_to_rest_is_not_called_before() {
    let there = StandIn::new([("/busy", says(429, "Retry-After: 30\r\n")), ("/too", says(429, "")), ("/a", ok("a"))]);
    let world = World::new();
    let upstream = world.upstream(&[&there.url]);
    assert_eq!(world.get(&upstream, "busy"), Ok((429, String::new())));
    let error = world.get_if(&upstream, "a", &Conditions::default()).unwrap_err();
    assert_eq!((error.label(), error.until()), ("paused", Some(Millis(1_030_000))));
    // The pause holds for all repositories on that host.
    assert_eq!(world.get(&world.upstream(&[&there.url]), "a"), Err("paused"));
    assert_eq!(there.heads().len(), 1);
    world.later(Duration::from_secs(30));
    assert_eq!(world.get(&upstream, "a"), Ok((200, "a".into())));
    assert_eq!(world.get(&upstream, "too"), Ok((429, String::new())));
    assert_eq!(upstream.states()[0].paused_until, Some(Millis(1_035_000)));
}

#[test]
fn a_host_that_fails_again_and_again_is_left_alone_and_tried_once() {
    let ill = ["/ill", "/too", "/still"].map(|path| (path, says(500, "")));
    let there = StandIn::new([ill[0].clone(), ill[1].clone(), ill[2].clone(), ("/a", ok("a"))]);
    let world = World::new();
    let upstream = world.upstream(&[&there.url]);
    assert_eq!(world.get(&upstream, "ill"), Ok((500, String::new())));
    assert_eq!(world.get(&upstream, "a"), Ok((200, "a".into())));
    for path in ["ill", "too"] {
        assert_eq!(world.get(&upstream, path), Ok((500, String::new())));
    }
    let error = world.get_if(&upstream, "a", &Conditions::default()).unwrap_err();
    assert_eq!((error.label(), error.until()), ("left_alone", Some(Millis(1_002_000))));
    assert!(error.to_string().contains("it responded with 500"), "{error}");
    world.later(Duration::from_secs(2));
    // This path is known to fail, so its response proves nothing, and the next call is the trial.
    assert_eq!(world.get(&upstream, "ill"), Ok((500, String::new())));
    assert_eq!(upstream.states()[0].circuit, Circuit::Open { until: Millis(1_002_000), times: 1 });
    assert_eq!(world.get(&upstream, "still"), Ok((500, String::new())));
    assert_eq!(upstream.states()[0].circuit, Circuit::Open { until: Millis(1_006_000), times: 2 });
    world.later(Duration::from_secs(4));
    assert_eq!(world.get(&upstream, "a"), Ok((200, "a".into())));
    assert_eq!(upstream.states()[0].circuit, Circuit::Closed { failures: 0 });
}

#[test]
fn one_bad_file_is_no_ill_host() {
    let there = StandIn::new([("/ill", says(500, "")), ("/a", ok("a"))]);
    let world = World::new();
    let upstream = world.upstream(&[&there.url]);
    for _ in 0..5 {
        assert_eq!(world.get(&upstream, "ill"), Ok((500, String::new())));
    }
    assert_eq!(upstream.states()[0].circuit, Circuit::Closed { failures: 1 });
    assert_eq!(world.get(&upstream, "a"), Ok((200, "a".into())));
}

#[test]
fn a_trial_that_is_dropped_leaves_the_next_call_to_be_one() {
    let there =
        StandIn::new([("/ill", says(502, "")), ("/too", says(502, "")), ("/silent", "...".into()), ("/a", ok("a"))]);
    let world = World::new();
    let upstream = world.upstream(&[&there.url]);
    for path in ["ill", "too"] {
        assert_eq!(world.get(&upstream, path), Ok((502, String::new())));
    }
    world.later(Duration::from_secs(2));
    let mut event = Event::job("test", Millis(1));
    world.runtime.block_on(async {
        let known = Conditions::default();
        let trial = upstream.get("silent", &known, &mut event);
        assert!(timeout(Duration::from_millis(30), trial).await.is_err());
    });
    assert_eq!(world.get(&upstream, "a"), Ok((200, "a".into())));
}

#[test]
fn mirrors_are_asked_in_order_when_the_upstream_leaves_it_open_and_not_when_it_has_nothing() {
    let ill = StandIn::new([("/a", says(500, "")), ("/b", says(403, ""))]);
    let mirror = StandIn::new([("/a", ok("mirror")), ("/b", ok("mirror"))]);
    let world = World::new();
    let upstream = world.upstream(&[&ill.url, &mirror.url]);
    assert_eq!(world.get(&upstream, "a"), Ok((200, "mirror".into())));
    assert_eq!(world.get(&upstream, "b"), Ok((200, "mirror".into())));
    assert_eq!(world.get(&upstream, "none"), Ok((404, String::new())));
    assert_eq!(mirror.heads().len(), 2);
    let mut event = Event::job("test", Millis(1));
    world.runtime.block_on(upstream.get("a", &Conditions::default(), &mut event)).unwrap();
    assert_eq!(event.detail, format!("`{}` answered 500", &ill.url[7..]));

    let nobody = &nobody();
    assert_eq!(world.get(&world.upstream(&[nobody, &mirror.url]), "a"), Ok((200, "mirror".into())));
    assert_eq!(world.get(&world.upstream(&[nobody]), "b"), Err("not_listening"));
    assert_eq!(world.get(&world.upstream(&[&ill.url, nobody]), "b"), Ok((403, String::new())));
}

#[test]
fn no_more_calls_are_under_way_than_the_host_has_slots() {
    let there =
        StandIn::new([("/stops", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello...".into()), ("/a", ok("a"))]);
    let world = World::with(HostsOptions { calls: 1, timeouts: QUICK, ..HostsOptions::default() });
    let upstream = world.upstream(&[&there.url]);
    let mut event = Event::job("test", Millis(1));
    let held = world.runtime.block_on(upstream.get("stops", &Conditions::default(), &mut event)).unwrap();
    assert_eq!(upstream.states()[0].calls, 1);
    assert_eq!(world.get(&upstream, "a"), Err("crowded"));
    drop(held);
    assert_eq!(world.get(&upstream, "a"), Ok((200, "a".into())));
    assert_eq!(upstream.states()[0].calls, 0);
}

#[test]
fn what_an_answer_says_to_people_is_kept_and_is_no_file() {
    let help = "HTTP/1.1 403 So\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nslow down\x1b[1";
    let there = StandIn::new([("/a", help.into())]);
    let world = World::new();
    let mut event = Event::job("test", Millis(1));
    let upstream = world.upstream(&[&there.url]);
    let mut answer = world.runtime.block_on(upstream.get("a", &Conditions::default(), &mut event)).unwrap();
    assert_eq!((answer.status(), answer.said()), (403, "slow down\u{fffd}[1"));
    assert!(world.runtime.block_on(answer.next(&mut event)).is_none());
    assert_eq!(upstream.states()[0].kept, 1);
}

#[test]
fn options_that_cannot_be_used_are_refused() {
    let world = World::new();
    for urls in [vec![], vec!["example"], vec!["http://a.test/?b"], vec!["http://me:hush@a.test/"]] {
        let urls = urls.iter().map(|url: &&str| (*url).to_owned()).collect();
        let options = UpstreamOptions { urls, ..UpstreamOptions::default() };
        let error = Upstream::new(options, world.hosts.clone()).unwrap_err();
        assert_eq!(error.label(), "not_a_url");
        assert!(!error.to_string().contains("hush"));
    }
}
