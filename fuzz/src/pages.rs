//! Pages that applications wrote into memcached: entries, codings of bodies, and keys.

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use format::page::coding::Coding;
use format::page::key::{KeyRule, stored_coding};
use format::page::{HEADERS_MAX, HEADERS_MAX_BYTES, Page, Unusable, response_bank};
use std::io::Write as _;

/// A small limit, which small inputs reach.
const LIMIT: usize = 1 << 14;

/// An entry in MessagePack.
pub(crate) fn pack(bytes: &[u8]) {
    entry(bytes, 0);
}

/// An entry in Ruby's form.
pub(crate) fn marshal(bytes: &[u8]) {
    entry(bytes, response_bank::MARSHAL_FLAGS);
}

/// Reads an entry: its page can be sent, and its body lies in the value.
fn entry(bytes: &[u8], flags: u32) {
    let value = Bytes::copy_from_slice(bytes);
    let read = response_bank::read(&value, flags, LIMIT);
    if bytes.len() > LIMIT {
        return assert_eq!(read, Err(Unusable::TooLarge));
    }
    let Ok(entry) = read else { return };
    assert_eq!(response_bank::read(&value, flags, bytes.len() - 1), Err(Unusable::TooLarge));
    page(&value, &entry.page);
    assert!([200, 301, 404].contains(&entry.page.status));
    let etag = entry.page.headers.iter().find(|(name, _)| &**name == "etag");
    assert!(entry.tag.is_none_or(|tag| etag.is_some_and(|(_, value)| String::from_utf8_lossy(value).contains(&tag))));
}

/// A page whose headers and body are parts of the value.
fn page(value: &Bytes, page: &Page) {
    let within =
        |part: &Bytes| part.is_empty() || value.as_ptr_range().contains(&part.as_ptr()) && part.len() <= value.len();
    assert!(within(&page.body) && page.headers.len() <= HEADERS_MAX);
    let sizes = page.headers.iter().map(|(name, value)| name.len() + value.len());
    assert!(sizes.sum::<usize>() <= HEADERS_MAX_BYTES);
    for (name, value) in &page.headers {
        assert!(within(value));
        assert_eq!(http::HeaderName::from_lowercase(name.as_bytes()).unwrap().as_str(), &**name);
        http::HeaderValue::from_bytes(value).unwrap();
        assert!(
            !["set-cookie", "connection", "transfer-encoding", "content-length", "content-encoding"].contains(&&**name)
        );
    }
    if let Ok(body) = page.coding.decode(&page.body, LIMIT) {
        assert!(body.len() <= LIMIT && body.capacity() <= LIMIT);
        assert!(page.coding != Coding::Identity || body == page.body);
    }
}

/// A body in each coding: a decoded body keeps to the limit, and a larger limit changes nothing else.
pub(crate) fn coding(bytes: &[u8]) {
    for coding in [Coding::Gzip, Coding::Brotli] {
        let small = coding.decode(bytes, LIMIT);
        let large = coding.decode(bytes, 16 * LIMIT);
        match (&small, &large) {
            (Ok(body), _) => {
                assert!(body.capacity() <= LIMIT);
                assert_eq!(small, large);
                assert_eq!(coding.decode(bytes, body.len()).as_ref(), Ok(body));
                if let Some(less) = body.len().checked_sub(1) {
                    assert_eq!(coding.decode(bytes, less), Err(Unusable::TooLarge));
                }
            }
            (Err(Unusable::TooLarge), Ok(body)) => assert!(body.len() > LIMIT && body.capacity() <= 16 * LIMIT),
            (Err(Unusable::TooLarge), Err(_)) => {}
            (Err(error), _) => assert_eq!((*error, &small), (Unusable::Damaged, &large)),
        }
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(Coding::Gzip.decode(&packed, bytes.len()).as_deref(), Ok(bytes));
    // Nobody can make a second member or a longer one of it.
    assert_eq!(Coding::Gzip.decode(&[&*packed, &*packed].concat(), 2 * bytes.len()).as_deref(), Ok(&*bytes.repeat(2)));
    assert_eq!(Coding::Gzip.decode(&packed[..packed.len() - 1], bytes.len()), Err(Unusable::Damaged));
}

/// A path and a query: other URLs and other rules have other keys.
pub(crate) fn key(bytes: &[u8]) {
    let place = bytes.iter().position(|byte| *byte == b'?');
    let (path, query) = place.map_or((bytes, &[][..]), |place| (&bytes[..place], &bytes[place + 1..]));
    let coding = stored_coding(query);
    assert!(coding != Coding::Identity);
    let mut all: Vec<String> = Vec::new();
    for rule in KeyRule::ALL {
        for (path, query) in [(path, query), (&[path, b"x"].concat(), query), (path, &[query, b"x"].concat())] {
            let key = rule.key(path, query, coding);
            for key in [key.key, key.tag] {
                let (name, rest) = key.split_once(':').unwrap();
                assert_eq!(name, if rule == KeyRule::City { "cachable" } else { "cacheable" });
                assert!(rest.len() <= 40 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
                all.push(key);
            }
        }
    }
    let keys = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), keys);
}
