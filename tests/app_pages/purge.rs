//! Purges of pages that the application wrote: the front passes their requests on until the application has written them again.

use super::shop::{Shop, from_page, outcome};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

fn written(shop: &Shop, target: &str) {
    shop.written(target);
    from_page(shop.get(target), "page");
}

fn purge(shop: &Shop, body: &Value) {
    shop.front.admin().post_json("/api/v1/apps/shop/purge", body).expect(200);
}

/// Asserts that a page is purged, and another one is not.
#[track_caller]
fn is_purged(shop: &Shop, target: &str, other: &str) {
    // The application has not heard of the purge, and answers from its own page.
    for _ in 0..2 {
        let told = shop.get(target).expect(200);
        assert_eq!(told.header("x-cache"), Some("hit, server"), "{target}: {:?}", told.headers);
    }
    assert_eq!(outcome(&shop.front, "purged"), 2);
    from_page(shop.get(other), "page");
    written_again(shop, target);
}

#[test]
fn pages_that_are_purged_by_a_tag_are_asked_for_until_the_application_has_written_them_again() {
    // The page has `Surrogate-Keys: red blue` and `Cache-Tags: green,blue`.
    for tag in ["red", "green"] {
        let shop = Shop::response_bank("");
        written(&shop, "/headers");
        written(&shop, "/hats");
        purge(&shop, &json!({ "tags": ["none", tag] }));
        is_purged(&shop, "/headers", "/hats");
    }
}

#[test]
fn pages_that_are_purged_by_their_url_are_asked_for_until_the_application_has_written_them_again() {
    for url in ["/shoes?a=1", "http://shop.example/shoes?a=1"] {
        let shop = Shop::response_bank("");
        written(&shop, "/shoes?a=1");
        written(&shop, "/shoes");
        purge(&shop, &json!({ "urls": [url, "/", "/shoes?a=2"] }));
        is_purged(&shop, "/shoes?a=1", "/shoes");
    }
}

/// Has the application write the page in a later second than that of the purge.
fn written_again(shop: &Shop, target: &str) {
    let (key, _) = shop.key(target);
    shop.memcached.delete(&key);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    shop.rails.set(json!({ "at": now + 2 }));
    shop.written(target);
    from_page(shop.get(target), "page");
}
