//! HC1 in Redis: entries that a test writes, counters, and the lock for one refill.

use super::super::shop::from_page;
use super::writers::{Application, HOST, Kind, front, get, get_at, lasting, older, written};
use crate::front::program::Front;
use crate::world::{Memcached, REDIS_PASSWORD, Redis, await_true};
use format::page::hc1;
use serde_json::json;
use std::thread;

fn set(redis: &Redis, key: &str, value: &[u8]) {
    assert_eq!(redis.ask(&[b"SET", key.as_bytes(), value, b"PX", b"600000"]).unwrap(), b"+OK");
}

#[test]
fn stale_pages_in_redis_are_refilled_by_the_front_that_takes_the_lock() {
    // The writer writes into memcached, and the test copies.
    let (memcached, redis) = (Memcached::start(), Redis::start(None));
    let page = |body: &str| json!({ "/lamps": lasting([600, 600, 0], body) });
    let application = Application::start(Kind::Puma, &memcached.authority(), "catalog", &page("old"));
    let written_by = front(application.url(), &memcached.url(), &[]);
    let start = || front(application.url(), &redis.url(), &[("PAGES_PASSWORD", REDIS_PASSWORD)]);
    let fronts: [Front; 2] = [start(), start()];
    let key = hc1::key(HOST, "/lamps");
    let copy = |by: u32| {
        let (_, value) = memcached.get(&key).unwrap();
        set(&redis, "hcg:catalog", &memcached.get("hcg:catalog").unwrap().1);
        set(&redis, &key, &older(&value, by));
    };
    written(&written_by, "/lamps", &[]);
    copy(0);
    for front in fronts.iter().chain(&fronts) {
        assert_eq!(from_page(get(front, "/lamps", &[]), "page").text(), "old");
    }
    copy(700);
    application.hold(true);
    thread::scope(|scope| {
        for client in 0..20 {
            let front = fronts[client % 2].address();
            scope.spawn(move || assert_eq!(from_page(get_at(front, "/lamps", &[]), "page-stale").text(), "old"));
        }
    });
    await_true("a refill", || application.refills() > 0);
    assert_eq!(redis.ask(&[b"GET", format!("{key}:l").as_bytes()]).unwrap(), b"1");
    let lasts = redis.ask(&[b"PTTL", format!("{key}:l").as_bytes()]).unwrap();
    let lasts: u32 = std::str::from_utf8(&lasts[1..]).unwrap().parse().unwrap();
    assert!(lasts <= 10_000, "{lasts} ms");
    assert_eq!(application.refills(), 1);
    application.hold(false);
    // A counter that changes makes the page invalid.
    copy(0);
    from_page(get(&fronts[0], "/lamps", &[]), "page");
    redis.ask(&[b"INCR", b"hcg:catalog"]).unwrap();
    let told = get(&fronts[0], "/lamps", &[]).expect(200);
    assert!(!told.header("cache-status").unwrap_or_default().contains("hit"), "{:?}", told.headers);
}
