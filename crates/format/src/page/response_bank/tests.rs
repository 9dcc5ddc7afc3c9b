//! Entries of every shape, in MessagePack and in Ruby's form.

use super::*;
use std::fmt::Write as _;

/// An array of so many elements.
fn entry(elements: &[Vec<u8>]) -> Bytes {
    let mut out = vec![0x90 | u8::try_from(elements.len()).unwrap()];
    elements.iter().for_each(|element| out.extend_from_slice(element));
    out.into()
}

/// A short text as `str`.
fn str(text: &[u8]) -> Vec<u8> {
    [&[0xd9, u8::try_from(text.len()).unwrap()], text].concat()
}

/// A short text as `bin`.
fn bin(text: &[u8]) -> Vec<u8> {
    [&[0xc4, u8::try_from(text.len()).unwrap()], text].concat()
}

/// A map of so many pairs.
fn map(pairs: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = vec![0x80 | u8::try_from(pairs.len()).unwrap()];
    pairs.iter().for_each(|(name, value)| out.extend([str(name.as_bytes()), value.clone()].concat()));
    out
}

const NIL: [u8; 1] = [0xc0];

fn status() -> Vec<u8> {
    vec![0xcc, 200]
}

fn time() -> Vec<u8> {
    vec![0xce, 0x6a, 0xb1, 0x3b, 0x80]
}

/// Reads an entry with these headers.
fn headers(pairs: &[(&str, Vec<u8>)]) -> Result<Vec<(String, String)>, Unusable> {
    let entry = read(&entry(&[status(), map(pairs), NIL.to_vec(), time()]), 0, 1 << 20)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(entry.page.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect())
}

/// Reads an entry with these elements behind its body.
fn ending(elements: &[Vec<u8>]) -> Result<Entry, Unusable> {
    let first = [status(), map(&[("Content-Type", str(b"text/plain"))]), NIL.to_vec()];
    read(&entry(&[&first, elements].concat()), 0, 1 << 20)
}

#[test]
fn texts_are_read_in_both_kinds_and_headers_without_regard_to_case() {
    let both = [("content-type", str(b"a")), ("Content-Type", bin(b"b")), ("ETAG", str(b"W/\"t\""))];
    let expected =
        [("content-type", "b"), ("etag", "W/\"t\"")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(headers(&both).unwrap(), expected);
    let read = read(&entry(&[status(), map(&both), bin(b""), NIL.to_vec()]), 4, 1 << 20).unwrap();
    assert_eq!((read.tag.as_deref(), read.page.stored_s), (Some("t"), None));
}

#[test]
fn a_list_of_values_is_several_headers_and_no_value_is_none() {
    let list = [&[0x92][..], &str(b"a"), &str(b" b ")].concat();
    let found =
        headers(&[("Link", str(b"before")), ("link", list), ("Expires", NIL.to_vec()), ("Cache-Tags", str(b""))]);
    assert_eq!(found.unwrap(), [("link".to_owned(), "a".to_owned()), ("link".to_owned(), "b".to_owned())]);
}

#[test]
fn headers_of_one_reply_are_left_out_and_those_of_one_client_refuse_the_entry() {
    let left_out = ["Connection", "Keep-Alive", "Transfer-Encoding", "Content-Length", "Date", "Age", "TE", "Upgrade"];
    for name in left_out {
        assert_eq!(headers(&[(name, str(b"1"))]), Ok(Vec::new()), "{name}");
    }
    assert_eq!(headers(&[("Set-Cookie", str(b"a=b"))]), Err(Unusable::Unknown));
    assert_eq!(headers(&[("Content-Encoding", str(b"zstd"))]), Err(Unusable::Unknown));
}

#[test]
fn headers_that_http_does_not_allow_are_damage() {
    for value in ["a\r\nb: c", "a\nb", "a\0b", "\u{7f}"] {
        assert_eq!(headers(&[("Link", str(value.as_bytes()))]), Err(Unusable::Damaged), "{value:?}");
    }
    for name in ["", "a b", "a:b", "a\r\nb", "\u{e9}"] {
        assert_eq!(headers(&[(name, str(b"1"))]), Err(Unusable::Damaged), "{name:?}");
    }
    assert!(headers(&[("Link", str("é\ta".as_bytes()))]).is_ok());
}

#[test]
fn too_many_headers_and_too_many_bytes_are_refused() {
    let mut many = vec![0xde, 0, 65];
    for number in 0..65 {
        let mut name = String::new();
        write!(name, "x-{number}").unwrap();
        many.extend([str(name.as_bytes()), str(b"1")].concat());
    }
    assert_eq!(read(&entry(&[status(), many, NIL.to_vec(), time()]), 0, 1 << 20), Err(Unusable::TooLarge));
    let long = [&[0xda, 0x40, 0][..], &[b'a'; 0x4000]].concat();
    assert_eq!(headers(&[("Link", long)]), Err(Unusable::TooLarge));
    assert_eq!(read(&entry(&[status(), map(&[]), NIL.to_vec(), time()]), 0, 8), Err(Unusable::TooLarge));
}

#[test]
fn data_of_the_sixth_element_are_named() {
    assert!(ending(&[time(), vec![7], NIL.to_vec()]).is_ok());
    let app = ("app", map(&[("rows", vec![0x91, 0x81, 0xa1, b'a', 0xca, 0, 0, 0, 0])]));
    let spliced = ("brotli_splice", map(&[]));
    let other = ("other", vec![0xc3]);
    let sixth = |pairs: &[(&str, Vec<u8>)]| ending(&[time(), NIL.to_vec(), map(pairs)]).map(|entry| entry.page.status);
    assert_eq!(sixth(std::slice::from_ref(&app)), Err(Unusable::Metadata));
    assert_eq!(sixth(&[app.clone(), other.clone()]), Err(Unusable::Unknown));
    assert_eq!(sixth(&[other.clone(), app.clone()]), Err(Unusable::Unknown));
    assert_eq!(sixth(&[app, other, spliced]), Err(Unusable::Spliced));
    assert_eq!(sixth(&[("app", vec![0xdf, 255, 255, 255, 255])]), Err(Unusable::Damaged));
}

#[test]
fn another_status_other_elements_and_other_flags_are_named() {
    let with = |status: Vec<u8>| read(&entry(&[status, map(&[]), NIL.to_vec(), time()]), 0, 1 << 20).map(|_| ());
    assert_eq!(with(vec![0xcd, 1, 46]), Err(Unusable::Status));
    assert_eq!(with(vec![0xff]), Err(Unusable::Status));
    assert_eq!(with(str(b"200")), Err(Unusable::Unknown));
    assert_eq!(ending(&[]), Err(Unusable::Unknown));
    assert_eq!(ending(&[time(), NIL.to_vec(), NIL.to_vec(), NIL.to_vec()]), Err(Unusable::Unknown));
    assert_eq!(ending(&[str(b"now")]), Err(Unusable::Unknown));
    let good = entry(&[status(), map(&[]), NIL.to_vec(), time()]);
    assert_eq!(read(&good, 2, 1 << 20), Err(Unusable::Unknown));
    assert_eq!(read(&good, 1, 1 << 20), Err(Unusable::Unknown));
    assert_eq!(read(&Bytes::from([&good[..], &[0xc0]].concat()), 0, 1 << 20), Err(Unusable::Damaged));
    assert_eq!(read(&Bytes::new(), 0, 1 << 20), Err(Unusable::Damaged));
    // A body of no coding that is known.
    assert_eq!(read(&entry(&[status(), NIL.to_vec(), bin(b"plain"), time()]), 0, 1 << 20), Err(Unusable::Unknown));
}

#[test]
fn rubys_form_is_read_without_its_object_and_nothing_else_of_it() {
    let read = |text: &[u8]| read(&Bytes::copy_from_slice(&[&MARSHAL, text].concat()), 1, 1 << 20);
    let good = b"[\x09i\x02\xc8\x000\"\x000";
    assert_eq!(
        read(good).unwrap().page,
        Page { status: 200, headers: Vec::new(), coding: Coding::Identity, body: Bytes::new(), stored_s: None }
    );
    assert_eq!(read(b"[\x09i\x02\xc8\x000\"\x00l-\x07\x01\x00\x00\x00").unwrap().page.stored_s, Some(-1));
    // A link, another class, a list without end, a depth without end.
    for other in
        [&b"[\x09i\x02\xc8\x00@\x06\"\x000"[..], b"o:\x06A\x00", b"[\x04\xff\xff\xff\x7f", &b"[\x06".repeat(99)]
    {
        assert_eq!(read(other), Err(Unusable::Unknown));
    }
    assert_eq!(read(&[good, &b"0"[..]].concat()), Err(Unusable::Damaged));
    assert_eq!(read(b"o;\x06\x00"), Err(Unusable::Damaged));
    let object = |variable: &[u8]| read(&[b"o: ActiveSupport::Cache::Entry\x06:", variable].concat());
    assert_eq!(object(b"\x10@compressedT"), Err(Unusable::Unknown));
    assert_eq!(object(b"\x10@expires_inf\x0760"), Err(Unusable::Unknown));
    assert_eq!(object(&[b"\x0b@value", &good[..]].concat()).map(|entry| entry.page.status), Ok(200));
}
