//! The cache as a whole: plain hits, and purges by URL.

use super::stored::tests::{NOW, headers, stored};
use super::*;
use front::HeaderLine;
use http::Method;
use std::time::Duration;
use telemetry::Clock;

fn cache() -> Cache {
    Cache::new(&AppOptions::of("shop"), &Recorder::silent(Clock::default()))
}

fn put(
    cache: &Cache,
    url: (bool, &str, &str),
    request: &[(&'static str, &str)],
    response: &[(&'static str, &str)],
    body: &str,
) {
    let (key, request) = (KeyRef::new(url.0, url.1, url.2).unwrap(), headers(request));
    let stored = stored(&cache.purges, &key, &request, &headers(response), body).unwrap();
    assert!(cache.put(&key, &request, Arc::new(stored)));
}

fn get(cache: &Cache, target: &str, lines: &[(&'static str, &str)], after: u64) -> Option<String> {
    let request = headers(lines);
    let lines: Vec<_> =
        request.iter().map(|(name, value)| HeaderLine { name: name.as_str(), value: value.as_bytes() }).collect();
    let head = PlainHead { method: &Method::GET, target, tls: false, lines: &lines };
    let reply = cache.plain(&head, "Shop:80", NOW.plus(Duration::from_secs(after)), Subject::default)?;
    Some(String::from_utf8(reply.body.to_vec()).unwrap())
}

const FRESH: (&str, &str) = ("cache-control", "max-age=60, stale-while-revalidate=60");

#[test]
fn a_plain_request_gets_a_fresh_response_and_nothing_else() {
    let cache = cache();
    assert_eq!(get(&cache, "/", &[], 0), None);
    put(&cache, (false, "shop", "/"), &[], &[FRESH], "body");
    put(&cache, (false, "shop", "/v"), &[("x", "1")], &[FRESH, ("vary", "x")], "one");
    assert_eq!(get(&cache, "/", &[("pragma", "foo"), ("cookie", "a=b")], 59).unwrap(), "body");
    assert_eq!(get(&cache, "/v", &[("x", "1")], 0).unwrap(), "one");
    for (target, lines, after) in [
        ("/", &[][..], 60),
        ("/", &[("cache-control", "no-cache")], 0),
        ("/", &[("cache-control", "no-store")], 0),
        ("/", &[("cache-control", "max-age=5")], 6),
        ("/", &[("pragma", "no-cache")], 0),
        ("/", &[("x-http-method-override", "PUT")], 0),
        ("/?", &[], 0),
        ("/v", &[("x", "2")], 0),
        ("/v", &[], 0),
    ] {
        assert_eq!(get(&cache, target, lines, after), None, "{target} {lines:?} {after}");
    }
    assert_eq!(cache.view().hits, 2);
}

#[test]
fn a_purge_by_url_is_of_its_host_and_one_by_path_of_all_hosts() {
    let cache = cache();
    let fill = || {
        for (tls, host) in [(false, "shop"), (true, "shop"), (false, "other")] {
            for target in ["/a?b", "/c"] {
                put(&cache, (tls, host, target), &[], &[FRESH, ("cache-tag", "t")], "body");
            }
        }
    };
    let purge = |url: &str| cache.purge(&[url.to_owned()], &[]);
    fill();
    assert_eq!(purge("https://SHOP:443/a?b#c"), 2);
    assert_eq!((get(&cache, "/a?b", &[], 0), get(&cache, "/c", &[], 0).as_deref()), (None, Some("body")));
    assert_eq!(purge("/c"), 3);
    assert_eq!((purge("/c"), purge("nothing"), purge("/a")), (0, 0, 0));
    fill();
    assert_eq!(cache.purge(&["http://other/c".to_owned()], &["t".to_owned()]), 6);
    assert_eq!(cache.view().responses, 0);
}

#[test]
fn a_change_outdates_its_url_and_the_urls_in_its_answer() {
    let cache = cache();
    for target in ["/a", "/b", "/c"] {
        put(&cache, (false, "shop", target), &[], &[FRESH], "body");
    }
    let began = cache.begin();
    cache.outdate(&KeyRef::new(true, "shop", "/a").unwrap(), &headers(&[("location", "http://shop/b")]));
    assert_eq!(["/a", "/b", "/c"].map(|target| get(&cache, target, &[], 0).is_some()), [false, false, true]);
    // A response that was on its way shows the state before the change.
    let (key, none) = (KeyRef::new(false, "shop", "/a").unwrap(), HeaderMap::new());
    let storable = cache.judge(
        "/a",
        &Asked::default(),
        &none,
        StatusCode::OK,
        &headers(&[FRESH]),
        Exchanged { asked: NOW, answered: NOW },
    );
    let late = cache.response(&key, began, StatusCode::OK, &headers(&[FRESH]), Bytes::new(), storable.unwrap());
    assert!(!cache.put(&key, &none, late));
}

#[test]
fn a_cache_without_bytes_stores_nothing() {
    let options = AppOptions { cache_bytes: 0, ..AppOptions::of("shop") };
    let cache = Cache::new(&options, &Recorder::silent(Clock::default()));
    assert!(!cache.is_on() && cache.purge(&["/".to_owned()], &[]) == 0);
    assert_eq!(get(&cache, "/", &[], 0), None);
}
