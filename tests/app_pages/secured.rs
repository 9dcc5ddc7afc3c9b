//! Servers of pages with a password, and with TLS.

use super::shop::{BROWSER, Shop, await_outcome, from_page, front, get};
use crate::front::program::Front;
use crate::tls::Certificate;
use crate::world::{Memcached, REDIS_PASSWORD, Rails, Redis, eventually};
use serde_json::json;
use std::path::Path;
use tempfile::TempDir;

/// What the API says of the server of pages.
fn trouble(front: &Front) -> String {
    eventually(|| {
        let apps = front.admin().get("/api/v1/apps").expect(200).json();
        let server = &apps["apps"][0]["pages"]["servers"][0];
        server["trouble"].as_str().map(str::to_owned).ok_or_else(|| format!("no trouble: {server}"))
    })
}

#[test]
fn a_memcached_with_a_password_is_read_with_it_and_without_it_the_application_answers() {
    let mut shop = Shop::response_bank("");
    let written = shop.written("/shoes");
    let (key, _) = shop.key("/shoes");
    let (flags, entry) = shop.memcached.get(&key).unwrap();
    // Ruby's clients speak the binary protocol, which memcached does not have beside this password. So the test copies the page.
    let folder = TempDir::new().unwrap();
    let logins = folder.path().join("logins");
    std::fs::write(&logins, "shop:sun-and-moon\n").unwrap();
    let secured = Memcached::start_with(&["-Y", logins.to_str().unwrap()], Some("shop sun-and-moon"));
    secured.set(&key, flags, &entry);
    let start = |login: &str| {
        let pages = "format = \"response_bank\"\ncredentials = \"env:PAGES_LOGIN\"";
        front(&shop.rails, &[&secured.url()], pages, &[("PAGES_LOGIN", login)])
    };
    let refused = start("shop:moon-and-sun");
    assert_eq!(get(&refused, "/shoes", &[]).expect(200).header("x-cache"), Some("hit, server"));
    await_outcome(&refused, "refused", 1);
    let told = format!("{}{}", trouble(&refused), refused.server().log());
    assert!(!told.contains("moon-and-sun"), "the password is printed: {told}");
    let none = front(&shop.rails, &[&secured.url()], "format = \"response_bank\"", &[]);
    assert_eq!(get(&none, "/shoes", &[]).expect(200).header("x-cache"), Some("hit, server"));
    await_outcome(&none, "refused", 1);
    let front = start("shop:sun-and-moon");
    shop.rails.stop();
    for _ in 0..2 {
        assert_eq!(from_page(get(&front, "/shoes", &[]).expect(200), "page").body, written.body);
    }
}

/// A Redis with TLS in which an application has written the page `/shoes`, and its body.
fn redis(certificate: &Certificate) -> (Redis, Rails, Vec<u8>) {
    let redis = Redis::start(Some((&certificate.file(), &certificate.key())));
    let rails = Rails::start(json!({ "form": 1, "redis": redis.url_with_password() }));
    let plain = front(&rails, &[&redis.url()], "format = \"response_bank\"", &[]);
    let written = get(&plain, "/shoes", &[]).expect(200);
    assert_eq!(written.header("x-cache"), Some("miss"));
    await_outcome(&plain, "refused", 1);
    (redis, rails, written.body)
}

#[test]
fn a_redis_is_read_with_its_password_and_through_tls_by_a_server_that_trusts_its_certificate() {
    let (trusted, other) = (Certificate::new(), Certificate::new());
    let (redis, mut rails, body) = redis(&trusted);
    let start = |rails: &Rails, url: &str, trusts: &Path, password: &str| {
        let pages = "format = \"response_bank\"\ncredentials = \"env:PAGES_PASSWORD\"";
        let variables = [("PAGES_PASSWORD", password), ("SSL_CERT_FILE", trusts.to_str().unwrap())];
        front(rails, &[url], pages, &variables)
    };
    let wrong = start(&rails, &redis.url(), &trusted.file(), "open barley");
    assert_eq!(get(&wrong, "/shoes", &[]).expect(200).header("x-cache"), Some("hit, server"));
    await_outcome(&wrong, "refused", 1);
    assert!(!format!("{}{}", trouble(&wrong), wrong.server().log()).contains("barley"));
    let stranger = start(&rails, &redis.tls_url(), &other.file(), REDIS_PASSWORD);
    assert_eq!(get(&stranger, "/shoes", &[]).expect(200).header("x-cache"), Some("hit, server"));
    await_outcome(&stranger, "unreachable", 1);
    assert!(trouble(&stranger).contains("TLS"), "{}", trouble(&stranger));
    let [plain, tls] = [redis.url(), redis.tls_url()].map(|url| start(&rails, &url, &trusted.file(), REDIS_PASSWORD));
    rails.stop();
    for front in [&plain, &tls] {
        assert_eq!(from_page(get(front, "/shoes", &[]).expect(200), "page").body, body);
    }
    // The page is deleted and written again: each reader gets the present state, although the page is in memory.
    let (key, _) = rails.keys(&["/shoes"], BROWSER).remove(0);
    let entry = redis.ask(&[b"GET", key.as_bytes()]).unwrap();
    redis.ask(&[b"DEL", key.as_bytes()]);
    get(&tls, "/shoes", &[]).expect(502);
    redis.ask(&[b"SET", key.as_bytes(), &entry]);
    assert_eq!(from_page(get(&tls, "/shoes", &[]).expect(200), "page").body, body);
}
