//! Stored responses: when they answer, what they say, and what the application is asked.

use crate::origin::{Origin, Received, ok, with};
use crate::responses::pattern;
use crate::running_apps::{RunningApps, shop};
use apps::{AppOptions, Preset};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use telemetry::{Layer, MemberSaid, Millis, Outcome, Reason};

/// The options of an application that stores responses.
pub(crate) fn caching(origin: &Origin) -> AppOptions {
    AppOptions { cache_bytes: 64 << 20, ..shop(origin) }
}

const NOW: Millis = Millis(1_793_534_400_000);

/// An application that stores responses, with a clock that stands still.
pub(crate) fn cached(origin: &Origin) -> RunningApps {
    let apps = RunningApps::of(vec![caching(origin)]);
    apps.recorder.clock().set(Some(NOW));
    apps
}

pub(crate) fn later(apps: &RunningApps, seconds: u64) {
    apps.recorder.clock().set(Some(NOW.plus(Duration::from_secs(seconds))));
}

pub(crate) fn counting(reply: impl Fn(&Received, usize) -> String + Send + Sync + 'static) -> Origin {
    let count = AtomicUsize::new(0);
    Origin::replying(move |request| reply(request, count.fetch_add(1, SeqCst)))
}

pub(crate) const FRESH: &str = "cache-control: max-age=60\r\n";

#[test]
fn a_fresh_response_is_the_answer_with_its_age_and_the_application_is_not_asked() {
    let origin = counting(|request, n| {
        assert_eq!(request.header("host"), Some("a"));
        with(&format!("{FRESH}date: Sun, 01 Nov 2026 11:59:55 GMT\r\nx: {n}\r\ncache-tag: t\r\n"), "body")
    });
    let apps = cached(&origin);
    let mut client = apps.client();
    let first = client.get("/");
    assert_eq!((first.status, first.header("cache-status")), (200, Some("daylight; fwd=uri-miss; stored")));
    assert_eq!((first.header("age"), first.header("cache-tag")), (None, None));
    assert_eq!(apps.event().layer, Layer::App);
    later(&apps, 20);
    for (request, plain) in [
        ("GET / HTTP/1.1\r\nHost: A:80\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nHost: a\r\nCookie: b=c\r\nIf-None-Match: \"other\"\r\n\r\n", false),
    ] {
        let hit = client.ask(request);
        assert_eq!((hit.status, hit.text(), hit.header("x")), (200, "body", Some("0")));
        assert_eq!((hit.header("age"), hit.header("cache-status")), (Some("25"), Some("daylight; hit")));
        assert_eq!(hit.header("date"), Some("Sun, 01 Nov 2026 11:59:55 GMT"));
        let event = apps.event();
        assert_eq!((event.layer, event.outcome), (Layer::AppCache, Some(Outcome::Answered)), "{event:?}");
        assert_eq!((&*event.subject.repository, event.members.len(), event.more.is_none()), ("shop", 0, plain));
    }
    client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    let head = client.head();
    assert_eq!((head.status, head.header("content-length"), head.header("age")), (200, Some("4"), Some("25")));
    assert_eq!(client.get("/").text(), "body");
    assert_eq!(origin.received().len(), 1);
    let view = apps.apps.view()[0].cache.unwrap();
    assert_eq!((view.hits, view.lookups, view.responses), (4, 5, 1));
}

#[test]
fn conditions_and_ranges_are_answered_with_the_stored_response() {
    let origin = Origin::replying(|_| with(&format!("{FRESH}etag: \"e\"\r\n"), "0123456789"));
    let apps = cached(&origin);
    let mut client = apps.client();
    client.get("/");
    for (line, status, text) in [
        ("If-None-Match: \"x\", W/\"e\"", 304, ""),
        ("If-None-Match: \"x\"", 200, "0123456789"),
        ("Range: bytes=2-4", 206, "234"),
        ("Range: bytes=-1", 206, "9"),
        ("Range: bytes=20-", 416, ""),
        ("Range: bytes=2-4\r\nIf-Range: \"x\"", 200, "0123456789"),
    ] {
        let answer = client.ask(&format!("GET / HTTP/1.1\r\nHost: a\r\n{line}\r\n\r\n"));
        assert_eq!((answer.status, answer.text()), (status, text), "{line}");
        assert_eq!(answer.header("age"), Some("0"), "{line}");
    }
    assert_eq!(origin.received().len(), 1);
}

#[test]
fn a_part_that_is_not_stored_is_passed_on_and_not_stored() {
    let part = "HTTP/1.1 206 Partial Content\r\ncache-control: max-age=60\r\ncontent-range: bytes 2-4/10\r\ncontent-length: 3\r\n\r\n234";
    let origin = Origin::replying(move |request| match request.header("range") {
        Some("bytes=2-4") => part.to_owned(),
        range => panic!("{range:?}"),
    });
    let apps = cached(&origin);
    for _ in 0..2 {
        let answer = apps.client().ask("GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=2-4\r\n\r\n");
        assert_eq!((answer.status, answer.text()), (206, "234"));
        assert_eq!(answer.header("cache-status"), Some("daylight; fwd=partial; detail=status"));
    }
    assert_eq!(origin.received().len(), 2);
}

#[test]
fn a_stale_response_is_validated_and_takes_the_headers_of_the_304() {
    let origin = counting(|request, n| match request.header("if-none-match") {
        None => with(&format!("{FRESH}etag: \"e\"\r\nx: {n}\r\n"), "body"),
        Some("\"e\"") => format!("HTTP/1.1 304 Not Modified\r\netag: \"e\"\r\nx: {n}\r\nset-cookie: s={n}\r\n\r\n")
            .replace("set-cookie: s=1\r\n", ""),
        other => panic!("{other:?}"),
    });
    let apps = cached(&origin);
    let mut client = apps.client();
    client.get("/");
    later(&apps, 70);
    let validated = client.ask("GET / HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"mine\"\r\nRange: bytes=1-2\r\n\r\n");
    assert_eq!((validated.status, validated.text(), validated.header("x")), (206, "od", Some("1")));
    assert_eq!(validated.header("cache-status"), Some("daylight; fwd=stale; fwd-status=304; stored"));
    later(&apps, 100);
    let hit = client.get("/");
    assert_eq!((hit.text(), hit.header("x"), hit.header("age")), ("body", Some("1"), Some("30")));
    // A cookie in a 304 is for its client alone, and does not freshen the response.
    later(&apps, 200);
    for n in 2..4 {
        let own = client.get("/");
        assert_eq!((own.text(), own.header("set-cookie")), ("body", Some(format!("s={n}").as_str())));
    }
    assert_eq!(origin.received().len(), 4);
}

#[test]
fn a_304_about_another_response_is_not_believed() {
    let origin = counting(|request, n| match request.header("if-none-match") {
        None => with(&format!("{FRESH}etag: \"{n}\"\r\n"), &format!("body {n}")),
        Some(_) => "HTTP/1.1 304 Not Modified\r\netag: \"other\"\r\n\r\n".to_owned(),
    });
    let apps = cached(&origin);
    assert_eq!(apps.client().get("/").text(), "body 0");
    later(&apps, 70);
    assert_eq!(apps.client().get("/").text(), "body 2");
    assert_eq!(apps.client().get("/").header("cache-status"), Some("daylight; hit"));
}

#[test]
fn a_large_body_is_stored_when_it_has_come_whole_and_a_larger_one_is_passed_on() {
    let fits = 700 << 10;
    let origin = Origin::replying(move |request| {
        let length = if request.path() == "/large" { 3 << 20 } else { fits };
        let head = format!("HTTP/1.1 200 OK\r\n{FRESH}");
        let body = pattern(length);
        match request.path() {
            "/chunked" => {
                let size = format!("transfer-encoding: chunked\r\n\r\n{length:x}\r\n");
                [head.as_bytes(), size.as_bytes(), &body, b"\r\n0\r\n\r\n"].concat()
            }
            _ => [head.as_bytes(), format!("content-length: {length}\r\n\r\n").as_bytes(), &body].concat(),
        }
    });
    let apps = cached(&origin);
    for (n, path) in ["/sized", "/chunked"].into_iter().enumerate() {
        assert!(apps.client().get(path).body == pattern(fits));
        apps.until("it is stored", |view| view.cache.unwrap().responses == n as u64 + 1);
        for _ in 0..2 {
            let hit = apps.client().get(path);
            assert_eq!(hit.header("cache-status"), Some("daylight; hit"));
            assert!(hit.body == pattern(fits));
        }
    }
    assert!(apps.client().get("/large").body == pattern(3 << 20));
    let again = apps.client().get("/large");
    assert_eq!(again.header("cache-status"), Some("daylight; fwd=uri-miss; detail=size"));
    assert_eq!(origin.received().len(), 4);
}

#[test]
fn a_body_that_breaks_off_is_not_stored() {
    let count = AtomicUsize::new(0);
    let origin = Origin::new(move |connection| {
        while connection.request().is_some() {
            let head = format!("HTTP/1.1 200 OK\r\n{FRESH}content-length: 200000\r\n\r\n");
            let whole = count.fetch_add(1, SeqCst) > 0;
            connection.send([head.as_bytes(), &pattern(if whole { 200_000 } else { 150_000 })].concat());
            if !whole {
                return;
            }
        }
    });
    let apps = cached(&origin);
    let mut client = apps.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client.head();
    assert!(client.rest().len() <= 150_000);
    assert!(apps.client().get("/").body == pattern(200_000));
    assert_eq!(origin.received().len(), 2);
}

#[test]
fn a_stale_response_is_used_while_one_request_in_the_background_fetches_it_again() {
    let origin =
        counting(|_, n| with("cache-control: max-age=60, stale-while-revalidate=60\r\n", &format!("body {n}")));
    let apps = cached(&origin);
    assert_eq!(apps.client().get("/").text(), "body 0");
    later(&apps, 70);
    let stale = apps.client().get("/");
    assert_eq!((stale.text(), stale.header("cache-status")), ("body 0", Some("daylight; hit; ttl=-10")));
    let job = std::iter::repeat_with(|| apps.event()).find(|event| event.method == "app.refresh").unwrap();
    assert_eq!((job.outcome, &*job.path, &*job.subject.repository), (Some(Outcome::Done), "/", "shop"));
    assert_eq!(job.members[0].said, MemberSaid::Hit);
    let fresh = apps.client().get("/");
    assert_eq!((fresh.text(), fresh.header("age")), ("body 1", Some("0")));
    // After the window the application is asked.
    later(&apps, 70 + 121);
    assert_eq!(apps.client().get("/").text(), "body 2");
}

#[test]
fn a_stale_response_hides_an_application_that_fails_as_long_as_it_may() {
    let broken = Mutex::new(false);
    let origin = Origin::new(move |connection| {
        while let Some(request) = connection.request() {
            let mut broken = broken.lock().unwrap();
            let lines = match request.path() {
                "/if-error" => "cache-control: max-age=60, stale-if-error=600\r\n",
                "/must" => "cache-control: max-age=60, must-revalidate\r\n",
                _ => FRESH,
            };
            match request.header("x-trouble") {
                _ if !*broken => {
                    connection.send(with(lines, request.path()));
                    *broken = request.path() == "/break";
                }
                Some("503") => _ = connection.send("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"),
                _ => return,
            }
        }
    });
    let apps = cached(&origin);
    for path in ["/if-error", "/must", "/plain", "/break"] {
        assert_eq!(apps.client().get(path).status, 200);
    }
    for (after, path, trouble, status) in [
        (100, "/if-error", "503", 200),
        (300, "/if-error", "close", 200),
        (700, "/if-error", "503", 503),
        (100, "/plain", "503", 503),
        (100, "/plain", "close", 200),
        (4000, "/plain", "close", 502),
        (100, "/must", "close", 502),
    ] {
        later(&apps, after);
        let answer = apps.client().ask(&format!("GET {path} HTTP/1.1\r\nHost: a\r\nX-Trouble: {trouble}\r\n\r\n"));
        assert_eq!(answer.status, status, "{after} {path} {trouble}");
        let reason = if trouble == "503" { "upstream_failed" } else { "app_cut" };
        assert_eq!(answer.header("daylight-stale"), Some(reason).filter(|_| status == 200), "{after} {path} {trouble}");
    }
    let events: Vec<_> = (0..11).map(|_| apps.event()).filter(|event| event.layer == Layer::AppCache).collect();
    assert!(events.iter().all(|event| !event.members.is_empty() && event.status == 200), "{events:?}");
    assert!(events.iter().any(|event| event.reason == Some(Reason::UpstreamFailed)), "{events:?}");
}

#[test]
fn after_trouble_nobody_waits_for_the_application_until_it_answers_in_the_background() {
    let (opens, gate) = std::sync::mpsc::channel();
    let (gate, count) = (Mutex::new(gate), AtomicUsize::new(0));
    let origin = Origin::replying(move |request| match count.fetch_add(1, SeqCst) {
        1 => "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n".to_owned(),
        n => {
            if n == 2 {
                assert_eq!((request.header("if-none-match"), request.header("range")), (None, None));
                gate.lock().unwrap().recv().unwrap();
            }
            with("cache-control: max-age=60, stale-if-error=600\r\n", &format!("body {n}"))
        }
    });
    let apps = cached(&origin);
    apps.client().get("/");
    later(&apps, 70);
    for _ in 0..5 {
        let stale = apps.client().ask("GET / HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"x\"\r\nRange: bytes=0-3\r\n\r\n");
        assert_eq!(
            (stale.status, stale.text(), stale.header("daylight-stale")),
            (206, "body", Some("upstream_failed"))
        );
    }
    opens.send(()).unwrap();
    let job = std::iter::repeat_with(|| apps.event()).find(|event| event.method == "app.refresh").unwrap();
    assert_eq!(job.outcome, Some(Outcome::Done));
    assert_eq!((apps.client().get("/").text(), origin.received().len()), ("body 2", 3));
}

#[test]
fn only_if_cached_asks_nobody() {
    let origin = Origin::replying(|_| with(FRESH, "body"));
    let apps = cached(&origin);
    let only = "GET / HTTP/1.1\r\nHost: a\r\nCache-Control: only-if-cached\r\n\r\n";
    assert_eq!(apps.client().ask(only).status, 504);
    apps.client().get("/");
    assert_eq!(apps.client().ask(only).text(), "body");
    assert_eq!(origin.received().len(), 1);
}

#[test]
fn the_preset_of_rails_stores_assets_without_a_lifetime_and_changes_no_header() {
    let origin = Origin::replying(|_| ok("body"));
    let apps = RunningApps::of(vec![AppOptions { preset: Some(Preset::RailsAssets), ..caching(&origin) }]);
    for (path, hit) in [("/assets/x-0123abcd.js", true), ("/assets/x.js", false)] {
        apps.client().get(path);
        let second = apps.client().get(path);
        assert_eq!(
            (second.header("cache-status") == Some("daylight; hit"), second.header("cache-control")),
            (hit, None)
        );
    }
}

#[test]
fn a_response_that_came_whole_before_its_reply_is_stored_with_all_of_its_bytes_or_not_at_all() {
    let (long, short) = (pattern(70_000), b"short".to_vec());
    for (body, protocol, trailers) in
        [(&long, "1.0", ""), (&short, "1.0", "x-sum: 1\r\n"), (&short, "1.1", "x-sum: 1\r\n")]
    {
        let reply = [
            format!("HTTP/1.1 200 OK\r\n{FRESH}trailer: x-sum\r\ntransfer-encoding: chunked\r\n\r\n").into_bytes(),
            format!("{:x}\r\n", body.len()).into_bytes(),
            body.clone(),
            format!("\r\n0\r\n{trailers}\r\n").into_bytes(),
        ]
        .concat();
        let origin = Origin::replying(move |_| reply.clone());
        let apps = cached(&origin);
        let mut first = apps.client();
        first.send(format!("GET / HTTP/{protocol}\r\nHost: a\r\nConnection: close\r\n\r\n"));
        first.rest();
        for _ in 0..2 {
            let answer = apps.client().ask("GET / HTTP/1.1\r\nHost: a\r\nTE: gzip\r\n\r\n");
            assert!(answer.body == *body, "{protocol} {trailers}: {} bytes", answer.body.len());
        }
    }
}
