//! Entries that are not served as they lie: the application is asked, and the API counts why.

use super::shop::{Shop, await_outcome, from_page, outcome};
use serde_json::json;

#[test]
fn an_entry_with_places_for_each_request_or_with_data_for_the_application_goes_to_the_application() {
    let shop = Shop::response_bank("");
    let slot = json!({ "name": "nonce", "compressed_offset": 1, "replacement_length": 9, "html_placeholder_offset": 1,
                       "html_placeholder_length": 9, "context_suffix": "" });
    let spliced = json!({ "brotli_splice": { "version": 1, "slots": [slot] } });
    let both = json!({ "brotli_splice": { "version": 1, "slots": [] }, "app": { "a": 1 } });
    for (target, metadata, name) in [
        ("/spliced", spliced, "spliced"),
        ("/both", both, "spliced"),
        ("/metadata", json!({ "app": { "experiment": "b" } }), "metadata"),
        ("/later", json!({ "something": "new" }), "unknown"),
    ] {
        shop.rails.set(json!({ "elements": 6, "metadata": metadata }));
        let (counted, written) = (outcome(&shop.front, name), shop.written(target));
        // The application itself answers from its page.
        let told = shop.get(target).expect(200);
        assert_eq!((told.header("x-cache"), &told.body), (Some("hit, server"), &written.body));
        await_outcome(&shop.front, name, counted + 1);
    }
}

/// Writes a value in the place of the page `/shoes`, and asks for it. Returns whether the application was asked.
fn asked_for(shop: &Shop, key: &str, flags: u32, value: &[u8]) -> bool {
    shop.memcached.set(key, flags, value);
    let before = shop.asked();
    // The application may fail by it, which is its own affair.
    let told = shop.get("/shoes");
    let asked = shop.asked() > before;
    assert!(asked || told.status == 200, "{:?}", told.headers);
    asked
}

#[test]
fn damaged_and_unknown_entries_go_to_the_application_and_are_counted() {
    let shop = Shop::response_bank("");
    let written = shop.written("/shoes");
    let (key, _) = shop.key("/shoes");
    let (flags, entry) = shop.memcached.get(&key).unwrap();
    assert_eq!(flags, 0);
    // Dalli 5 marks text so.
    assert!(!asked_for(&shop, &key, 4, &entry));
    let (mut total, mut unused) = (0, 0);
    let mut cuts: Vec<usize> = (0..entry.len()).step_by(7).collect();
    cuts.extend([1, entry.len() - 1]);
    for cut in cuts {
        assert!(asked_for(&shop, &key, 0, &entry[..cut]), "an entry of which only {cut} bytes are left was served");
        unused += 1;
    }
    for (flags, value) in
        [(0, &b""[..]), (0, b"a page"), (0, b"\x90"), (0, b"\xc0"), (1, &entry), (2, &entry), (3, &entry)]
    {
        assert!(asked_for(&shop, &key, flags, value), "{flags} {value:?}");
        unused += 1;
    }
    let longer = [&entry[..], b"\0"].concat();
    assert!(asked_for(&shop, &key, 0, &longer), "bytes after the entry");
    unused += 1;
    for name in ["damaged", "unknown"] {
        total += outcome(&shop.front, name);
    }
    assert_eq!(
        total,
        unused,
        "{} damaged, {} unknown",
        outcome(&shop.front, "damaged"),
        outcome(&shop.front, "unknown")
    );
    shop.memcached.set(&key, 0, &entry);
    assert_eq!(from_page(shop.get("/shoes"), "page").body, written.body);
}

#[test]
fn a_page_that_is_larger_than_the_limit_goes_to_the_application() {
    let shop = Shop::response_bank("value_bytes = 20000");
    for (bytes, large) in [(9_000, false), (30_000, true)] {
        shop.memcached.flush();
        shop.rails.set(json!({ "bytes": bytes }));
        shop.written("/noise");
        let told = shop.get("/noise").expect(200);
        assert_eq!(told.header("x-cache").is_some(), large, "{bytes}: {:?}", told.headers);
    }
    assert_eq!(outcome(&shop.front, "too_large"), 1);
    // A body that is small as it lies, and large when it is decoded.
    shop.rails.set(json!({ "lines": 2000 }));
    shop.written("/shoes");
    let plain =
        |shop: &Shop| shop.front.ask("GET", "/shoes", &[("Host", "shop.example"), ("Accept-Encoding", "br;q=0")], b"");
    let told = plain(&shop).expect(200);
    assert!(told.header("x-cache").is_some(), "{:?}", told.headers);
    assert_eq!(outcome(&shop.front, "too_large"), 2);
    from_page(shop.get("/shoes").expect(200), "page");
}

#[test]
fn a_status_that_pages_do_not_have_goes_to_the_application() {
    let shop = Shop::response_bank("");
    shop.written("/shoes");
    let (key, _) = shop.key("/shoes");
    let (_, entry) = shop.memcached.get(&key).unwrap();
    // 200 is written as `cc c8`. 199 is a status that says nothing, 204 has no body, 226 is fine.
    assert_eq!(entry[1..3], [0xcc, 200]);
    for status in [100, 199, 204] {
        let changed = [&[entry[0], 0xcc, status], &entry[3..]].concat();
        assert!(asked_for(&shop, &key, 0, &changed), "{status}");
    }
    assert_eq!(outcome(&shop.front, "status") + outcome(&shop.front, "unknown") + outcome(&shop.front, "damaged"), 3);
}
