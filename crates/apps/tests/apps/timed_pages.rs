//! Pages of HC1: their times, their counters, the headers that select them, and how they are written again.

use crate::client::Answer;
use crate::origin::{Origin, Received, ok, with};
use crate::running_apps::RunningApps;
use crate::stores::{Memcached, NOW, NOW_S, Redis, event_of, gzip, hc1_entry, hc1_key, later, page, running, writing};
use apps::PageFormat;
use format::page::hc1;
use front::{ClientFrom, Limits, Proxies};
use telemetry::{Layer, Op, Outcome, Reason};

fn get(apps: &RunningApps, target: &str, lines: &str) -> Answer {
    apps.client().ask(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n{lines}\r\n"))
}

/// An application that writes pages into `store`, and answers so.
fn hc1(store: &Memcached, reply: impl Fn(&Received) -> String + Send + Sync + 'static) -> (Origin, RunningApps) {
    let origin = Origin::replying(reply);
    let apps = running(writing(&origin, PageFormat::Hc1, &[store.url()]));
    (origin, apps)
}

fn by_app(request: &Received) -> String {
    ok(&format!("app {}", request.path()))
}

#[test]
fn a_fresh_page_is_sent_with_its_age_and_date_for_its_host_only() {
    let store = Memcached::start();
    store.set(
        &hc1_key("/x?y"),
        &hc1_entry(200, [NOW_S, 60, 0, 0], "etag: \"e\"\r\ncontent-type: text/plain\r\n", b"the page"),
    );
    let (origin, apps) = hc1(&store, by_app);
    for seconds in [0, 59] {
        later(&apps, seconds);
        let answer = get(&apps, "/x?y", "");
        assert_eq!((answer.status, answer.text()), (200, "the page"));
        assert_eq!(answer.header("age"), Some(&*seconds.to_string()));
        assert_eq!(answer.header("date"), Some("Sun, 01 Nov 2026 12:00:00 GMT"));
        assert_eq!(answer.header("vary"), None);
        assert_eq!(answer.header("cache-status"), Some("daylight; hit; detail=page"));
        let event = apps.event();
        assert_eq!((event.layer, event.app_page(), event.tally(Op::AppPagesRead).count), (Layer::AppPages, "hit", 1));
    }
    assert_eq!(origin.received().len(), 0);
    let of_host =
        |host: &str| apps.client().ask(&format!("GET /x?y HTTP/1.1\r\nHost: {host}\r\n\r\n")).text().to_owned();
    assert_eq!(["A:80", "a:443", "b", "a:8080"].map(of_host), ["the page", "the page", "app /x?y", "app /x?y"]);
    later(&apps, 60);
    assert_eq!(get(&apps, "/x?y", "").text(), "app /x?y");
    let old = apps.apps.view()[0].pages.clone().unwrap().requests;
    assert_eq!(old, [("hit", 4), ("miss", 2), ("old", 1)]);
}

#[test]
fn a_client_that_lacks_the_coding_gets_the_page_decoded_under_a_weak_tag() {
    let store = Memcached::start();
    let lines = "etag: \"e\"\r\ncontent-encoding: gzip\r\n";
    store.set(&hc1_key("/"), &hc1_entry(200, [NOW_S, 60, 0, 0], lines, &gzip(b"the page")));
    let (_origin, apps) = hc1(&store, by_app);
    let coded = get(&apps, "/", "Accept-Encoding: gzip\r\n");
    assert_eq!((coded.body.as_slice(), coded.header("etag")), (&*gzip(b"the page"), Some("\"e\"")));
    let decoded = get(&apps, "/", "");
    assert_eq!((decoded.text(), decoded.header("etag")), ("the page", Some("W/\"e\"")));
    for answer in [coded, decoded] {
        assert_eq!(answer.header("vary"), Some("Accept-Encoding"));
    }
    assert_eq!(get(&apps, "/", "If-None-Match: \"e\"\r\n").status, 304);
}

#[test]
fn headers_of_the_request_select_the_page_and_are_in_vary() {
    let store = Memcached::start();
    let write_vary = |names: &str| {
        store.set(&hc1_key("/"), &hc1_entry(0, [NOW_S, 60, 0, 0], &format!("vary: {names}\r\n"), b""));
    };
    let write = |name: &str, value: &str, body: &str| {
        let key = hc1::variant_key("a", "/", &[(name, value.as_bytes().to_vec())]);
        store.set(&key, &hc1_entry(200, [NOW_S, 60, 0, 0], "", body.as_bytes()));
        key
    };
    write_vary("accept-language");
    write("accept-language", "de", "deutsch");
    let english = write("accept-language", "", "english");
    let (origin, apps) = hc1(&store, by_app);
    for round in 0..2 {
        for (lines, body) in [("Accept-Language: de\r\n", "deutsch"), ("", "english")] {
            let answer = get(&apps, "/", lines);
            assert_eq!((answer.text(), answer.header("vary")), (body, Some("accept-language")));
            let reads = apps.event().tally(Op::AppPagesRead).count;
            assert!(reads == 1 || round == 0, "{reads} round trips");
        }
    }
    assert_eq!((get(&apps, "/", "Accept-Language: fr\r\n").text(), page(&apps)), ("app /", "miss"));
    store.delete(&english);
    assert_eq!((get(&apps, "/", "").text(), page(&apps)), ("app /", "miss"));
    write_vary("x-kind");
    write("x-kind", "k", "kind");
    assert_eq!((get(&apps, "/", "X-Kind: k\r\nAccept-Language: de\r\n").text(), page(&apps)), ("kind", "hit"));
    store.set(&hc1_key("/"), &hc1_entry(200, [NOW_S, 60, 0, 0], "", b"all"));
    assert_eq!((get(&apps, "/", "X-Kind: k\r\n").text(), page(&apps)), ("all", "hit"));
    assert_eq!(origin.received().len(), 2);
}

#[test]
fn a_page_for_everybody_that_says_that_it_depends_on_a_header_is_not_sent() {
    let store = Memcached::start();
    let (_origin, apps) = hc1(&store, by_app);
    for (vary, outcome) in [("cookie", "unknown"), ("Accept-Encoding, Cookie", "unknown"), ("accept-encoding", "hit")] {
        store.set(&hc1_key("/"), &hc1_entry(200, [NOW_S, 60, 0, 0], &format!("vary: {vary}\r\n"), b"of one user"));
        get(&apps, "/", "");
        assert_eq!(page(&apps), outcome, "{vary}");
    }
}

#[test]
fn a_page_holds_while_its_counters_have_the_values_that_it_names() {
    let store = Memcached::start();
    store.set(&hc1_key("/"), &hc1_entry(200, [NOW_S, 60, 60, 60], "@while: shop=7 prices=2\r\n", b"the page"));
    let (_origin, apps) = hc1(&store, by_app);
    let sees = || {
        get(&apps, "/", "");
        let event = apps.event();
        (event.app_page(), event.tally(Op::AppPagesRead).count)
    };
    assert_eq!(sees(), ("miss", 2));
    store.set("hcg:shop", b"7");
    assert_eq!(sees(), ("miss", 1));
    store.set("hcg:prices", b"2");
    assert_eq!([sees(), sees()], [("hit", 1), ("hit", 1)]);
    store.set("hcg:prices", b"3");
    assert_eq!(sees(), ("old", 1));
    store.set(&hc1_key("/"), &hc1_entry(200, [NOW_S, 60, 60, 60], "@while: prices=3\r\n", b"the page"));
    assert_eq!([sees(), sees()], [("hit", 2), ("hit", 1)]);
    store.delete("hcg:prices");
    assert_eq!(sees(), ("miss", 1));
}

#[test]
fn a_stale_page_is_sent_while_one_request_of_nobody_has_it_written_again() {
    let store = Memcached::start();
    let writer = store.writer();
    let write = move |stored: i64, body: &str| {
        let lines = "content-encoding: gzip\r\n";
        writer(&hc1_key("/"), &hc1_entry(200, [stored, 60, 60, 0], lines, &gzip(body.as_bytes())), 120);
    };
    write(NOW_S, "old");
    let (origin, apps) = hc1(&store, move |request| {
        assert_eq!(request.header("daylight-refill"), Some("1"));
        write(NOW_S + 60, "new");
        with("set-cookie: a=b\r\n", "new")
    });
    later(&apps, 60);
    let lines = "Cookie: user=1\r\nIf-None-Match: \"x\"\r\nRange: bytes=0-1\r\nAccept-Encoding: identity\r\nX-Mine: 1\r\nDaylight-Refill: 0\r\n";
    let answer = get(&apps, "/", lines);
    assert_eq!((answer.text(), answer.header("age")), ("old", Some("60")));
    assert_eq!(answer.header("cache-status"), Some("daylight; hit; detail=page-stale"));
    let (mut event, mut job) = (apps.event(), apps.event());
    if event.method != "GET" {
        std::mem::swap(&mut event, &mut job);
    }
    assert_eq!((event.app_page(), event.app_cache(), event.layer), ("hit_stale", "hit", Layer::AppPages));
    assert_eq!((job.method, job.outcome, &*job.path), ("app.refill", Some(Outcome::Done), "/"));
    let [refill] = &origin.received()[..] else { panic!("{:?}", origin.received()) };
    assert_eq!(refill.line, "GET / HTTP/1.1");
    for (name, value) in [
        ("cookie", None),
        ("if-none-match", None),
        ("range", None),
        ("accept-encoding", Some("gzip")),
        ("x-mine", Some("1")),
    ] {
        assert_eq!(refill.header(name), value, "{name}");
    }
    let answer = get(&apps, "/", "");
    assert_eq!((answer.text(), answer.header("age"), page(&apps)), ("new", Some("0"), "hit"));
    assert_eq!(origin.received().len(), 1);
}

#[test]
fn of_two_servers_that_read_a_stale_page_one_has_it_written_again() {
    let store = Memcached::start();
    store.set_for(&hc1_key("/"), &hc1_entry(200, [NOW_S, 60, 60, 0], "", b"old"), 120);
    let (origin, apps) = hc1(&store, by_app);
    let (other_origin, other) = hc1(&store, by_app);
    for apps in [&apps, &other] {
        later(apps, 60);
        for _ in 0..3 {
            assert_eq!(get(apps, "/", "").text(), "old");
        }
    }
    // The application answered and wrote nothing: the first server does not try it again for a while.
    assert_eq!(event_of(&apps, "app.refill").outcome, Some(Outcome::Done));
    let before = origin.received().len();
    get(&other, "/", "");
    assert_eq!(other_origin.received().len(), 0);
    assert!(before >= 1, "{before}");
}

#[test]
fn a_page_that_was_marked_as_stale_is_written_again_at_once() {
    let store = Memcached::start();
    let key = hc1_key("/");
    store.set(&key, &hc1_entry(200, [NOW_S, 60, 60, 0], "", b"the page"));
    let (origin, apps) = hc1(&store, by_app);
    assert_eq!((get(&apps, "/", "").text(), page(&apps)), ("the page", "hit"));
    store.mark(&key, 30);
    get(&apps, "/", "");
    assert_eq!(event_of(&apps, "app.refill").outcome, Some(Outcome::Done));
    assert_eq!(origin.received().len(), 1);
    store.set(&key, &hc1_entry(200, [NOW_S, 60, 0, 0], "", b"without a time for that"));
    store.mark(&key, 30);
    assert_eq!(get(&apps, "/", "").text(), "app /");
}

#[test]
fn a_page_hides_an_application_that_fails_as_long_as_it_names() {
    let store = Memcached::start();
    store.set(&hc1_key("/"), &hc1_entry(200, [NOW_S, 60, 0, 60], "etag: \"e\"\r\n", b"the page"));
    let (origin, apps) = hc1(&store, |request| match request.header("x-status") {
        Some("cut") => String::new(),
        Some(status) => format!("HTTP/1.1 {status} No\r\ncontent-length: 2\r\n\r\nno"),
        None => ok("fine"),
    });
    later(&apps, 60);
    assert_eq!((get(&apps, "/", "").text(), page(&apps)), ("fine", "old"));
    for status in ["500", "502", "503", "504"] {
        let answer = get(&apps, "/", &format!("X-Status: {status}\r\n"));
        assert_eq!((answer.status, answer.text(), answer.header("age")), (200, "the page", Some("60")), "{status}");
        assert_eq!(answer.header("daylight-stale"), Some("upstream_failed"));
        assert_eq!(answer.header("cache-status"), Some("daylight; hit; detail=page-error"));
        let event = apps.event();
        assert_eq!((event.layer, event.app_page(), event.app_cache()), (Layer::AppPages, "hit_error", "hit"));
        assert_eq!((event.reason, event.outcome), (Some(Reason::UpstreamFailed), Some(Outcome::Answered)));
    }
    for (status, expected) in [("501", 501), ("404", 404)] {
        assert_eq!(get(&apps, "/", &format!("X-Status: {status}\r\n")).status, expected);
        assert_eq!(page(&apps), "old");
    }
    let received = origin.received().len();
    assert_eq!(received, 7);
    later(&apps, 120);
    assert_eq!((get(&apps, "/", "X-Status: 500\r\n").status, page(&apps)), (500, "old"));
    let view = apps.apps.view()[0].pages.clone().unwrap();
    assert_eq!(view.requests, [("hit_error", 4), ("old", 4)]);
}

#[test]
fn a_page_hides_an_application_that_cannot_be_reached() {
    let store = Memcached::start();
    store.set(&hc1_key("/"), &hc1_entry(200, [NOW_S, 60, 0, 60], "", b"the page"));
    let origin = Origin::new(|connection| {
        connection.request();
    });
    let apps = running(writing(&origin, PageFormat::Hc1, &[store.url()]));
    later(&apps, 60);
    let answer = get(&apps, "/", "");
    assert_eq!((answer.status, answer.text(), answer.header("daylight-stale")), (200, "the page", Some("app_cut")));
    assert_eq!(get(&apps, "/", "If-None-Match: *\r\n").status, 304);
}

#[test]
fn only_an_application_that_writes_pages_is_told_to_write_one_and_only_by_this_server() {
    let store = Memcached::start();
    let (origin, apps) = hc1(&store, by_app);
    get(&apps, "/", "Daylight-Refill: 1\r\nDaylight_Refill: 1\r\n");
    let received = origin.received();
    assert_eq!((received[0].header("daylight-refill"), received[0].header("daylight_refill")), (None, None));
}

#[test]
fn a_purge_of_a_url_is_one_for_its_host() {
    let store = Memcached::start();
    for host in ["a", "b"] {
        store.set(&hc1::key(host, "/x"), &hc1_entry(200, [NOW_S, 60, 0, 0], "@tags: t u\r\n", b"the page"));
    }
    let (_origin, apps) = hc1(&store, by_app);
    let sees = |host: &str| {
        apps.client().ask(&format!("GET /x HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        page(&apps)
    };
    let purge = |urls: &[&str], tags: &[&str]| {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        apps.apps.purge("shop", &owned(urls), &owned(tags))
    };
    assert_eq!(["a", "b"].map(sees), ["hit", "hit"]);
    assert_eq!(purge(&["http://a/x"], &[]), Some(1));
    assert_eq!(["a", "b"].map(sees), ["purged", "hit"]);
    assert_eq!(purge(&[], &["u"]), Some(2));
    assert_eq!(["a", "b"].map(sees), ["purged", "purged"]);
}

#[test]
fn a_stale_page_in_redis_is_written_again_by_the_server_that_has_its_lock() {
    let store = Redis::start();
    store.set(&hc1_key("/"), &hc1_entry(200, [NOW_S, 60, 60, 0], "", b"old"));
    let origin = Origin::replying(by_app);
    let apps = running(writing(&origin, PageFormat::Hc1, &[store.url()]));
    later(&apps, 60);
    assert_eq!(get(&apps, "/", "").text(), "old");
    assert_eq!(event_of(&apps, "app.refill").outcome, Some(Outcome::Done));
    assert!(store.has(&format!("{}:l", hc1_key("/"))));
    assert_eq!(get(&apps, "/", "").text(), "old");
    assert_eq!(page(&apps), "hit_stale");
    assert_eq!(origin.received().len(), 1, "the lock is held");
}

#[test]
fn the_host_of_a_key_is_the_one_that_a_trusted_proxy_names() {
    let store = Memcached::start();
    store.set(&hc1::key("shop", "/"), &hc1_entry(200, [NOW_S, 60, 0, 0], "", b"the page"));
    let origin = Origin::replying(by_app);
    let proxies = Proxies { trusted: vec!["127.0.0.1".parse().unwrap()], client_from: ClientFrom::XForwardedFor };
    let options = writing(&origin, PageFormat::Hc1, &[store.url()]);
    let apps = RunningApps::with(vec![options], proxies, Limits::default());
    apps.recorder.clock().set(Some(NOW));
    let forwarded = "X-Forwarded-For: 10.1.2.3\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: Shop:443\r\n";
    assert_eq!(get(&apps, "/", forwarded).text(), "the page");
    assert_eq!(get(&apps, "/", "").text(), "app /");
    let (_origin, apps) = hc1(&store, by_app);
    assert_eq!(get(&apps, "/", forwarded).text(), "app /", "a client that names another host itself");
}
