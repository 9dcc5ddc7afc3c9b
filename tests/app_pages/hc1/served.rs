//! Pages are sent without the application: bytes, codings, conditions, and entries that are not sent.

use super::super::shop::{await_outcome, from_page};
use super::writers::{Application, HOST, KINDS, Kind, front, get, lasting, plain, timed, written};
use crate::manual::page::root;
use crate::world::Memcached;
use format::page::hc1;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

fn pages() -> Value {
    let mut short = lasting([600, 0, 0], "<h1>Lamps</h1>\n");
    short["headers"]["ETag"] = "W/\"a\"".into();
    json!({ "/short": short, "/long": lasting([600, 0, 0], &"<p>lamp</p>\n".repeat(1000)) })
}

#[test]
fn the_application_is_stopped_and_its_pages_are_served() {
    for kind in KINDS {
        let memcached = Memcached::start();
        let mut application = Application::start(kind, &memcached.authority(), "catalog", &pages());
        let front = front(application.url(), &memcached.url(), &[]);
        let (short, long) = (written(&front, "/short", &[]), written(&front, "/long", &[]));
        application.stop();
        // Twice: from memcached, and from memory.
        for _ in 0..2 {
            let told = from_page(get(&front, "/short", &[]), "page").expect(200);
            assert_eq!((&told.body, told.header("etag")), (&short.body, Some("W/\"a\"")), "{kind:?}");
            assert!(told.header("age").is_some() && told.header("content-encoding").is_none(), "{:?}", told.headers);

            let told = from_page(get(&front, "/long", &[]), "page").expect(200);
            assert_eq!((told.header("content-encoding"), told.header("vary")), (Some("gzip"), Some("Accept-Encoding")));
            assert_eq!(told.body, timed(&memcached, &hc1::key(HOST, "/long")).page.body, "{kind:?}");
            let told = from_page(plain(&front, "/long"), "page").expect(200);
            assert_eq!((told.header("content-encoding"), told.header("vary")), (None, Some("Accept-Encoding")));
            assert_eq!(told.body, long.body, "{kind:?}");

            let told = from_page(front.ask("HEAD", "/long", &[("Host", HOST)], b""), "page").expect(200);
            assert_eq!((told.header("content-length"), told.body.len()), (Some("12000"), 0), "{kind:?}");
            let told = get(&front, "/short", &[("If-None-Match", "\"b\", \"a\"")]).expect(304);
            assert_eq!((told.header("etag"), told.body.len()), (Some("W/\"a\""), 0), "{kind:?}");
            let told = get(&front, "/short", &[("If-None-Match", "\"b\"")]).expect(200);
            assert_eq!(told.body, short.body, "{kind:?}");
        }
        // The same page under another spelling of its host, and no page of another one.
        let on = |host: &str| front.ask("GET", "/short", &[("Host", host)], b"").status;
        assert_eq!([on("SHOP.example:80"), on("shop.example:8080"), on("other.example")], [200, 502, 502]);
    }
}

#[test]
fn a_damaged_or_unknown_entry_is_counted_and_the_application_answers() {
    let memcached = Memcached::start();
    let application = Application::start(Kind::Unicorn, &memcached.authority(), "", &pages());
    let front = front(application.url(), &memcached.url(), &[]);
    let body = written(&front, "/short", &[]).body;
    let key = hc1::key(HOST, "/short");
    let (_, whole) = memcached.get(&key).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let later = [b"HC2", &whole[3..]].concat();
    for (outcome, value) in
        [("damaged", &flipped[..]), ("damaged", &whole[..whole.len() - 1]), ("unknown", &later), ("unknown", b"")]
    {
        memcached.set_for(&key, 600, value);
        assert_eq!(written(&front, "/short", &[]).body, body, "{outcome}");
        assert_eq!(from_page(get(&front, "/short", &[]), "page").body, body, "it was written again");
    }
    await_outcome(&front, "damaged", 2);
    await_outcome(&front, "unknown", 2);
}

#[test]
fn the_example_of_the_specification_is_sent_without_the_lines_for_the_cache() {
    let text = std::fs::read_to_string(root().join("docs/hc1.md")).unwrap();
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("    HC1 200 ")).take(7).collect();
    let head: String = lines[..5].iter().map(|line| format!("{}\r\n", line.trim())).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().to_string();
    let value = format!("{head}\r\n{}\n", lines[6].trim()).replace("HC1 200 1795885200", &format!("HC1 200 {now}"));
    let memcached = Memcached::start();
    memcached.set_for(&hc1::key(HOST, "/lamps?page=2"), 600, value.as_bytes());
    memcached.set_for("hcg:catalog", 600, b"1795885200123456");
    let front = front("http://127.0.0.1:9", &memcached.url(), &[]);
    let told = from_page(get(&front, "/lamps?page=2", &[]), "page").expect(200);
    assert_eq!(told.text(), "<h1>Lamps</h1>\n");
    let told = told.only(&["content-type", "cache-control", "@tags", "@while", "surrogate-key", "set-cookie"]);
    let wanted = [("cache-control", "no-cache"), ("content-type", "text/html; charset=utf-8")];
    assert_eq!(told.headers, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
}
