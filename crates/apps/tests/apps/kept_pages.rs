//! Pages in memory and in other stores: how long they hold, and what comes before them.

use crate::origin::{Origin, ok, with};
use crate::pages::{GZIP, bank, get};
use crate::responses::pattern;
use crate::running_apps::RunningApps;
use crate::stores::{
    Memcached, NOW, NOW_S, Redis, bank_entry, bank_key, bank_page, gzip, later, page, running, writing,
};
use apps::{AppOptions, PageFormat};
use format::page::coding::Coding;
use format::page::key::KeyRule;
use front::{ClientFrom, Limits, Proxies};
use std::time::Duration;
use telemetry::Op;

#[test]
fn a_fresh_stored_response_comes_before_the_page_and_a_page_is_not_stored() {
    let store = Memcached::start();
    let origin = Origin::replying(|_| with("cache-control: max-age=60\r\n", "response"));
    let apps = running(writing(&origin, PageFormat::ResponseBank, &[store.url()]));
    let (key, entry) = bank_page("/a", "the page");
    store.set(&key, &entry);
    assert_eq!((get(&apps, "/a", GZIP).body, page(&apps)), (gzip(b"the page"), "hit"));
    store.delete(&key);
    let answer = get(&apps, "/a", GZIP);
    assert_eq!((answer.text(), page(&apps)), ("response", "miss"));
    assert_eq!(answer.header("cache-status"), Some("daylight; fwd=uri-miss; stored"));
    store.set(&key, &entry);
    let answer = get(&apps, "/a", GZIP);
    assert_eq!((answer.text(), page(&apps)), ("response", ""));
    assert_eq!(answer.header("cache-status"), Some("daylight; hit"));
    later(&apps, 70);
    assert_eq!((get(&apps, "/a", GZIP).body, page(&apps)), (gzip(b"the page"), "hit"));
}

#[test]
fn an_application_without_memory_for_pages_reads_each_of_them() {
    let store = Memcached::start();
    let (key, entry) = bank_page("/", "the page");
    store.set(&key, &entry);
    let origin = Origin::replying(|_| ok("app"));
    let apps = running(AppOptions { cache_bytes: 0, ..writing(&origin, PageFormat::ResponseBank, &[store.url()]) });
    for _ in 0..2 {
        assert_eq!(get(&apps, "/", GZIP).body, gzip(b"the page"));
        assert_eq!(apps.event().tally(Op::AppPagesMake).count, 1);
    }
    assert_eq!(apps.apps.view()[0].pages.as_ref().unwrap().max_bytes, 0);
}

#[test]
fn a_purged_page_is_not_sent_until_the_application_has_written_it_in_a_later_second() {
    let store = Memcached::start();
    let (_origin, apps) = bank(&store, |_| {});
    let tag = |target: &str| format!("\"{}\"", bank_key(KeyRule::Typed, target, Coding::Gzip).1);
    let write = |target: &str, stored_s: i64| {
        let (key, tag) = (bank_key(KeyRule::Typed, target, Coding::Gzip).0, tag(target));
        let tags = [("Surrogate-Keys", "all some"), ("Cache-Tags", "other")];
        let tags = if target == "/a" { &tags[..] } else { &[] };
        let headers = [&[("ETag", &*tag), ("Content-Encoding", "gzip")], tags].concat();
        store.set(&key, &bank_entry(200, &headers, &gzip(b"the page"), stored_s));
    };
    let purge = |urls: &[&str], tags: &[&str]| {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        apps.apps.purge("shop", &owned(urls), &owned(tags)).unwrap()
    };
    let sees = |target: &str| {
        get(&apps, target, GZIP);
        page(&apps)
    };
    for (n, (urls, tags)) in
        [(&["http://any/a"][..], &[][..]), (&["/a"], &[]), (&[], &["some"]), (&[], &["other"])].into_iter().enumerate()
    {
        let now = NOW_S + 10 * i64::try_from(n).unwrap();
        apps.recorder.clock().set(Some(NOW.plus(Duration::from_millis(10_000 * n as u64 + 700))));
        write("/a", now);
        write("/b", now);
        assert_eq!([sees("/a"), sees("/b")], ["hit", "hit"]);
        assert_eq!(purge(urls, tags), 1, "the one in memory");
        assert_eq!([sees("/a"), sees("/a"), sees("/b")], ["purged", "purged", "hit"], "{urls:?} {tags:?}");
        apps.recorder.clock().set(Some(NOW.plus(Duration::from_millis(10_000 * n as u64 + 1_000))));
        write("/a", now + 1);
        assert_eq!(sees("/a"), "hit");
    }
    assert_eq!(purge(&["/none"], &["none"]), 0);
    assert_eq!(sees("/a"), "hit");
}

#[test]
fn pages_are_read_from_redis_too_and_are_sent_while_their_bytes_are_the_same() {
    let store = Redis::start();
    let (key, entry) = bank_page("/", "the page");
    store.set(&format!("shop:{key}"), &entry);
    let origin = Origin::replying(|_| ok("app"));
    let mut options = writing(&origin, PageFormat::ResponseBank, &[store.url()]);
    options.pages.as_mut().unwrap().namespace = "shop".to_owned();
    let apps = running(options);
    let sees = || {
        let body = get(&apps, "/", GZIP).body;
        let event = apps.event();
        (body, event.app_page(), event.tally(Op::AppPagesMake).count)
    };
    assert_eq!([sees(), sees()], [(gzip(b"the page"), "hit", 1), (gzip(b"the page"), "hit", 0)]);
    store.set(&format!("shop:{key}"), &bank_page("/", "new page").1);
    assert_eq!(sees(), (gzip(b"new page"), "hit", 1));
    store.delete(&format!("shop:{key}"));
    assert_eq!(sees(), (b"app".to_vec(), "miss", 0));
}

#[test]
fn many_requests_at_once_for_a_page_get_the_same_bytes() {
    let store = Memcached::start();
    let (key, tag) = bank_key(KeyRule::Typed, "/", Coding::Brotli);
    let tag = format!("\"{tag}\"");
    let body = pattern(300_000);
    let headers = [("ETag", &*tag), ("Content-Encoding", "gzip")];
    store.set(&key, &bank_entry(200, &headers, &gzip(&body), NOW_S));
    let (origin, apps) = bank(&store, |_| {});
    let mut clients: Vec<_> = (0..20).map(|_| apps.client()).collect();
    clients.iter_mut().for_each(|client| client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    for client in &mut clients {
        assert_eq!(client.answer().body, body);
    }
    assert_eq!(origin.received().len(), 0);
    let view = apps.apps.view()[0].pages.clone().unwrap();
    assert!(view.bytes < 2_000_000, "{view:?}");
}

#[test]
fn a_trusted_proxy_names_the_client_and_the_page_is_the_same() {
    let store = Memcached::start();
    let (key, entry) = bank_page("/", "the page");
    store.set(&key, &entry);
    let origin = Origin::replying(|_| ok("app"));
    let options = writing(&origin, PageFormat::ResponseBank, &[store.url()]);
    let proxies = Proxies { trusted: vec!["127.0.0.1".parse().unwrap()], client_from: ClientFrom::XForwardedFor };
    let apps = RunningApps::with(vec![options], proxies, Limits::default());
    apps.recorder.clock().set(Some(NOW));
    let lines = format!("{GZIP}X-Forwarded-For: 10.1.2.3\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: shop\r\n");
    for _ in 0..2 {
        assert_eq!(get(&apps, "/", &lines).body, gzip(b"the page"));
        let event = apps.event();
        assert_eq!((&*event.client, event.app_page()), ("10.1.2.3", "hit"));
    }
}
