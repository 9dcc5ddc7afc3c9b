//! Versions of a page, the tolerance for older ones, and the application's locks.

use super::shop::{Shop, from_page, outcome};
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// A shop whose page `/shoes` is of the version `deploy 1` and as old as this, while the application has `deploy 2`.
fn of_an_earlier_version(tolerance_s: u64, age_s: u64) -> Shop {
    let shop = Shop::response_bank(&format!("tolerance_s = {tolerance_s}"));
    shop.rails.set(json!({ "version": { "deploy": 1 }, "at": now() - age_s }));
    shop.written("/shoes");
    shop.rails.set(json!({ "version": { "deploy": 2 }, "at": null, "text": "second" }));
    shop
}

#[test]
fn without_a_tolerance_the_application_is_asked_for_each_page_with_version_data() {
    let shop = of_an_earlier_version(0, 0);
    let told = shop.get("/shoes").expect(200);
    assert_eq!(told.header("x-cache"), Some("miss"));
    let again = shop.get("/shoes").expect(200);
    assert_eq!((again.header("x-cache"), &again.body), (Some("hit, server"), &told.body));
    assert_eq!(outcome(&shop.front, "old"), 2);
}

#[test]
fn within_the_tolerance_an_older_version_is_served_and_after_it_the_application_is_asked() {
    let shop = of_an_earlier_version(300, 200);
    let (key, _) = shop.key("/shoes");
    let (_, written) = shop.memcached.get(&key).unwrap();
    for _ in 0..2 {
        from_page(shop.get("/shoes").expect(200), "page-tolerated");
    }
    assert_eq!(shop.asked(), 1, "the application was asked");
    // The same entry, as old as 400 seconds.
    let (from, to) = (u32::try_from(now() - 200).unwrap(), u32::try_from(now() - 400).unwrap());
    let at = |back: u32| [&[0xce], &(from - back).to_be_bytes()[..]].concat();
    let older = (0..10).find_map(|back| replaced(&written, &at(back), &[&[0xce], &to.to_be_bytes()[..]].concat()));
    shop.memcached.set(&key, 0, &older.expect("no timestamp in the entry"));
    assert_eq!(shop.get("/shoes").expect(200).header("x-cache"), Some("miss"));
    assert_eq!((outcome(&shop.front, "hit_tolerated"), outcome(&shop.front, "old")), (2, 1));
    // The application has written the page again, and its version is not known to the front either.
    from_page(shop.get("/shoes").expect(200), "page-tolerated");
}

/// The bytes with the only occurrence of `from` replaced.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    let at = bytes.windows(from.len()).position(|window| window == from)?;
    Some([&bytes[..at], to, &bytes[at + from.len()..]].concat())
}

#[test]
fn a_page_of_the_present_version_is_served_at_any_age() {
    let mut shop = Shop::response_bank("");
    shop.rails.set(json!({ "at": now() - 10_000_000 }));
    let written = shop.written("/shoes");
    shop.rails.stop();
    assert_eq!(from_page(shop.get("/shoes").expect(200), "page").body, written.body);
}

#[test]
fn locks_are_neither_taken_nor_released_and_nothing_is_written() {
    let shop = of_an_earlier_version(300, 100);
    let (_, tag) = shop.key("/shoes");
    let lock = format!("{tag}:lock");
    for held in [false, true] {
        if held {
            shop.memcached.set(&lock, 0, b"1");
        }
        let counted = || (shop.memcached.keys(), ["cmd_set", "cmd_touch"].map(|name| shop.memcached.counted(name)));
        let before = counted();
        from_page(shop.get("/shoes").expect(200), "page-tolerated");
        from_page(shop.get("/shoes").expect(200), "page-tolerated");
        assert_eq!(counted(), before);
        assert_eq!(shop.memcached.get(&lock).is_some(), held);
    }
}

#[test]
fn a_missing_page_is_asked_for_once_and_its_empty_place_stays_empty() {
    let shop = Shop::response_bank("");
    let (key, _) = shop.key("/broken");
    shop.get("/broken").expect(500);
    shop.get("/broken").expect(500);
    // A page with an error is not stored, and no reader has left anything in its place.
    assert_eq!(shop.memcached.get(&key), None);
    assert_eq!((outcome(&shop.front, "miss"), shop.asked()), (2, 2));
}

#[test]
fn both_entries_of_cacheable_are_read_the_present_one_and_within_the_tolerance_the_last() {
    let pages = "format = \"cacheable\"\ntolerance_s = 300";
    let shop = Shop::start(json!({ "form": 0 }), pages);
    let first = shop.written("/shoes");
    assert_eq!(from_page(shop.get("/shoes").expect(200), "page").body, first.body);
    // Only the entry of the version is left, then only the other one.
    let (key, tag) = shop.key("/shoes");
    let (_, entry) = shop.memcached.get(&key).unwrap();
    shop.memcached.flush();
    shop.memcached.set(&tag, 0, &entry);
    assert_eq!(from_page(shop.get("/shoes").expect(200), "page").body, first.body);
    shop.memcached.flush();
    shop.memcached.set(&key, 0, &entry);
    assert_eq!(from_page(shop.get("/shoes").expect(200), "page-tolerated").body, first.body);
    assert_eq!(shop.asked(), 1, "the application was asked");
}
