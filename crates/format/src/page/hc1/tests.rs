//! Entries of a writer, whole, broken and against the rules.

#[path = "example.rs"]
mod example;

use super::*;
use crate::page::coding::Coding;
use crate::page::{HEADERS_MAX, HEADERS_MAX_BYTES};
use proptest::prelude::*;

const LIMIT: usize = 1 << 20;
/// The numbers of a first line: stored, fresh, stale-while, stale-error.
const NUMBERS: &str = "1700000000 600 60 86400";

/// An entry with these lines, as a writer makes it.
fn written(status: u16, numbers: &str, lines: &[String], body: &[u8]) -> Vec<u8> {
    let mut rest: Vec<u8> = lines.iter().flat_map(|line| [line.as_bytes(), b"\r\n"].concat()).collect();
    rest.extend(b"\r\n");
    rest.extend(body);
    let mut sum = Crc::new();
    sum.update(&rest);
    let first = format!("HC1 {status} {numbers} {} {:08x}\r\n", body.len(), sum.sum());
    [first.as_bytes(), &rest].concat()
}

fn read_bytes(value: &[u8]) -> Result<Entry, Unusable> {
    read(&Bytes::copy_from_slice(value), LIMIT)
}

/// Reads a page with these lines and a short body.
fn with(lines: &[&str]) -> Result<Timed, Unusable> {
    let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    match read_bytes(&written(200, NUMBERS, &lines, b"lamp"))? {
        Entry::Page(page) => Ok(*page),
        Entry::Vary(_) => Err(Unusable::Metadata),
    }
}

/// Reads an entry that varies.
fn varying(lines: &[&str], body: &[u8]) -> Result<Entry, Unusable> {
    let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    read_bytes(&written(0, NUMBERS, &lines, body))
}

#[test]
fn a_page_is_read() {
    let page = with(&[
        "content-type: text/html; charset=utf-8",
        "content-encoding: gzip",
        "x-empty:",
        "link: </a.css>; rel=preload",
        "link:\t</b.css>; rel=preload  ",
        "@tags: lamps  lamp-7",
        "@while: catalog=17 shop/1=x=y",
    ])
    .unwrap();
    let header = |name: &str, value: &'static str| (name.into(), Bytes::from(value));
    let wanted = Timed {
        page: Page {
            status: 200,
            headers: vec![
                header("content-type", "text/html; charset=utf-8"),
                header("x-empty", ""),
                header("link", "</a.css>; rel=preload"),
                header("link", "</b.css>; rel=preload"),
            ],
            coding: Coding::Gzip,
            body: Bytes::from("lamp"),
            stored_s: Some(1_700_000_000),
        },
        fresh_s: 600,
        stale_while_s: 60,
        stale_error_s: 86_400,
        tags: vec![Bytes::from("lamps"), Bytes::from("lamp-7")],
        counters: vec![header("catalog", "17"), header("shop/1", "x=y")],
    };
    assert_eq!(page, wanted);
    assert_eq!(with(&[]).unwrap().page.headers, []);
}

#[test]
fn lines_that_break_a_rule_are_refused() {
    for line in [
        "Content-Type: text/html",
        "content-type",
        ": x",
        "x : y",
        " x: y",
        "x: a\rb",
        "x: a\0b",
        "x: a\x7fb",
        "@: x",
        "@unknown: x",
        "@Tags: x",
        "@tags: a,b",
        "@tags: é",
        "@while:",
        "@while: catalog",
        "@while: =1",
        "@while: catalog=",
        "@while: a=1 a=2",
        "@while: a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9",
        "content-encoding: deflate",
        "content-encoding: identity",
        "content-encoding: GZIP",
        "content-encoding: gzip, br",
        "content-encoding:",
        "set-cookie: a=b",
        "connection: close",
        "transfer-encoding: chunked",
        "content-length: 4",
        "trailer: x",
        "upgrade: x",
        "age: 1",
        "date: Sun, 06 Nov 1994 08:49:37 GMT",
        "keep-alive: timeout=5",
        "content-range: bytes 0-3/4",
        "x-accel-redirect: /secret",
        "surrogate-key: a",
        "daylight-event: x",
    ] {
        assert_eq!(with(&[line]), Err(Unusable::Unknown), "{line}");
    }
    for line in ["etag: \"a\"", "content-type: text/plain", "content-encoding: gzip", "@tags: a", "@while: a=1"] {
        assert_eq!(with(&[line, line]), Err(Unusable::Unknown), "{line} twice");
    }
    // A line that does not end with CR and LF.
    let mut value = written(200, NUMBERS, &["x: y\nz: z".to_owned()], b"lamp");
    assert_eq!(read_bytes(&value), Err(Unusable::Unknown));
    value = written(200, NUMBERS, &["x: y\r\n\r\nlamp".to_owned()], b"lamp");
    assert_eq!(read_bytes(&value), Err(Unusable::Damaged), "a line that ends the head gives another length");
}

#[test]
fn an_entry_has_limits() {
    let many = |count: usize| (0..count).map(|number| format!("x-{number}: y")).collect::<Vec<_>>();
    assert!(read_bytes(&written(200, NUMBERS, &many(HEADERS_MAX), b"")).is_ok());
    assert_eq!(read_bytes(&written(200, NUMBERS, &many(HEADERS_MAX + 1), b"")), Err(Unusable::TooLarge));
    let long = |bytes: usize| vec![format!("x: {}", "y".repeat(bytes - 5))];
    assert!(read_bytes(&written(200, NUMBERS, &long(HEADERS_MAX_BYTES), b"")).is_ok());
    assert_eq!(read_bytes(&written(200, NUMBERS, &long(HEADERS_MAX_BYTES + 1), b"")), Err(Unusable::TooLarge));
    let tags = |count: usize| format!("@tags: {}", vec!["a"; count].join(" "));
    assert_eq!(with(&[&tags(TAGS_MAX)]).unwrap().tags.len(), TAGS_MAX);
    assert_eq!(with(&[&tags(TAGS_MAX + 1)]), Err(Unusable::TooLarge));
    assert_eq!(with(&[&format!("@tags: {}", "a".repeat(TAG_MAX_BYTES + 1))]), Err(Unusable::TooLarge));
    assert!(with(&[&format!("@while: a={}", "1".repeat(COUNTER_MAX_BYTES))]).is_ok());
    assert_eq!(with(&[&format!("@while: a={}", "1".repeat(COUNTER_MAX_BYTES + 1))]), Err(Unusable::Unknown));
    let value = Bytes::from(written(200, NUMBERS, &[], &[b'x'; 1000]));
    assert!(read(&value, value.len()).is_ok());
    assert_eq!(read(&value, value.len() - 1), Err(Unusable::TooLarge));
}

#[test]
fn an_entry_of_variants_names_headers_and_nothing_else() {
    let names = |names: &[&str]| Ok(Entry::Vary(names.iter().map(|name| (*name).into()).collect()));
    assert_eq!(varying(&["vary: accept-language"], b""), names(&["accept-language"]));
    assert_eq!(varying(&["vary: x-b,accept-language ,  x-a"], b""), names(&["x-b", "accept-language", "x-a"]));
    for lines in [
        &[][..],
        &["vary:"],
        &["vary: *"],
        &["vary: Accept-Language"],
        &["vary: accept-encoding"],
        &["vary: a, a"],
        &["vary: a,,b"],
        &["vary: a b"],
        &["vary: a,b,c,d,e,f,g,h,i"],
        &["content-type: text/html"],
        &["vary: a", "vary: b"],
        &["vary: a", "@tags: b"],
    ] {
        assert_eq!(varying(lines, b""), Err(Unusable::Unknown), "{lines:?}");
    }
    assert_eq!(varying(&["vary: a"], b"lamp"), Err(Unusable::Unknown));
}

#[test]
fn a_body_agrees_with_the_status_and_the_coding() {
    let gzip = ["content-encoding: gzip".to_owned()];
    assert_eq!(read_bytes(&written(200, NUMBERS, &gzip, b"")), Err(Unusable::Unknown));
    assert_eq!(read_bytes(&written(204, NUMBERS, &[], b"lamp")), Err(Unusable::Unknown));
    assert!(read_bytes(&written(204, NUMBERS, &[], b"")).is_ok());
    assert!(read_bytes(&written(301, NUMBERS, &["location: /".to_owned()], b"")).is_ok());
}

/// Status, numbers, headers, tags and body of a page.
type Parts = (u16, [u32; 4], Vec<(String, String)>, Vec<String>, Vec<u8>);

fn pages() -> impl Strategy<Value = Parts> {
    (
        prop_oneof![Just(200_u16), Just(301), Just(404), Just(599)],
        any::<[u32; 4]>(),
        prop::collection::vec(("x-[a-z0-9]{1,10}", "([!-~]([ !-~]{0,20}[!-~])?)?"), 0..6),
        prop::collection::vec("[!-+\\--~]{1,20}", 0..5),
        prop::collection::vec(any::<u8>(), 0..200),
    )
}

proptest! {
    #[test]
    fn a_page_that_a_writer_writes_is_read(
        (status, [stored, fresh, stale, error], headers, tags, body) in pages()
    ) {
        let mut lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        lines.push(format!("@tags: {}", tags.join(" ")));
        let value = written(status, &format!("{stored} {fresh} {stale} {error}"), &lines, &body);
        let Ok(Entry::Page(read)) = read_bytes(&value) else { panic!("{:?}", read_bytes(&value)) };
        prop_assert_eq!(read.page.status, status);
        prop_assert_eq!((read.page.stored_s, read.fresh_s), (Some(i64::from(stored)), fresh));
        prop_assert_eq!((read.stale_while_s, read.stale_error_s), (stale, error));
        let found: Vec<_> = read.page.headers.iter().map(|(n, v)| (n.to_string(), String::from_utf8_lossy(v).into_owned())).collect();
        prop_assert_eq!(found, headers);
        prop_assert_eq!(read.tags.iter().map(|tag| String::from_utf8_lossy(tag).into_owned()).collect::<Vec<_>>(), tags);
        prop_assert_eq!(&read.page.body[..], &body[..]);
    }

    #[test]
    fn a_part_of_an_entry_is_refused((status, [stored, fresh, ..], headers, _, body) in pages(), more in 1_usize..9) {
        let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let value = written(status, &format!("{stored} {fresh} 1 2"), &lines, &body);
        for end in 0..value.len() {
            prop_assert!(read_bytes(&value[..end]).is_err(), "the first {} bytes", end);
        }
        prop_assert_eq!(read_bytes(&[&value[..], &vec![b'x'; more]].concat()), Err(Unusable::Damaged));
    }

    /// The checksum covers all but the first line, whose numbers contradict nothing when they change.
    #[test]
    fn a_changed_entry_is_refused_or_has_the_same_lines_and_body(
        (status, [stored, fresh, ..], headers, tags, body) in pages(), change in 1_u8..=255
    ) {
        let mut lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        lines.push(format!("@tags: {}", tags.join(" ")));
        let mut value = written(status, &format!("{stored} {fresh} 1 2"), &lines, &body);
        let Ok(Entry::Page(whole)) = read_bytes(&value) else { panic!("{:?}", read_bytes(&value)) };
        let first = value.windows(2).position(|two| two == b"\r\n").unwrap() + 2;
        for at in 0..value.len() {
            value[at] ^= change;
            match read_bytes(&value) {
                Ok(Entry::Page(read)) => {
                    prop_assert!(at < first, "byte {} was changed", at);
                    prop_assert_eq!(&read.page.headers, &whole.page.headers);
                    prop_assert_eq!((&read.page.body, &read.tags), (&whole.page.body, &whole.tags));
                }
                Ok(other) => prop_assert!(false, "{:?}", other),
                Err(_) => {}
            }
            value[at] ^= change;
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_bytes(&bytes);
        let _ = read_bytes(&[b"HC1 200 1 2 3 4 5 ", &bytes[..]].concat());
    }
}
