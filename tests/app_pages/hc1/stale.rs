//! Stale pages: sent while one request has the application write them again, and in place of its failures.

use super::super::shop::from_page;
use super::writers::{Application, HOST, Kind, age, front, get, get_at, lasting, plain, written};
use crate::world::{Memcached, await_true, eventually};
use format::page::hc1;
use serde_json::{Value, json};
use std::thread;

fn page(body: &str) -> Value {
    json!({ "/lamps": lasting([600, 600, 6000], body) })
}

#[test]
fn many_clients_of_two_fronts_get_the_stale_page_while_one_request_refills_it() {
    let memcached = Memcached::start();
    let application = Application::start(Kind::Puma, &memcached.authority(), "catalog", &page("old"));
    let fronts = [0; 2].map(|_| front(application.url(), &memcached.url(), &[]));
    written(&fronts[0], "/lamps", &[]);
    for known in [false, true] {
        // First neither of them has the page in memory, then both have.
        application.set(&page("old"));
        if known {
            memcached.delete(&hc1::key(HOST, "/lamps"));
            written(&fronts[0], "/lamps", &[]);
            fronts.iter().for_each(|front| drop(from_page(get(front, "/lamps", &[]), "page")));
        }
        let refills = application.refills();
        age(&memcached, "/lamps", 700);
        application.set(&page("new"));
        application.hold(true);
        thread::scope(|scope| {
            for client in 0..20 {
                let front = fronts[client % 2].address();
                scope.spawn(move || {
                    let session = [("Cookie", "session=1"), ("Daylight-Refill", "1")];
                    assert_eq!(from_page(get_at(front, "/lamps", &session), "page-stale").text(), "old");
                });
            }
        });
        await_true("a refill", || application.refills() > refills);
        application.hold(false);
        for front in &fronts {
            eventually(|| match get(front, "/lamps", &[]) {
                told if told.text() == "new" => Ok(from_page(told, "page")),
                told => Err(format!("{:?}", told.headers)),
            });
        }
        assert_eq!(application.refills(), refills + 1, "{:?}", application.requests());
        let refill = application.requests().into_iter().rfind(|request| request["refill"] == "1").unwrap();
        assert_eq!((refill["method"].as_str(), &refill["cookie"]), (Some("GET"), &Value::Null), "{refill}");
    }
}

#[test]
fn a_page_that_was_marked_as_stale_is_sent_once_more_and_refilled() {
    let memcached = Memcached::start();
    let application = Application::start(Kind::Unicorn, &memcached.authority(), "", &page("old"));
    let front = front(application.url(), &memcached.url(), &[]);
    written(&front, "/lamps", &[]);
    from_page(get(&front, "/lamps", &[]), "page");
    application.set(&page("new"));
    application.hold(true);
    assert_eq!(memcached.told(&format!("md {} I T60", hc1::key(HOST, "/lamps"))), "HD");
    for _ in 0..3 {
        assert_eq!(from_page(get(&front, "/lamps", &[]), "page-stale").text(), "old");
    }
    application.hold(false);
    eventually(|| match get(&front, "/lamps", &[]) {
        told if told.text() == "new" => Ok(()),
        told => Err(format!("{:?}", told.headers)),
    });
    assert_eq!(application.refills(), 1);
}

#[test]
fn an_old_page_is_sent_in_place_of_an_error_of_the_application() {
    let memcached = Memcached::start();
    let mut application = Application::start(Kind::Unicorn, &memcached.authority(), "", &page("old"));
    let front = front(application.url(), &memcached.url(), &[]);
    written(&front, "/lamps", &[]);
    age(&memcached, "/lamps", 1300);
    for status in [500, 502, 503, 504] {
        application.set(&json!({ "/lamps": { "status": status, "body": "trouble" } }));
        let told = from_page(get(&front, "/lamps", &[]), "page-error").expect(200);
        assert_eq!((told.text(), told.header("daylight-stale").is_some()), ("old", true), "{status}");
    }
    application.set(&json!({ "/lamps": { "status": 404, "body": "nothing" } }));
    assert_eq!(get(&front, "/lamps", &[]).expect(404).text(), "nothing");
    application.set(&json!({ "/lamps": { "status": 501, "body": "no" } }));
    assert_eq!(get(&front, "/lamps", &[]).expect(501).text(), "no");
    application.stop();
    assert_eq!(from_page(plain(&front, "/lamps"), "page-error").expect(200).text(), "old");
    age(&memcached, "/lamps", 5300);
    get(&front, "/lamps", &[]).expect(502);
}

#[test]
fn a_client_cannot_ask_for_a_refill() {
    let memcached = Memcached::start();
    let application = Application::start(Kind::Unicorn, &memcached.authority(), "", &page("old"));
    let front = front(application.url(), &memcached.url(), &[]);
    written(&front, "/lamps", &[("Daylight-Refill", "1")]);
    from_page(get(&front, "/lamps", &[("Daylight-Refill", "1")]), "page");
    assert_eq!((application.requests().len(), application.refills()), (1, 0));
}
