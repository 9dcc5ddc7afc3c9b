//! Validators (RFC 9111, 4.3): which ones a request carries on behalf of a stored response, and whether a 304 is about it.

use http::{HeaderMap, HeaderName, header};

/// The headers that make a request depend on the copy of a client.
const CONDITIONS: [HeaderName; 6] = [
    header::IF_MATCH,
    header::IF_NONE_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_UNMODIFIED_SINCE,
    header::IF_RANGE,
    header::RANGE,
];

/// Whether a response can be validated.
pub(crate) fn has_validator(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ETAG) || headers.contains_key(header::LAST_MODIFIED)
}

/// Removes the conditions of a client: they are answered with the stored response.
pub(crate) fn without_conditions(request: &mut HeaderMap) {
    CONDITIONS.iter().for_each(|name| drop(request.remove(name)));
}

/// Replaces the conditions of a client by the validators of a stored response.
pub(crate) fn validate(request: &mut HeaderMap, stored: &HeaderMap) {
    without_conditions(request);
    let pairs = [(header::ETAG, header::IF_NONE_MATCH), (header::LAST_MODIFIED, header::IF_MODIFIED_SINCE)];
    for (validator, condition) in pairs {
        if let Some(value) = stored.get(validator) {
            request.insert(condition, value.clone());
        }
    }
}

/// Whether a 304 with these headers is about the stored response (RFC 9111, 4.3.4). It need not repeat a validator, but one that it has
/// must be the stored one.
pub(crate) fn is_about(not_modified: &HeaderMap, stored: &HeaderMap) -> bool {
    match (not_modified.get(header::ETAG), not_modified.get(header::LAST_MODIFIED)) {
        (Some(tag), _) => {
            stored.get(header::ETAG).is_some_and(|stored| opaque(stored.as_bytes()) == opaque(tag.as_bytes()))
        }
        (None, Some(modified)) => stored.get(header::LAST_MODIFIED).is_none_or(|stored| stored == modified),
        (None, None) => true,
    }
}

/// Whether the response to a `HEAD` is about the stored response (RFC 9111, 4.3.5): `Some(false)`: it shows that the stored one is no
/// longer current. `None`: it shows nothing.
pub(crate) fn head_is_about(head: &HeaderMap, stored: &HeaderMap, len: usize) -> Option<bool> {
    let both = |name: HeaderName| Some((head.get(&name)?, stored.get(&name)?));
    let length = head.get(header::CONTENT_LENGTH).map(|told| told.as_bytes() == len.to_string().as_bytes());
    let tags = both(header::ETAG).map(|(one, other)| one == other);
    let dates = both(header::LAST_MODIFIED).map(|(one, other)| one == other);
    if [length, tags, dates].contains(&Some(false)) {
        return Some(false);
    }
    tags.or(dates)
}

/// A tag without the mark of a weak one.
fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn the_conditions_of_a_client_are_replaced_by_the_stored_validators() {
        let mut request =
            headers(&[("if-none-match", "\"mine\""), ("if-range", "\"x\""), ("range", "bytes=1-"), ("a", "b")]);
        validate(&mut request, &headers(&[("etag", "W/\"stored\""), ("last-modified", "then"), ("b", "c")]));
        assert_eq!(request, headers(&[("a", "b"), ("if-none-match", "W/\"stored\""), ("if-modified-since", "then")]));
        validate(&mut request, &HeaderMap::new());
        assert_eq!(request, headers(&[("a", "b")]));
    }

    #[test]
    fn a_304_is_about_a_response_unless_its_validator_is_another_one() {
        let stored = headers(&[("etag", "W/\"a\""), ("last-modified", "then")]);
        for (lines, about) in [
            (&[][..], true),
            (&[("etag", "\"a\"")], true),
            (&[("etag", "W/\"a\""), ("last-modified", "now")], true),
            (&[("etag", "\"b\""), ("last-modified", "then")], false),
            (&[("last-modified", "then")], true),
            (&[("last-modified", "now")], false),
        ] {
            assert_eq!(is_about(&headers(lines), &stored), about, "{lines:?}");
        }
    }

    #[test]
    fn the_answer_to_head_confirms_or_outdates_a_response_or_tells_nothing() {
        let stored = headers(&[("etag", "\"a\""), ("last-modified", "then")]);
        for (lines, about) in [
            (&[][..], None),
            (&[("content-length", "5")], None),
            (&[("content-length", "6")], Some(false)),
            (&[("etag", "\"a\""), ("content-length", "5")], Some(true)),
            (&[("etag", "\"b\"")], Some(false)),
            (&[("last-modified", "then")], Some(true)),
            (&[("etag", "\"a\""), ("last-modified", "now")], Some(false)),
        ] {
            assert_eq!(head_is_about(&headers(lines), &stored, 5), about, "{lines:?}");
        }
    }
}
