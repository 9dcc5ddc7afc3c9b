//! Pages are written by the application, the application is stopped, and the front serves them byte for byte: status, stored headers and body, for
//! each coding.

use super::shop::{Shop, front};
use crate::world::{REDIS_PASSWORD, Rails, Redis, await_true};
use serde_json::{Value, json};

/// Paths with each kind of page: of 6 KB, redirected, missing, with all stored headers, without a body, with characters that a key writes otherwise.
const TARGETS: [&str; 8] = [
    "/",
    "/moved",
    "/gone",
    "/headers",
    "/empty",
    "/a%20b/c:d,e",
    "/list?page=2&sort=%22name%22",
    "/q?a=%23%7Bb%7D%5C",
];

/// `Accept-Encoding` of browsers, curl, and clients that refuse a coding, whatever they say of it.
const ACCEPTS: [Option<&str>; 9] = [
    Some("gzip, deflate, br"),
    Some("gzip, deflate, br, zstd"),
    Some("gzip"),
    Some("br"),
    None,
    Some("identity"),
    Some("br;q=0, gzip"),
    Some("gzip;q=0"),
    Some("gzip;q=0.5, *;q=0.1"),
];

/// Has the application write the pages, stops it, and has the front serve them.
fn served_as_written(rails: &mut Rails, settings: Value, format: &str, server: &str) {
    rails.set(settings.clone());
    rails.judge(&json!({ "record": TARGETS, "accepts": ACCEPTS }));
    rails.stop();
    let front = front(rails, &[server], format, &[]);
    // Twice: from the server that keeps them, and from memory.
    for _ in 0..2 {
        let compared = rails.judge(&json!({ "compare": front.address().to_string() }));
        assert_eq!(compared, (TARGETS.len() * ACCEPTS.len()).to_string(), "{settings}");
    }
    rails.resume();
}

#[test]
fn each_form_of_entries_is_served_byte_for_byte_after_the_application_has_stopped() {
    let memcached = crate::world::Memcached::start();
    let mut rails = Rails::start(json!({ "memcached": [memcached.authority()] }));
    let response_bank = "format = \"response_bank\"";
    for settings in [
        json!({ "form": 1, "elements": 4 }),
        json!({ "form": 2, "elements": 5 }),
        json!({ "form": 1, "elements": 5, "namespace": "shop:v2" }),
        json!({ "form": 0, "namespace": Value::Null }),
    ] {
        memcached.flush();
        let format = match (&settings["form"], settings["namespace"].as_str()) {
            (form, _) if form == 0 => "format = \"cacheable\"".to_owned(),
            (_, Some(namespace)) => format!("{response_bank}\nnamespace = \"{namespace}\""),
            (_, None) => response_bank.to_owned(),
        };
        served_as_written(&mut rails, settings, &format, &memcached.url());
    }
}

#[test]
fn pages_in_redis_are_served_byte_for_byte_after_the_application_has_stopped() {
    let redis = Redis::start(None);
    let mut rails = Rails::start(json!({ "redis": redis.url_with_password(), "namespace": "shop" }));
    let format = "format = \"response_bank\"\nnamespace = \"shop\"\ncredentials = \"env:PAGES_PASSWORD\"";
    rails.set(json!({ "form": 1 }));
    rails.judge(&json!({ "record": TARGETS, "accepts": ACCEPTS }));
    rails.stop();
    let front = front(&rails, &[&redis.url()], format, &[("PAGES_PASSWORD", REDIS_PASSWORD)]);
    for _ in 0..2 {
        assert_eq!(
            rails.judge(&json!({ "compare": front.address().to_string() })),
            (TARGETS.len() * ACCEPTS.len()).to_string()
        );
    }
}

#[test]
fn a_page_is_served_without_the_application_and_its_event_names_the_layer() {
    let mut shop = Shop::response_bank("");
    let written = shop.written("/shoes");
    shop.rails.stop();
    let served = super::shop::from_page(shop.get("/shoes").expect(200), "page");
    assert_eq!(served.body, written.body);
    let event = shop.front.event(&served);
    assert_eq!((event["layer"].as_str(), event["app"]["page"].as_str()), (Some("app_pages"), Some("hit")), "{event}");
    let kept = || {
        let said = shop.front.command(&["ask", "count by layer, app_page where repository = shop"]);
        String::from_utf8(said.stdout).unwrap()
    };
    await_true("`daylight ask` counts by `app_page`", || {
        let told = kept();
        let has = |words: [&str; 2]| told.lines().any(|line| words.iter().all(|word| line.contains(word)));
        has(["app_pages", "hit"]) && has(["app", "miss"])
    });
}
