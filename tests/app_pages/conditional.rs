//! Conditional requests and HEAD: a 304 only for an entry that was read, by its tag, in each way in which clients send tags.

use super::shop::{BROWSER, Shop, from_page};
use std::process::Command;

/// curl's answer to a request with this `If-None-Match`: the status and the bytes of the body.
fn curl(shop: &Shop, target: &str, tag: &str) -> (String, String) {
    let url = format!("http://{}{target}", shop.front.address());
    let mut curl = Command::new("curl");
    curl.args(["-sS", "--max-time", "60", "-o", "/dev/null", "-w", "%{http_code} %{size_download}"]);
    let told = curl
        .args(["-H", &format!("Accept-Encoding: {BROWSER}"), "-H", &format!("If-None-Match: {tag}"), &url])
        .output()
        .unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    let (status, size) = text.split_once(' ').unwrap();
    (status.to_owned(), size.to_owned())
}

#[test]
fn a_client_that_has_the_page_gets_304_whatever_form_its_tag_has() {
    let mut shop = Shop::response_bank("");
    let written = shop.written("/shoes");
    shop.rails.stop();
    let quoted = written.header("etag").unwrap().to_owned();
    let bare = quoted.trim_matches('"');
    for tag in [
        quoted.clone(),
        bare.to_owned(),
        format!("W/{quoted}"),
        format!("\"other\", {quoted}"),
        format!("W/\"other\", W/{quoted}"),
        "*".to_owned(),
    ] {
        assert_eq!(curl(&shop, "/shoes", &tag), ("304".to_owned(), "0".to_owned()), "{tag}");
    }
    let size = written.body.len().to_string();
    for tag in ["\"other\"", "W/\"cacheable:0\"", &bare[..bare.len() - 1]] {
        assert_eq!(curl(&shop, "/shoes", tag), ("200".to_owned(), size.clone()), "{tag}");
    }
    let not_modified = shop.get_with("/shoes", &[("If-None-Match", &quoted)]).expect(304);
    assert_eq!(not_modified.header("etag"), Some(&*quoted));
    assert!(
        not_modified.header("vary").is_some_and(|vary| vary.contains("Accept-Encoding")),
        "{:?}",
        not_modified.headers
    );
}

#[test]
fn a_tag_that_could_be_computed_gets_no_304_while_there_is_no_page() {
    let shop = Shop::response_bank("");
    let (_, tag) = shop.key("/broken");
    // The application says 304 before it renders, as response_bank does; so it was asked.
    shop.get_with("/broken", &[("If-None-Match", &format!("\"{tag}\""))]).expect(304);
    assert_eq!(shop.rails.last("/broken"), (1, Some("hit, client".to_owned())));
}

#[test]
fn head_has_the_head_of_get_and_no_body() {
    let mut shop = Shop::response_bank("");
    shop.written("/shoes");
    shop.rails.stop();
    let get = shop.get("/shoes").expect(200);
    let headers = [("Host", "shop.example"), ("Accept-Encoding", BROWSER)];
    let head = from_page(shop.front.ask("HEAD", "/shoes", &headers, b"").expect(200), "page");
    let told = |answer: &crate::world::Answer| {
        let varying = ["date", "daylight-event", "server-timing"];
        let mut told: Vec<_> = answer.headers.clone();
        told.retain(|(name, _)| !varying.contains(&&*name.to_ascii_lowercase()));
        told.sort();
        told
    };
    assert_eq!(told(&head), told(&get));
    assert!(head.body.is_empty() && !get.body.is_empty());
}

#[test]
fn a_range_is_not_cut_out_of_a_page() {
    let mut shop = Shop::response_bank("");
    let written = shop.written("/shoes");
    shop.rails.stop();
    let whole = from_page(shop.get_with("/shoes", &[("Range", "bytes=0-9")]).expect(200), "page");
    assert_eq!(whole.body, written.body);
}
