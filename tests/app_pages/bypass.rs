//! Requests that no page may answer reach the application, whatever is stored: they have no outcome of pages.

use super::shop::{BROWSER, Shop, from_page};
use crate::world::Answer;

/// Asserts that this request reaches the application, and has no outcome of pages.
#[track_caller]
fn reaches_the_application(shop: &Shop, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let before = shop.asked();
    let all = [&[("Host", "shop.example"), ("Accept-Encoding", BROWSER)], headers].concat();
    let told = shop.front.ask(method, target, &all, body);
    assert_eq!(shop.asked(), before + 1, "{method} {target} {headers:?}");
    let event = shop.front.event(&told);
    assert!(event["app"]["page"].is_null() && event["layer"] == "app", "{method} {target} {headers:?}: {event}");
    told
}

#[test]
fn requests_of_one_user_and_requests_that_ask_for_a_new_page_reach_the_application() {
    let shop = Shop::response_bank("bypass_cookies = [\"session\", \"cart\"]");
    for target in ["/shoes", "/shoes?cache=true"] {
        shop.written(target);
        from_page(shop.get(target), "page");
    }
    let bypass = |headers: &[(&str, &str)]| reaches_the_application(&shop, "GET", "/shoes", headers, b"");
    bypass(&[("Authorization", "Bearer abc")]);
    bypass(&[("Cookie", "session=1")]);
    bypass(&[("Cookie", "theme=dark; cart=2")]);
    bypass(&[("Cache-Control", "no-cache")]);
    bypass(&[("Cache-Control", "no-store")]);
    bypass(&[("Pragma", "no-cache")]);
    bypass(&[("X-HTTP-Method-Override", "DELETE")]);
    from_page(shop.get_with("/shoes", &[("Cookie", "theme=dark; cartoon=2; _session=1")]), "page");
    from_page(shop.get_with("/shoes", &[("Cache-Control", "max-age=0")]), "page");
}

#[test]
fn the_switches_of_response_bank_reach_the_application() {
    let shop = Shop::response_bank("");
    for target in ["/shoes?cache=false", "/shoes?a=1&cache=false"] {
        for _ in 0..2 {
            let told = reaches_the_application(&shop, "GET", target, &[], b"").expect(200);
            assert_eq!(told.header("cache-control"), Some("no-store"));
        }
    }
    for _ in 0..2 {
        reaches_the_application(&shop, "GET", "/shoes?fill_cache=true", &[], b"").expect(200);
    }
    shop.written("/shoes?fill_cache=never");
    from_page(shop.get("/shoes?fill_cache=never"), "page");
}

#[test]
fn other_methods_and_bodies_reach_the_application() {
    let shop = Shop::response_bank("");
    shop.written("/shoes");
    for (method, body) in [("POST", &b"a=1"[..]), ("PUT", b""), ("DELETE", b""), ("OPTIONS", b""), ("GET", b"a body")] {
        reaches_the_application(&shop, method, "/shoes", &[], body);
    }
    from_page(shop.get("/shoes"), "page");
}
