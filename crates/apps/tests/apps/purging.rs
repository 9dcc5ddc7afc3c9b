//! Purges, and changes that outdate stored responses.

use crate::cache::{FRESH, cached, counting};
use crate::origin::with;

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
