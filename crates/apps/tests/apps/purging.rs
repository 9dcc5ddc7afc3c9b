//! Purges, and changes that outdate stored responses.

use crate::cache::{FRESH, cached, counting, later};
use crate::origin::with;
use std::sync::Mutex;

#[test]
fn a_purge_reaches_a_response_by_tag_by_path_and_by_url() {
    let origin =
        counting(|request, n| with(&format!("{FRESH}surrogate-key: all {}\r\n", &request.path()[1..]), &n.to_string()));
    let apps = cached(&origin);
    let text = |path: &str| apps.client().get(path).text().to_owned();
    let purge = |urls: &[&str], tags: &[&str]| {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        apps.apps.purge("shop", &owned(urls), &owned(tags)).unwrap()
    };
    assert_eq!(["/a", "/b", "/a", "/b"].map(text), ["0", "1", "0", "1"]);
    assert_eq!(purge(&[], &["a"]), 1);
    assert_eq!(["/a", "/b"].map(text), ["2", "1"]);
    assert_eq!((purge(&["http://a/b"], &[]), purge(&["/a"], &["x"])), (1, 1));
    assert_eq!(["/a", "/b"].map(text), ["3", "4"]);
    assert_eq!((purge(&["http://other/b"], &[]), purge(&[], &["all"])), (0, 2));
    assert_eq!(apps.apps.purge("other", &[], &[]), None);
}

#[test]
fn a_change_outdates_its_url_and_a_failed_one_does_not() {
    let origin = counting(|request, n| match request.line.split(' ').next().unwrap() {
        "GET" => with(FRESH, &n.to_string()),
        _ if request.body == b"fail" => "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n".to_owned(),
        _ => with("location: /b\r\n", ""),
    });
    let apps = cached(&origin);
    let text = |path: &str| apps.client().get(path).text().to_owned();
    let change = |body: &str| {
        let length = body.len();
        let answer =
            apps.client().ask(&format!("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}"));
        assert_eq!(answer.header("cache-status"), Some("daylight; fwd=method"));
    };
    assert_eq!(["/a", "/b"].map(text), ["0", "1"]);
    change("fail");
    assert_eq!(["/a", "/b"].map(text), ["0", "1"]);
    change("done");
    assert_eq!(["/a", "/b"].map(text), ["4", "5"]);
}

#[test]
fn a_purge_during_a_validation_or_during_trouble_is_not_undone() {
    let (opens, gate) = std::sync::mpsc::channel();
    let gate = Mutex::new(gate);
    let origin = counting(move |request, n| {
        let waits = request.header("if-none-match").is_some();
        if waits {
            gate.lock().unwrap().recv().unwrap();
        }
        match request.path() {
            "/valid" if waits => "HTTP/1.1 304 Not Modified\r\n\r\n".to_owned(),
            _ if waits => "HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n".to_owned(),
            _ => with("cache-control: max-age=60, stale-if-error=60\r\netag: \"e\"\r\n", &n.to_string()),
        }
    });
    let apps = cached(&origin);
    for (path, status) in [("/valid", 200), ("/broken", 503)] {
        later(&apps, 0);
        apps.client().get(path);
        later(&apps, 70);
        let mut client = apps.client();
        let before = origin.received().len();
        client.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        while origin.received().len() == before {
            std::thread::yield_now();
        }
        apps.apps.purge("shop", &[path.to_owned()], &[]);
        opens.send(()).unwrap();
        assert_eq!(client.answer().status, status, "{path}");
        let next = apps.client().get(path);
        assert_eq!(next.header("cache-status"), Some("daylight; fwd=uri-miss; stored"), "{path}");
    }
}

#[test]
fn a_response_keeps_its_tags_and_its_lifetime_over_a_304_without_them() {
    let origin = counting(|request, n| match request.header("if-none-match") {
        None => with("daylight-cache-control: max-age=60\r\ncache-tag: t\r\netag: \"e\"\r\n", &n.to_string()),
        Some(_) => "HTTP/1.1 304 Not Modified\r\n\r\n".to_owned(),
    });
    let apps = cached(&origin);
    apps.client().get("/");
    for seconds in [70, 140] {
        later(&apps, seconds);
        let validated = apps.client().get("/");
        assert_eq!(validated.header("cache-status"), Some("daylight; fwd=stale; fwd-status=304; stored"));
        let hit = apps.client().get("/");
        assert_eq!((hit.text(), hit.header("cache-status")), ("0", Some("daylight; hit")));
        assert_eq!((hit.header("cache-tag"), hit.header("daylight-cache-control")), (None, None));
    }
    assert_eq!(apps.apps.purge("shop", &[], &["t".to_owned()]), Some(1));
    assert_eq!(apps.client().get("/").text(), "3");
}
