//! Pages of response_bank and cacheable: which of them are sent, and how.

use crate::origin::{Origin, ok};
use crate::responses::pattern;
use crate::running_apps::RunningApps;
use crate::stores::{Memcached, NOW_S, bank_entry, bank_key, bank_page, gzip, later, page, rest, running, writing};
use apps::{PageFormat, PagesOptions};
use flate2::read::GzDecoder;
use format::page::coding::Coding;
use format::page::key::KeyRule;
use std::time::Duration;
use telemetry::{Layer, Op, Outcome};

pub(crate) const GZIP: &str = "Accept-Encoding: gzip\r\n";

/// Applications that write pages of response_bank into `store`. The application itself tells the path that it was asked for.
pub(crate) fn bank(store: &Memcached, change: impl FnOnce(&mut PagesOptions)) -> (Origin, RunningApps) {
    let origin = Origin::replying(|request| ok(&format!("app {}", request.path())));
    let mut options = writing(&origin, PageFormat::ResponseBank, &[store.url()]);
    change(options.pages.as_mut().unwrap());
    let apps = running(options);
    (origin, apps)
}

pub(crate) fn get(apps: &RunningApps, target: &str, lines: &str) -> crate::client::Answer {
    apps.client().ask(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n{lines}\r\n"))
}

#[test]
fn a_present_page_is_sent_byte_for_byte_without_the_application() {
    let store = Memcached::start();
    let (key, entry) = bank_page("/x?a=%2f", "the page");
    store.set(&key, &entry);
    let (origin, apps) = bank(&store, |_| {});
    for _ in 0..2 {
        let answer = get(&apps, "/x?a=%2f", GZIP);
        assert_eq!((answer.status, answer.body.as_slice()), (200, &*gzip(b"the page")));
        let tag = format!("\"{}\"", bank_key(KeyRule::Typed, "/x?a=%2f", Coding::Gzip).1);
        for (name, value) in [
            ("content-type", Some("text/html")),
            ("content-encoding", Some("gzip")),
            ("etag", Some(&*tag)),
            ("vary", Some("Accept-Encoding")),
            ("cache-status", Some("daylight; hit; detail=page")),
            ("age", None),
            ("accept-ranges", None),
        ] {
            assert_eq!(answer.header(name), value, "{}", answer.head);
        }
        assert!(answer.header("date").is_some() && answer.header("daylight-event").is_some(), "{}", answer.head);
        let event = apps.event();
        assert_eq!((event.layer, event.app_page(), event.status), (Layer::AppPages, "hit", 200));
        assert_eq!((event.outcome, event.tally(Op::AppPagesRead).count), (Some(Outcome::Answered), 1));
    }
    assert_eq!(origin.received().len(), 0);
    let view = apps.apps.view()[0].pages.clone().unwrap();
    assert_eq!((view.format, &view.requests[..]), ("response_bank", &[("hit", 2)][..]));
    assert!(view.bytes > 0 && view.max_bytes == 32 << 20, "{view:?}");
}

#[test]
fn a_page_that_is_kept_is_only_confirmed_and_read_again_when_it_has_changed() {
    let store = Memcached::start();
    let (key, tag) = bank_key(KeyRule::Typed, "/", Coding::Gzip);
    let tag = format!("\"{tag}\"");
    let headers = [("ETag", &*tag), ("Content-Encoding", "gzip")];
    let entry = bank_entry(200, &headers, &pattern(100_000), NOW_S);
    store.set(&key, &entry);
    let (_origin, apps) = bank(&store, |_| {});
    let mut client = apps.client();
    let mut ask = || client.ask("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n").body;
    let first = ask();
    let before = store.sent();
    assert_eq!(ask(), first);
    let sent = store.sent() - before;
    assert!(sent < entry.len() as u64, "{sent} bytes for a confirmation");
    store.set(&key, &bank_page("/", "new").1);
    assert_eq!(ask(), gzip(b"new"));
    assert_eq!([page(&apps), page(&apps), page(&apps)], ["hit"; 3]);
    store.delete(&key);
    assert_eq!((ask(), page(&apps)), (b"app /".to_vec(), "miss"));
}

#[test]
fn a_client_gets_a_coding_that_it_accepts_and_the_application_answers_where_there_is_none() {
    let store = Memcached::start();
    for coding in [Coding::Gzip, Coding::Brotli] {
        // Its library stores gzip under the key of Brotli where it has no Brotli. The coding of the entry counts.
        let (key, tag) = bank_key(KeyRule::Typed, "/", coding);
        let tag = format!("\"{tag}\"");
        let headers = [("ETag", &*tag), ("Content-Encoding", "gzip")];
        store.set(&key, &bank_entry(200, &headers, &gzip(b"the page"), NOW_S));
    }
    let (origin, apps) = bank(&store, |_| {});
    for (accepted, coded) in [
        ("gzip", true),
        ("br, gzip", true),
        ("gzip;q=0.1, identity", true),
        ("*", true),
        ("", false),
        ("gzip;q=0", false),
        ("br, gzip;q=0.0", false),
        ("identity", false),
    ] {
        let lines = format!("Accept-Encoding: {accepted}\r\n");
        let answer = get(&apps, "/", &lines);
        assert_eq!(answer.header("content-encoding"), coded.then_some("gzip"), "{accepted}");
        assert_eq!(answer.header("vary"), Some("Accept-Encoding"), "{accepted}");
        let body = if coded { rest(GzDecoder::new(&answer.body[..])) } else { answer.body };
        assert_eq!(body, b"the page", "{accepted}");
        assert_eq!(page(&apps), "hit");
    }
    assert_eq!(get(&apps, "/", "").body, b"the page", "without the header");
    assert_eq!(page(&apps), "hit");
    assert_eq!(origin.received().len(), 0);
    for refused in ["identity;q=0", "gzip;q=0, *;q=0", "br, gzip;q=0, identity;q=0"] {
        let answer = get(&apps, "/", &format!("Accept-Encoding: {refused}\r\n"));
        assert_eq!((answer.text(), page(&apps)), ("app /", ""), "{refused}");
    }
}

#[test]
fn a_body_is_decoded_once() {
    let store = Memcached::start();
    let (key, tag) = bank_key(KeyRule::Typed, "/", Coding::Brotli);
    let tag = format!("\"{tag}\"");
    let headers = [("ETag", &*tag), ("Content-Encoding", "gzip")];
    store.set(&key, &bank_entry(200, &headers, &gzip(b"the page"), NOW_S));
    let (_origin, apps) = bank(&store, |_| {});
    let made: Vec<u32> = (0..3)
        .map(|_| {
            assert_eq!(get(&apps, "/", "").body, b"the page");
            apps.event().tally(Op::AppPagesMake).count
        })
        .collect();
    assert_eq!(made, [2, 0, 0], "read and decoded, then neither");
}

#[test]
fn conditions_and_head_are_answered_with_the_page_and_ranges_are_ignored() {
    let store = Memcached::start();
    let (key, entry) = bank_page("/", "the page");
    store.set(&key, &entry);
    let (origin, apps) = bank(&store, |_| {});
    let tag = bank_key(KeyRule::Typed, "/", Coding::Gzip).1;
    for (condition, status) in [
        (format!("If-None-Match: {tag}"), 304),
        (format!("If-None-Match: \"{tag}\""), 304),
        (format!("If-None-Match: W/\"{tag}\""), 304),
        (format!("If-None-Match: \"x\", \"{tag}\""), 304),
        ("If-None-Match: *".to_owned(), 304),
        ("If-None-Match: \"x\"".to_owned(), 200),
        (format!("If-None-Match: {}", &tag[..tag.len() - 1]), 200),
        ("If-Match: \"x\"".to_owned(), 412),
        (format!("If-Match: \"{tag}\""), 200),
        ("Range: bytes=0-1".to_owned(), 200),
        ("If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT".to_owned(), 200),
    ] {
        let answer = get(&apps, "/", &format!("{GZIP}{condition}\r\n"));
        assert_eq!(answer.status, status, "{condition}");
        let body = if status == 200 { gzip(b"the page") } else { Vec::new() };
        assert_eq!(answer.body, body, "{condition}");
        assert_eq!(answer.header("cache-status"), Some("daylight; hit; detail=page"));
    }
    let mut client = apps.client();
    client.send("HEAD / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
    let head = client.head();
    let length = gzip(b"the page").len().to_string();
    assert_eq!((head.status, head.header("content-length")), (200, Some(&*length)));
    let answer = client.ask("GET http://A:80/ HTTP/1.1\r\nHost: b\r\nAccept-Encoding: gzip\r\n\r\n");
    assert_eq!(answer.body, gzip(b"the page"), "an absolute URL");
    let mut client = apps.client();
    client.send("GET / HTTP/1.0\r\n\r\n");
    let old = client.rest();
    assert!(old.starts_with(b"HTTP/1.") && !old.is_empty());
    assert_eq!(origin.received().len(), 1, "HTTP/1.0 without gzip has a key of its own");
}

#[test]
fn a_request_that_may_be_for_one_user_and_a_change_reach_the_application() {
    let store = Memcached::start();
    for target in ["/", "/?cache=false", "/?a&fill_cache=true"] {
        let (key, entry) = bank_page(target, "the page");
        store.set(&key, &entry);
    }
    let (origin, apps) = bank(&store, |pages| pages.bypass_cookies = vec!["_session".to_owned()]);
    let requests = [
        "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Basic eDp5\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nCookie: a=b; _session=1\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nCache-Control: no-cache\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nPragma: no-cache\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX-HTTP-Method-Override: DELETE\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n",
        "GET /?cache=false HTTP/1.1\r\nHost: a\r\n",
        "GET /?a&fill_cache=true HTTP/1.1\r\nHost: a\r\n",
    ];
    for (n, request) in requests.iter().enumerate() {
        let body = if request.contains("Length") { "x" } else { "" };
        let answer = apps.client().ask(&format!("{request}{GZIP}\r\n{body}"));
        assert!(answer.text().starts_with("app /"), "{request}");
        let event = apps.event();
        assert_eq!((event.app_page(), event.layer, origin.received().len()), ("", Layer::App, n + 1), "{request}");
    }
    let lines = format!("{GZIP}Cookie: a=_session; _sessions=2\r\nCache-Control: max-age=0\r\n");
    assert_eq!(get(&apps, "/", &lines).body, gzip(b"the page"));
}

#[test]
fn a_page_of_another_version_is_sent_within_the_tolerance_only() {
    let store = Memcached::start();
    let (key, _) = bank_key(KeyRule::Typed, "/", Coding::Gzip);
    let headers = [("ETag", "\"cacheable:0123456789abcdef0123456789abcdef\""), ("Content-Encoding", "gzip")];
    store.set(&key, &bank_entry(200, &headers, &gzip(b"earlier"), NOW_S - 10));
    for (tolerance, outcome) in [(0, "old"), (9, "old"), (10, "hit_tolerated"), (3600, "hit_tolerated")] {
        let (_origin, apps) = bank(&store, |pages| pages.tolerance = Duration::from_secs(tolerance));
        for _ in 0..2 {
            let answer = get(&apps, "/", GZIP);
            let said = answer.header("cache-status").map(str::to_owned);
            let event = apps.event();
            assert_eq!(event.app_page(), outcome, "{tolerance}");
            if outcome == "old" {
                assert_eq!((answer.text(), event.layer), ("app /", Layer::App));
            } else {
                assert_eq!((answer.body, event.layer), (gzip(b"earlier"), Layer::AppPages));
                assert_eq!(said.as_deref(), Some("daylight; hit; detail=page-tolerated"));
            }
        }
        later(&apps, 4000);
        assert_eq!((get(&apps, "/", GZIP).text(), page(&apps)), ("app /", "old"), "{tolerance}");
    }
}

#[test]
fn the_first_key_that_has_an_entry_counts_also_after_another_one_was_kept() {
    let store = Memcached::start();
    let write = |rule, body: &[u8]| {
        let (key, tag) = bank_key(rule, "/", Coding::Gzip);
        let tag = format!("\"{tag}\"");
        store.set(&key, &bank_entry(200, &[("ETag", &*tag), ("Content-Encoding", "gzip")], &gzip(body), NOW_S));
        key
    };
    let (_origin, apps) = bank(&store, |_| {});
    let body = || rest(GzDecoder::new(&get(&apps, "/", GZIP).body[..]));
    let old = write(KeyRule::Inspected33, b"ruby 3.3");
    assert_eq!([body(), body()], [b"ruby 3.3", b"ruby 3.3"]);
    let newer = write(KeyRule::Inspected34, b"ruby 3.4");
    assert_eq!([body(), body()], [b"ruby 3.4", b"ruby 3.4"]);
    store.delete(&newer);
    assert_eq!(body(), b"ruby 3.3");
    let newest = write(KeyRule::Typed, b"schema 2");
    assert_eq!(body(), b"schema 2");
    store.delete(&newest);
    store.delete(&old);
    assert_eq!(get(&apps, "/", GZIP).text(), "app /");
}

#[test]
fn the_namespace_of_the_store_is_in_the_key() {
    let store = Memcached::start();
    let (key, entry) = bank_page("/", "the page");
    store.set(&format!("shop:{key}"), &entry);
    let (_origin, apps) = bank(&store, |_| {});
    assert_eq!(get(&apps, "/", GZIP).text(), "app /");
    let (_origin, apps) = bank(&store, |pages| pages.namespace = "shop".to_owned());
    assert_eq!(get(&apps, "/", GZIP).body, gzip(b"the page"));
}

#[test]
fn cacheable_has_the_present_version_under_its_own_key_and_the_last_one_under_another() {
    let store = Memcached::start();
    let (key, tag) = bank_key(KeyRule::Bare, "/", Coding::Identity);
    // `[status, type, body, time]`
    let entry = |body: &[u8]| {
        let mut all = vec![0x94, 0xcc, 0xc8, 0xa9];
        all.extend(b"text/html");
        let body = gzip(body);
        all.extend([0xc4, u8::try_from(body.len()).unwrap()]);
        all.extend(body);
        all.push(0xce);
        all.extend(u32::try_from(NOW_S - 10).unwrap().to_be_bytes());
        all
    };
    store.set(&key, &entry(b"last"));
    let origin = Origin::replying(|request| ok(request.path()));
    let mut options = writing(&origin, PageFormat::Cacheable, &[store.url()]);
    options.pages.as_mut().unwrap().tolerance = Duration::from_secs(60);
    let apps = running(options);
    let answer = get(&apps, "/", "");
    assert_eq!((answer.body.as_slice(), answer.header("etag")), (&b"last"[..], None));
    assert_eq!(page(&apps), "hit_tolerated");
    store.set(&tag, &entry(b"present"));
    let answer = get(&apps, "/", "");
    assert_eq!((answer.body.as_slice(), answer.header("etag")), (&b"present"[..], Some(&*tag)));
    assert_eq!(page(&apps), "hit");
    later(&apps, 60);
    assert_eq!((get(&apps, "/", "").body.as_slice(), page(&apps)), (&b"present"[..], "hit"));
    store.delete(&tag);
    assert_eq!((get(&apps, "/", "").text(), page(&apps)), ("/", "old"));
}

#[test]
fn entries_that_are_not_understood_go_to_the_application_and_are_counted() {
    let store = Memcached::start();
    let (key, tag) = bank_key(KeyRule::Typed, "/", Coding::Gzip);
    let tag = format!("\"{tag}\"");
    let headers = [("ETag", &*tag), ("Content-Encoding", "gzip")];
    let good = bank_entry(200, &headers, &gzip(b"x"), NOW_S);
    let (origin, apps) = bank(&store, |pages| pages.value_bytes = 10_000);
    for (value, flags, outcome) in [
        (&b""[..], 0, "damaged"),
        (&b"garbage"[..], 0, "unknown"),
        (&good, 1, "unknown"),
        (&bank_entry(500, &headers, &gzip(b"x"), NOW_S), 0, "status"),
        (&bank_entry(304, &headers, &gzip(b"x"), NOW_S), 0, "status"),
        (&bank_entry(200, &headers, &vec![b'x'; 20_000], NOW_S), 0, "too_large"),
    ] {
        store.set_with(&key, value, flags);
        for _ in 0..2 {
            assert_eq!(
                (get(&apps, "/", GZIP).text(), page(&apps)),
                ("app /", outcome),
                "{:?}",
                &value[..value.len().min(9)]
            );
        }
    }
    // Only a client that needs it decoded finds out.
    let (key, tag) = bank_key(KeyRule::Typed, "/", Coding::Brotli);
    let tag = format!("\"{tag}\"");
    let headers = [("ETag", &*tag), ("Content-Encoding", "gzip")];
    for (body, outcome) in [(b"no gzip".to_vec(), "damaged"), (gzip(&[b'x'; 20_000]), "too_large")] {
        store.set(&key, &bank_entry(200, &headers, &body, NOW_S));
        assert_eq!((get(&apps, "/", "").text(), page(&apps)), ("app /", outcome));
    }
    let received = origin.received().len();
    let view = apps.apps.view()[0].pages.clone().unwrap();
    assert_eq!(view.requests, [("unknown", 4), ("damaged", 3), ("too_large", 3), ("status", 4)]);
    assert_eq!(received, 14);
}

#[test]
fn a_moved_and_a_missing_page_keep_their_status() {
    let store = Memcached::start();
    let (_origin, apps) = bank(&store, |_| {});
    for (target, status, headers) in [("/gone", 404, &[][..]), ("/moved", 301, &[("Location", "/new")])] {
        let (key, tag) = bank_key(KeyRule::Typed, target, Coding::Gzip);
        let tag = format!("\"{tag}\"");
        let headers = [headers, &[("ETag", &*tag)]].concat();
        store.set(&key, &bank_entry(status, &headers, b"", NOW_S));
        let answer = get(&apps, target, &format!("{GZIP}If-None-Match: {tag}\r\n"));
        assert_eq!((answer.status, answer.body.len()), (status, 0));
        assert_eq!(answer.header("location"), (status == 301).then_some("/new"));
        assert_eq!(answer.header("vary"), None, "{}", answer.head);
        let outcome = if status == 404 { Outcome::NotFound } else { Outcome::Redirected };
        assert_eq!(apps.event().outcome, Some(outcome));
    }
}
