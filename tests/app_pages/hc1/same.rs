//! The writers for Rack and for WSGI write the same entries, which the reader takes.

use super::writers::{Application, HOST, KINDS, Kind, entry, front, lasting, timed, written};
use crate::world::Memcached;
use bytes::Bytes;
use format::page::coding::Coding;
use format::page::hc1::{self, Entry};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A page with all parts, one that is compressed, one with its own coding, one with variants, and ones whose URLs are unusual.
fn pages() -> Value {
    let mut full = lasting([600, 60, 86_400], "<h1>Lamps</h1>\n");
    full["headers"]["ETag"] = "W/\"a\"".into();
    full["headers"]["Link"] = "</a.css>; rel=preload".into();
    full["headers"]["Surrogate-Key"] = "lamps, lamp-7".into();
    full["headers"]["Vary"] = "Accept-Encoding".into();
    let mut varies = lasting([60, 0, 0], "");
    varies["headers"]["Vary"] = "X-Shop, accept-language,Accept-Encoding".into();
    varies["bodies"] = json!({"": "?", "de": "Lampen", "en": "lamps"});
    let mut forever = lasting([4_000_000, 0, 0], "for long");
    forever["headers"]["Content-Length"] = "8".into();
    json!({
        "/full": full, "/long": lasting([60, 5, 0], &"<p>lamp</p>\n".repeat(1000)), "/varies": varies, "/forever": forever,
        // Rack has the sent path, WSGI decodes it.
        "/a%20b/%C3%BC": lasting([60, 0, 0], "spaces"),
        "/a b/ü": lasting([60, 0, 0], "spaces"),
    })
}

/// What a test sees of an entry: numbers without the moment, headers, tags, names of counters, and the decoded body.
type Seen = (u16, [u32; 3], Vec<(String, Bytes)>, Coding, Vec<Bytes>, Vec<String>, Vec<u8>);

fn seen(memcached: &Memcached, key: &str) -> Seen {
    let read = timed(memcached, key);
    let mut headers: Vec<(String, Bytes)> =
        read.page.headers.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    headers.sort();
    let body = read.page.coding.decode(&read.page.body, 1 << 20).unwrap();
    let counters = read.counters.iter().map(|(name, _)| name.to_string()).collect();
    let lives = [read.fresh_s, read.stale_while_s, read.stale_error_s];
    (read.page.status, lives, headers, read.page.coding, read.tags, counters, body)
}

/// Has an application write its pages, and returns all that it wrote.
fn of(kind: Kind) -> BTreeMap<String, Option<Seen>> {
    let memcached = Memcached::start();
    let application = Application::start(kind, &memcached.authority(), "catalog", &pages());
    let front = front(application.url(), &memcached.url(), &[]);
    for target in ["/full", "/full?page=2&sort=%22a%22", "/long", "/forever", "/a%20b/%C3%BC"] {
        let told = written(&front, target, &[]);
        assert_eq!(told.header("surrogate-control"), None, "{kind:?} {:?}", told.headers);
    }
    for (language, shop) in [("de", "7"), ("en", ""), ("", "")] {
        written(&front, "/varies", &[("Accept-Language", language), ("X-Shop", shop)]);
    }
    let keys: Vec<String> = memcached.keys().into_iter().filter(|key| key != "hcg:catalog").collect();
    let found = |key: String| {
        let page = matches!(entry(&memcached, &key), Entry::Page(_));
        let seen = page.then(|| seen(&memcached, &key));
        (key, seen)
    };
    let all = keys.into_iter().map(found).collect();
    let (_, counter) = memcached.get("hcg:catalog").unwrap();
    assert_eq!(timed(&memcached, &hc1::key(HOST, "/full")).counters, [("catalog".into(), Bytes::from(counter))]);
    all
}

#[test]
fn writers_of_ruby_and_python_write_the_same_entries_under_the_keys_of_the_reader() {
    let [unicorn, puma, wsgi] = KINDS.map(of);
    let values = |language: &str, shop: &str| {
        let [language, shop] =
            [("accept-language", language), ("x-shop", shop)].map(|(n, v)| (n, v.as_bytes().to_vec()));
        hc1::variant_key(HOST, "/varies", &[language, shop])
    };
    let mut keys: Vec<String> = ["/full", "/full?page=2&sort=%22a%22", "/long", "/forever", "/a%20b/%C3%BC", "/varies"]
        .map(|target| hc1::key(HOST, target))
        .to_vec();
    keys.extend([values("de", "7"), values("en", ""), values("", "")]);
    keys.sort();
    assert_eq!(unicorn.keys().cloned().collect::<Vec<_>>(), keys);
    assert_eq!(unicorn, puma);
    assert_eq!(unicorn, wsgi);

    let (status, lives, headers, coding, tags, counters, body) = unicorn[&hc1::key(HOST, "/full")].clone().unwrap();
    let names: Vec<&str> = headers.iter().map(|(name, _)| &**name).collect();
    assert_eq!((status, lives, coding), (200, [600, 60, 86_400], Coding::Identity));
    assert_eq!(names, ["cache-control", "content-type", "etag", "link"]);
    assert_eq!((tags, counters), (vec![Bytes::from("lamps"), Bytes::from("lamp-7")], vec!["catalog".to_owned()]));
    assert_eq!(body, b"<h1>Lamps</h1>\n");
    let long = unicorn[&hc1::key(HOST, "/long")].clone().unwrap();
    assert_eq!((long.3, long.6.len()), (Coding::Gzip, 12_000));
    assert_eq!(unicorn[&values("de", "7")].clone().unwrap().6, b"Lampen");
    assert!(unicorn[&hc1::key(HOST, "/varies")].is_none(), "it names the headers");
}
