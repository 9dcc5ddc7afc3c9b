//! Pages hold while their counters have the values that they name, and until they are purged.

use super::super::shop::{await_outcome, from_page};
use super::writers::{Application, HOST, KINDS, Kind, front, get, lasting, written};
use crate::world::{Memcached, eventually};
use format::page::hc1;
use serde_json::json;

#[test]
fn an_increment_of_a_counter_makes_its_pages_invalid() {
    for kind in KINDS {
        let memcached = Memcached::start();
        let page =
            |body: &str| json!({ "/lamps": lasting([600, 600, 600], body), "/bulbs": lasting([600, 0, 0], body) });
        let application = Application::start(kind, &memcached.authority(), "catalog prices", &page("old"));
        let front = front(application.url(), &memcached.url(), &[]);
        for target in ["/lamps", "/bulbs"] {
            written(&front, target, &[]);
            for _ in 0..2 {
                assert_eq!(from_page(get(&front, target, &[]), "page").text(), "old", "{kind:?}");
            }
        }
        application.set(&page("new"));
        assert_eq!(from_page(get(&front, "/lamps", &[]), "page").text(), "old", "nothing tells of the change");
        memcached.increment("hcg:prices");
        for target in ["/lamps", "/bulbs"] {
            assert_eq!(written(&front, target, &[]).text(), "new", "{kind:?}");
            assert_eq!(from_page(get(&front, target, &[]), "page").text(), "new", "{kind:?}");
        }
        await_outcome(&front, "old", 2);
        // A counter that was evicted begins at a value that it never had.
        memcached.delete("hcg:catalog");
        written(&front, "/lamps", &[]);
        from_page(get(&front, "/lamps", &[]), "page");
        assert_eq!(
            written(&front, "/bulbs", &[]).text(),
            "new",
            "{kind:?}: it has the value of the counter that is gone"
        );
    }
}

#[test]
fn a_page_that_is_gone_from_memcached_is_not_sent_from_memory() {
    let memcached = Memcached::start();
    let page = |body: &str| json!({ "/lamps": lasting([600, 600, 600], body) });
    let application = Application::start(Kind::Unicorn, &memcached.authority(), "", &page("old"));
    let front = front(application.url(), &memcached.url(), &[]);
    written(&front, "/lamps", &[]);
    from_page(get(&front, "/lamps", &[]), "page");
    application.set(&page("new"));
    memcached.delete(&hc1::key(HOST, "/lamps"));
    assert_eq!(written(&front, "/lamps", &[]).text(), "new");
    assert_eq!(from_page(get(&front, "/lamps", &[]), "page").text(), "new");
}

#[test]
fn a_purge_of_a_tag_reaches_the_pages_with_it_until_they_are_written_again() {
    let memcached = Memcached::start();
    let mut pages = json!({ "/lamps": lasting([600, 600, 600], "lamps"), "/bulbs": lasting([600, 600, 600], "bulbs") });
    pages["/lamps"]["headers"]["Surrogate-Key"] = "lamps shop".into();
    pages["/bulbs"]["headers"]["Surrogate-Key"] = "bulbs shop".into();
    let application = Application::start(Kind::Unicorn, &memcached.authority(), "", &pages);
    let front = front(application.url(), &memcached.url(), &[]);
    for target in ["/lamps", "/bulbs"] {
        written(&front, target, &[]);
        from_page(get(&front, target, &[]), "page");
    }
    front.admin().post_json("/api/v1/apps/shop/purge", &json!({ "tags": ["lamps"] })).expect(200);
    assert_eq!(written(&front, "/lamps", &[]).text(), "lamps");
    from_page(get(&front, "/bulbs", &[]), "page");
    // A page that is written in a later second than that of the purge is sent.
    eventually(|| match get(&front, "/lamps", &[]).header("cache-status") {
        Some("daylight; hit; detail=page") => Ok(()),
        other => Err(format!("{other:?}")),
    });
    let asked = application.requests().len();
    from_page(get(&front, "/lamps", &[]), "page");
    assert_eq!(application.requests().len(), asked);
}
