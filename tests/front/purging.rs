//! Purging by URL and by tag, over the API and with the command.

use super::origin::{Origin, response};
use super::program::Front;
use serde_json::json;
use std::io::Write as _;

/// A backend whose pages have tags: `/a` has `red` and `blue`, `/b` has `blue`, `/c` has none.
fn tagged() -> (Origin, Front) {
    let origin = Origin::start(|heard, client| {
        let tags = match heard.target.split('?').next().unwrap() {
            "/a" => "Surrogate-Key: red blue",
            "/b" => "Cache-Tag: blue,green",
            _ => "X-Nothing: said",
        };
        client.write_all(&response("200 OK", &["Cache-Control: public, max-age=600", tags], b"a page")).map(|()| true)
    });
    let text = format!("[[app]]\nname = \"shop\"\nlisten = \"127.0.0.1:0\"\nto = \"{}\"\n", origin.url());
    let front = Front::configured(&text);
    (origin, front)
}

/// Reads each page twice. Returns how many requests for it have reached the backend.
fn read(origin: &Origin, front: &Front) -> Vec<usize> {
    let count = |page: &&str| {
        for _ in 0..2 {
            let told = front.ask("GET", page, &[("Host", "shop.example")], b"").expect(200);
            assert_eq!((told.header("surrogate-key"), told.header("cache-tag")), (None, None));
        }
        origin.count_of(page)
    };
    ["/a", "/a?q=1", "/b", "/c"].iter().map(count).collect()
}

#[test]
fn pages_are_purged_by_url_and_by_tag_over_the_api() {
    let (origin, front) = tagged();
    assert_eq!(read(&origin, &front), [1, 1, 1, 1]);
    let purge = |body| front.admin().post_json("/api/v1/apps/shop/purge", &body).expect(200);
    purge(json!({ "urls": ["http://shop.example/a"] }));
    assert_eq!(read(&origin, &front), [2, 1, 1, 1]);
    purge(json!({ "tags": ["blue"] }));
    assert_eq!(read(&origin, &front), [3, 2, 2, 1]);
    purge(json!({ "tags": ["green", "none"], "urls": ["http://shop.example/c"] }));
    assert_eq!(read(&origin, &front), [3, 2, 3, 2]);
    purge(json!({ "urls": ["http://other.example/c"] }));
    assert_eq!(read(&origin, &front), [3, 2, 3, 2]);
}

#[test]
fn pages_are_purged_with_the_command() {
    let (origin, front) = tagged();
    read(&origin, &front);
    for (arguments, counts) in [
        (&["--url", "http://shop.example/a"][..], [2, 1, 1, 1]),
        (&["--tag", "blue", "--url", "http://shop.example/c"], [3, 2, 2, 2]),
    ] {
        let said = front.command(&[&["front", "purge", "shop"], arguments].concat());
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        assert_eq!(read(&origin, &front), counts);
    }
    let unknown = front.command(&["front", "purge", "shoe", "--tag", "blue"]);
    let said = String::from_utf8_lossy(&unknown.stderr);
    assert!(!unknown.status.success() && said.contains("shoe") && said.contains("hint: "), "{said}");
}

#[test]
fn a_purge_needs_the_right_to_administer() {
    let (origin, front) = tagged();
    read(&origin, &front);
    let token = json!({ "name": "reader", "owner": "reader", "scopes": ["observe", "read"], "repositories": [] });
    let made = front.admin().post_json("/api/v1/tokens", &token).expect(201).json();
    let reader = crate::world::Person::new(front.admin_address(), Some(made["secret"].as_str().unwrap().to_owned()));
    let anon = crate::world::Person::new(front.admin_address(), None);
    let body = json!({ "tags": ["blue"] });
    reader.post_json("/api/v1/apps/shop/purge", &body).expect(403);
    anon.post_json("/api/v1/apps/shop/purge", &body).expect(401);
    // Nor does the application's own address take one.
    front.ask("POST", "/api/v1/apps/shop/purge", &[("Host", "shop.example")], body.to_string().as_bytes()).expect(200);
    front.ask("PURGE", "/b", &[("Host", "shop.example")], b"").expect(200);
    assert_eq!(origin.count_of("/api/v1/apps/shop/purge"), 1, "the application has every path of its address");
}
