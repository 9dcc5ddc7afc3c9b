//! The headers of a response as they are stored, and as a 304 changes them (RFC 9111, 3.1 and 3.2).

use super::directives::Directives;
use super::policy::DAYLIGHT;
use super::tags::TAG_FIELDS;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Headers that describe the stored bytes, which a 304 does not change.
const OF_THE_BYTES: [HeaderName; 3] = [header::CONTENT_LENGTH, header::CONTENT_ENCODING, header::CONTENT_RANGE];

/// Removes the headers that are for this cache alone. Clients do not get them.
pub(crate) fn for_clients(headers: &mut HeaderMap) {
    TAG_FIELDS.iter().for_each(|name| drop(headers.remove(*name)));
    headers.remove(DAYLIGHT);
}

/// The headers that are stored: without the ones that the directives exclude, the ones that differ in each reply. They are copies: the
/// values of a response share the whole buffer of its connection.
pub(crate) fn for_storage(headers: &HeaderMap, directives: &Directives) -> HeaderMap {
    const OF_A_REPLY: [HeaderName; 4] = [header::AGE, header::SET_COOKIE, header::CONTENT_LENGTH, header::TRAILER];
    let is_kept = |name: &HeaderName| !OF_A_REPLY.contains(name) && !directives.unstored.contains(name);
    let kept = || headers.iter().filter(|(name, _)| is_kept(name));
    let all: Vec<u8> = kept().flat_map(|(_, value)| value.as_bytes()).copied().collect();
    let (mut values, mut copies) = (Bytes::from(all.into_boxed_slice()), HeaderMap::with_capacity(kept().count()));
    for (name, value) in kept() {
        if let Ok(copy) = HeaderValue::from_maybe_shared(values.split_to(value.len())) {
            copies.append(name.clone(), copy);
        }
    }
    copies
}

/// The headers of a stored response after a 304: each header that the 304 has replaces all lines of its name.
pub(crate) fn after_304(stored: &HeaderMap, not_modified: &HeaderMap) -> HeaderMap {
    let mut headers = stored.clone();
    let newer = || not_modified.iter().filter(|(name, _)| !OF_THE_BYTES.contains(name));
    newer().for_each(|(name, _)| drop(headers.remove(name)));
    for (name, value) in newer() {
        headers.append(name, value.clone());
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn excluded_headers_and_tags_are_not_stored() {
        let response = headers(&[
            ("cache-control", "max-age=5, no-cache=\"a\", private=\"b\""),
            ("a", "1"),
            ("b", "2"),
            ("c", "3"),
            ("age", "4"),
            ("surrogate-key", "x"),
            ("cache-tag", "y"),
            ("daylight-cache-control", "max-age=9"),
            ("content-length", "7"),
        ]);
        let directives = Directives::of(&response, "cache-control");
        let kept = for_storage(&response, &directives);
        let mut shown = kept.clone();
        for_clients(&mut shown);
        assert_eq!(shown, headers(&[("cache-control", "max-age=5, no-cache=\"a\", private=\"b\""), ("c", "3")]));
        // A 304 need not repeat these.
        for (name, value) in [("surrogate-key", "x"), ("cache-tag", "y"), ("daylight-cache-control", "max-age=9")] {
            assert_eq!(kept[name], value);
        }
    }

    #[test]
    fn a_304_replaces_its_headers_and_leaves_the_ones_of_the_bytes() {
        let stored = headers(&[("a", "1"), ("a", "2"), ("b", "3"), ("content-encoding", "gzip")]);
        let newer = headers(&[("a", "9"), ("c", "4"), ("c", "5"), ("content-length", "0"), ("content-encoding", "br")]);
        let expected = headers(&[("a", "9"), ("b", "3"), ("content-encoding", "gzip"), ("c", "4"), ("c", "5")]);
        assert_eq!(after_304(&stored, &newer), expected);
    }
}
