//! Responses that the writers never write.

use super::writers::{Application, KINDS, front, get, lasting};
use crate::front::program::Front;
use crate::world::Memcached;
use serde_json::{Value, json};

/// Paths of which none may be written, each for one reason.
fn pages() -> Value {
    let with = |name: &str, value: &str| {
        let mut page = lasting([600, 60, 60], "lamp");
        page["headers"][name] = value.into();
        page
    };
    let mut missing = lasting([600, 0, 0], "lamp");
    missing["status"] = 404.into();
    json!({
        "/cookie": with("Set-Cookie", "a=b"),
        "/private": with("Cache-Control", "max-age=0, Private, must-revalidate"),
        "/no-store": with("Cache-Control", "no-store"),
        "/vary": with("Vary", "*"),
        "/session": with("Vary", "Accept-Language, Cookie"),
        "/coding": with("Content-Encoding", "deflate"),
        "/no-lifetime": with("Surrogate-Control", "stale-while-revalidate=60"),
        "/no-time": with("Surrogate-Control", "max-age=0, stale-while-revalidate=60"),
        "/s-maxage": with("Surrogate-Control", "x-max-agex=60"),
        "/missing": missing,
        "/large": { "headers": { "Surrogate-Control": "max-age=60", "Content-Type": "image/png" }, "body": "x".repeat(1_000_000) },
        "/page": lasting([600, 0, 0], "lamp"),
    })
}

#[test]
fn a_writer_never_writes_what_is_not_for_everybody_has_no_lifetime_or_does_not_fit() {
    for kind in KINDS {
        let (memcached, pages) = (Memcached::start(), pages());
        let application = Application::start(kind, &memcached.authority(), "", &pages);
        let front = front(application.url(), &memcached.url(), &[]);
        for (path, page) in pages.as_object().unwrap() {
            if path != "/page" {
                let told = get(&front, path, &[]);
                assert_eq!(u64::from(told.status), page["status"].as_u64().unwrap_or(200), "{kind:?} {path}");
                assert_eq!(told.text(), page["body"].as_str().unwrap(), "{kind:?} {path}");
            }
        }
        get(&front, "/page", &[("Authorization", "Basic bGFtcDpsYW1w")]).expect(200);
        get(&front, "/page", &[("Range", "bytes=0-1"), ("Cache-Control", "no-cache")]).expect(200);
        for method in ["POST", "HEAD"] {
            front.ask(method, "/page", &[("Host", "shop.example")], b"").expect(200);
        }
        assert_eq!(memcached.keys(), Vec::<String>::new(), "{kind:?}");
        get(&front, "/page", &[]).expect(200);
        assert_eq!(memcached.keys().len(), 1, "{kind:?}");
    }
}

#[test]
fn a_response_goes_to_its_client_when_the_store_is_gone() {
    for kind in KINDS {
        let mut memcached = Memcached::start();
        let application = Application::start(kind, &memcached.authority(), "catalog", &pages());
        let front: Front = front(application.url(), &memcached.url(), &[]);
        get(&front, "/page", &[]).expect(200);
        assert_eq!(memcached.keys().len(), 2, "{kind:?}: the page and its counter");
        memcached.kill();
        for _ in 0..3 {
            assert_eq!(get(&front, "/page", &[]).expect(200).text(), "lamp", "{kind:?}");
        }
    }
}
