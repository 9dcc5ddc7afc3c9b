//! memcached is killed, hangs and comes back, and Daylight is replaced, while clients run: no client gets an error or another byte than the
//! application wrote.

use super::shop::{BROWSER, Shop, await_outcome, from_page, outcome};
use crate::world::{Connection, await_true};
use serde_json::json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const PAGES: usize = 20;
const CLIENTS: usize = 4;

/// A shop that gives a server of pages little time, and an application that does so, too.
fn hasty() -> Shop {
    let shop = Shop::response_bank("timeout_ms = 50");
    shop.rails.set(json!({ "socket_timeout": 0.1, "down_retry_delay": 1 }));
    shop
}

/// Clients that ask for pages until `change` has ended. Each reply is that of the application. `change` gets a function that waits for more replies.
fn undisturbed(shop: &mut Shop, change: impl FnOnce(&mut Shop, &dyn Fn())) {
    let pages: HashMap<String, Vec<u8>> = (0..PAGES)
        .map(|page| format!("/shoes/{page}"))
        .map(|target| (target.clone(), shop.get(&target).expect(200).body))
        .collect();
    let (replies, done, address) = (AtomicUsize::new(0), AtomicBool::new(false), shop.front.address());
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (pages, replies, done) = (&pages, &replies, &done);
            scope.spawn(move || {
                let mut connection = Connection::open(address).unwrap();
                for (target, body) in pages.iter().cycle().skip(client * PAGES / CLIENTS) {
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                    let headers = [("Host", "shop.example"), ("Accept-Encoding", BROWSER)];
                    let told = connection.call("GET", target, &headers, b"").unwrap();
                    assert!(told.status == 200 && told.body == *body, "{target}: {} {:?}", told.status, told.headers);
                    if told.header("connection") == Some("close") {
                        connection = Connection::open(address).unwrap();
                    }
                    replies.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let more = || {
            let from = replies.load(Ordering::Relaxed);
            await_true("clients get replies", || replies.load(Ordering::Relaxed) >= from + 4 * PAGES);
        };
        more();
        // Also if it fails, so that the clients end.
        let changed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| change(shop, &more)));
        done.store(true, Ordering::Relaxed);
        changed.unwrap();
    });
}

#[test]
fn a_server_that_is_killed_and_comes_back_disturbs_no_client() {
    let mut shop = hasty();
    undisturbed(&mut shop, |shop, more| {
        for _ in 0..3 {
            shop.memcached.kill();
            more();
            shop.memcached.resume();
            more();
        }
    });
    assert!(outcome(&shop.front, "unreachable") > 0);
    let before = outcome(&shop.front, "hit");
    await_true("pages are served again", || {
        shop.get("/shoes/0").expect(200);
        outcome(&shop.front, "hit") > before
    });
}

#[test]
fn a_server_that_hangs_disturbs_no_client_and_costs_each_at_most_its_timeout() {
    let mut shop = hasty();
    undisturbed(&mut shop, |shop, more| {
        for _ in 0..2 {
            shop.memcached.suspend();
            more();
            shop.memcached.run_on();
            more();
        }
    });
    let apps = shop.front.admin().get("/api/v1/apps").expect(200).json();
    assert!(outcome(&shop.front, "timeout") > 0, "{apps}");
    assert_eq!(apps["apps"][0]["pages"]["servers"][0]["busy"], 0, "{apps}");
}

#[test]
fn daylight_is_replaced_while_it_serves_pages_and_finds_them_again() {
    let mut shop = Shop::response_bank("");
    undisturbed(&mut shop, |shop, more| {
        for _ in 0..3 {
            shop.front.restart();
            more();
        }
    });
    shop.rails.stop();
    for page in 0..PAGES {
        from_page(shop.get(&format!("/shoes/{page}")).expect(200), "page");
    }
}

#[test]
fn a_server_that_was_down_at_the_start_is_used_once_it_is_there() {
    let mut shop = Shop::response_bank("");
    shop.memcached.kill();
    shop.front.restart();
    shop.get("/shoes").expect(200);
    await_outcome(&shop.front, "unreachable", 1);
    shop.memcached.resume();
    await_true("the page is served", || {
        shop.get("/shoes").expect(200).header("cache-status") == Some("daylight; hit; detail=page")
    });
}

#[test]
fn a_server_that_has_restarted_never_confirms_a_page_in_memory_by_an_equal_version_number() {
    let mut shop = Shop::response_bank("");
    let first = shop.written("/shoes");
    from_page(shop.get("/shoes").expect(200), "page");
    // memcached counts versions from 1 again, and the application does the same to it as before.
    let mut second = first.clone();
    for text in ["second", "third"] {
        shop.memcached.kill();
        shop.memcached.resume();
        shop.rails.set(json!({ "text": text }));
        let written = shop.get("/shoes").expect(200);
        assert!(written.header("x-cache").is_some() && written.body != second.body, "{text}: {:?}", written.headers);
        await_true("the page is served", || {
            let told = shop.get("/shoes").expect(200);
            assert_eq!(told.body, written.body, "{text}: {:?}", told.headers);
            told.header("cache-status") == Some("daylight; hit; detail=page")
        });
        second = written;
    }
}
