//! Keys and entries that real writers made: tables with their sources are beside this file.

use super::coding::Coding;
use super::key::KeyRule;
use super::response_bank::{Entry, read};
use super::{Page, Unusable};
use bytes::Bytes;
use serde_json::Value;

const KEYS: &str = include_str!("keys.jsonl");
const ENTRIES: &str = include_str!("entries.jsonl");
const LIMIT: usize = 1 << 20;

/// The rows of a table.
fn rows(table: &str) -> impl Iterator<Item = Value> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| serde_json::from_str(line).unwrap())
}

/// A text of a table, whose characters are bytes.
fn bytes(row: &Value, name: &str) -> Vec<u8> {
    row[name].as_str().unwrap().chars().map(|char| u8::try_from(u32::from(char)).unwrap()).collect()
}

/// The entry of a row.
fn entry(row: &Value) -> Bytes {
    let digits = row["entry"].as_str().unwrap();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// The value of a header.
fn header<'a>(page: &'a Page, name: &str) -> Option<&'a [u8]> {
    page.headers.iter().find(|(kept, _)| &**kept == name).map(|(_, value)| &**value)
}

/// Reads the entry of a row, as released clients of memcached write it.
fn read_row(row: &Value) -> Result<Entry, Unusable> {
    read(&entry(row), u32::from(row["form"] == "c61615c2"), LIMIT)
}

#[test]
fn every_rule_makes_the_keys_that_the_writers_made() {
    let mut found = [0; KeyRule::ALL.len()];
    for row in rows(KEYS) {
        let place = KeyRule::ALL.iter().position(|rule| row["rule"] == rule.as_str()).unwrap();
        found[place] += 1;
        let coding = if row["coding"] == "gzip" { Coding::Gzip } else { Coding::Brotli };
        let key = KeyRule::ALL[place].key(&bytes(&row, "path"), &bytes(&row, "query"), coding);
        assert_eq!((row["key"].as_str(), row["tag"].as_str()), (Some(&*key.key), Some(&*key.tag)), "{row}");
    }
    assert_eq!(found, [28, 28, 28, 14, 14]);
}

#[test]
fn every_entry_is_the_page_that_the_application_sent_or_says_why_not() {
    for row in rows(ENTRIES).filter(|row| row["none"].is_null()) {
        let (page, form) = (row["page"].as_str().unwrap(), row["form"].as_str().unwrap());
        let found = read_row(&row);
        match page {
            "app" => assert_eq!(found, Err(Unusable::Metadata)),
            "spliced" | "spliced_app" => assert_eq!(found, Err(Unusable::Spliced)),
            _ => {
                let Entry { page: read, tag } = found.unwrap_or_else(|error| panic!("{error}: {row}"));
                let status = match page {
                    "missing" => 404,
                    "moved" | "moved_with_body" => 301,
                    _ => 200,
                };
                assert_eq!((read.status, read.stored_s), (status, Some(1_790_000_000)), "{row}");
                assert_eq!(read.coding.decode(&read.body, LIMIT), Ok(bytes(&row, "body")), "{row}");
                assert!(matches!(form, "c61615c2" | "1.1.0") || tag.as_deref() == row["tag"].as_str(), "{row}");
                assert!(header(&read, "set-cookie").is_none() && header(&read, "content-encoding").is_none());
            }
        }
    }
    assert_eq!(rows(ENTRIES).filter(|row| row["none"].is_null()).count(), 64);
}

#[test]
fn nothing_was_stored_of_a_page_that_failed() {
    assert!(rows(ENTRIES).all(|row| (row["page"] == "failed") != row["none"].is_null()));
}

#[test]
fn the_headers_are_the_ones_that_were_stored() {
    let page = |form: &str, page: &str| {
        let row = rows(ENTRIES).find(|row| row["form"] == form && row["page"] == page).unwrap();
        read_row(&row).unwrap().page
    };
    let now = page("1.6.0", "page");
    let names: Vec<_> = now.headers.iter().map(|(name, _)| &**name).collect();
    let stored = ["content-type", "etag", "last-modified", "cache-control", "link", "surrogate-keys", "cache-tags"];
    assert!(stored.iter().all(|name| names.contains(name)) && names.len() == stored.len(), "{names:?}");
    assert_eq!(header(&now, "surrogate-keys"), Some(&b"lamps lamp-1"[..]));
    for form in ["c61615c2", "1.1.0"] {
        let moved = page(form, "moved");
        assert_eq!(header(&moved, "location"), Some(&b"/lamps"[..]));
        assert_eq!(header(&moved, "content-type"), Some(&b"text/html"[..]));
        assert_eq!(moved.headers.len(), 2);
    }
    // Its value is nil.
    assert_eq!(header(&page("1.3.6", "empty"), "content-type"), None);
}

#[test]
fn the_entry_of_a_url_is_found_under_the_key_of_its_rule() {
    let rules = [("c61615c2", KeyRule::City), ("1.1.0", KeyRule::Bare), ("1.3.6", KeyRule::Inspected33)];
    for (form, rule) in rules {
        for row in rows(ENTRIES).filter(|row| row["form"] == form && row["none"].is_null()) {
            let coding = if row["accept"] == "gzip" { Coding::Gzip } else { Coding::Brotli };
            let key = rule.key(b"/lamps", b"page=1", coding);
            assert_eq!(row["tag"], *key.tag);
            assert!(row["key"] == *key.key || form != "1.3.6" && row["key"] == *key.tag, "{row}");
        }
    }
}

#[test]
fn an_entry_that_ends_early_is_damaged() {
    for row in rows(ENTRIES).filter(|row| row["none"].is_null() && row["page"] != "page") {
        let whole = entry(&row);
        let flags = u32::from(row["form"] == "c61615c2");
        for end in 1..whole.len() {
            let error = read(&whole.slice(..end), flags, LIMIT).unwrap_err();
            // An object needs its first bytes to be known for one.
            assert!(
                error == Unusable::Damaged || error == Unusable::Spliced || flags == 1 && end < 2,
                "{error}: {row}"
            );
        }
    }
}
