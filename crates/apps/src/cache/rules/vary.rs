//! `Vary` (RFC 9111, 4.1): the request headers that select a response, as the request had them for which it was made.
//!
//! Values are compared as lists: white space around commas and the lines of a list do not matter, and neither does the order in
//! `Accept-Encoding`. An application may read a value otherwise, so nothing else is left out: `a,` and `a` differ. Values that are no
//! lists, such as cookies, are compared byte by byte.

use super::fields::{Fields, elements, joined, joined_by, parts};
use http::{HeaderMap, HeaderName, header};

/// A response with more names is not stored.
const MOST_NAMES: usize = 16;

/// Names that the key has already.
const IN_THE_KEY: [&str; 3] = ["host", "x-forwarded-host", "x-forwarded-proto"];
/// Names that do not reach the application as the client sent them.
const NOT_AS_SENT: [&str; 5] = ["forwarded", "x-forwarded-for", "x-real-ip", "x-request-start", "connection"];
/// Names whose values have no case and no white space.
const PREFERENCES: [&str; 4] = ["accept", "accept-charset", "accept-encoding", "accept-language"];
/// Of these, names whose values have no order: applications take the first of equal languages and types.
const UNORDERED: [&str; 2] = ["accept-charset", "accept-encoding"];
/// Names whose values are no lists.
const EXACT: [&str; 5] = ["authorization", "cookie", "origin", "referer", "user-agent"];

/// The request headers that select a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Vary(Box<[Selecting]>);

/// One of them. `None`: the request did not have it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Selecting {
    name: HeaderName,
    /// The lines as they were sent: most requests have the same one.
    sent: Option<Box<[u8]>>,
    normal: Option<Box<[u8]>>,
}

impl Vary {
    /// The `Vary` of a response to a request with these headers. `None`: it selects by `*`, by too much, or by headers that do not reach
    /// the application as the client sent them, so it matches no other request.
    pub(crate) fn of(response: &HeaderMap, request: &dyn Fields) -> Option<Self> {
        let Some(list) = joined(response, header::VARY.as_str()) else { return Some(Self::default()) };
        let mut names: Vec<HeaderName> = Vec::new();
        for name in elements(&list)? {
            let name = HeaderName::from_bytes(name).ok().filter(|name| *name != "*" && !is(&NOT_AS_SENT, name))?;
            if !is(&IN_THE_KEY, &name) && !names.contains(&name) {
                names.push(name);
            }
        }
        let selecting = |name: HeaderName| {
            let normal = normal(request, &name).map(Vec::into_boxed_slice);
            Selecting { sent: lines(request, &name).map(Vec::into_boxed_slice), normal, name }
        };
        (names.len() <= MOST_NAMES).then(|| Self(names.into_iter().map(selecting).collect()))
    }

    /// Whether a request has the same values.
    pub(crate) fn matches(&self, request: &dyn Fields) -> bool {
        self.0.iter().all(|selecting| {
            selecting.is_as_sent(request) || selecting.normal.as_deref() == normal(request, &selecting.name).as_deref()
        })
    }

    /// The values of a request, such that two requests with the same ones get the same response.
    pub(crate) fn values(&self, request: &dyn Fields) -> Vec<u8> {
        let mut values = Vec::new();
        for Selecting { name, .. } in &self.0 {
            values.extend_from_slice(name.as_str().as_bytes());
            // No value of a header has these bytes.
            if let Some(normal) = normal(request, name) {
                values.push(b'\n');
                values.extend_from_slice(&normal);
            }
            values.push(0);
        }
        values
    }

    /// Bytes that this takes.
    pub(crate) fn weight(&self) -> usize {
        let len = |value: &Option<Box<[u8]>>| value.as_deref().map_or(0, <[u8]>::len);
        self.0
            .iter()
            .map(|one| size_of::<Selecting>() + one.name.as_str().len() + len(&one.sent) + len(&one.normal))
            .sum()
    }
}

impl Selecting {
    /// Whether the request has the very bytes, without an allocation.
    fn is_as_sent(&self, request: &dyn Fields) -> bool {
        let (mut lines, mut same) = (0, false);
        request.each(self.name.as_str(), &mut |value| {
            lines += 1;
            same = self.sent.as_deref() == Some(value);
        });
        if lines == 0 { self.sent.is_none() } else { lines == 1 && same }
    }
}

fn is(names: &[&str], name: &HeaderName) -> bool {
    names.contains(&name.as_str())
}

/// All lines of a header, with a byte between them that no value has.
fn lines(request: &dyn Fields, name: &HeaderName) -> Option<Vec<u8>> {
    joined_by(b"\n", request, name.as_str())
}

/// The value of a header such that two values that mean the same are the same bytes.
fn normal(request: &dyn Fields, name: &HeaderName) -> Option<Vec<u8>> {
    if is(&EXACT, name) {
        return lines(request, name);
    }
    let mut value = joined(request, name.as_str())?;
    if is(&PREFERENCES, name) {
        value.make_ascii_lowercase();
    }
    let Some(mut list) = parts(&value).map(|list| list.into_iter().map(<[u8]>::to_vec).collect::<Vec<_>>()) else {
        return Some(value);
    };
    if is(&PREFERENCES, name) {
        for element in &mut list {
            element.retain(|byte| !byte.is_ascii_whitespace());
        }
    }
    if is(&UNORDERED, name) {
        list.retain(|element| !element.is_empty());
        list.sort_unstable();
        list.dedup();
    }
    Some(list.join(&b','))
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

    fn match_each_other(vary: &str, one: &[(&'static str, &str)], other: &[(&'static str, &str)]) -> bool {
        let (response, one, other) = (headers(&[("vary", vary)]), headers(one), headers(other));
        let (first, second) = (Vary::of(&response, &one).unwrap(), Vary::of(&response, &other).unwrap());
        let matches = first.matches(&other);
        assert_eq!(second.matches(&one), matches);
        assert_eq!(first.values(&one) == second.values(&other), matches);
        assert!(first.matches(&one) && second.matches(&other));
        matches
    }

    #[test]
    fn values_that_mean_the_same_match() {
        for (vary, one, other) in [
            ("Foo", &[("foo", "1, 2")][..], &[("foo", "1"), ("foo", "2")][..]),
            ("foo", &[("foo", "1,2")], &[("foo", " 1, 2 ")]),
            ("accept-language", &[("accept-language", "en, de")], &[("accept-language", "En ,  dE")]),
            ("Accept-Encoding", &[("accept-encoding", "gzip;q=1, br")], &[("accept-encoding", "br, gzip; q=1")]),
            ("foo, bar", &[("foo", "1")], &[("foo", "1"), ("other", "2")]),
            ("x-forwarded-proto, host", &[("host", "a")], &[("host", "b")]),
            ("", &[("foo", "1")], &[]),
        ] {
            assert!(match_each_other(vary, one, other), "{vary} {one:?} {other:?}");
        }
    }

    #[test]
    fn other_values_do_not_match() {
        for (vary, one, other) in [
            ("foo", &[("foo", "1")][..], &[("foo", "2")][..]),
            ("foo", &[("foo", "1")], &[]),
            ("foo", &[("foo", "")], &[]),
            ("foo", &[("foo", "a")], &[("foo", "A")]),
            ("foo", &[("foo", "1, 2")], &[("foo", "2, 1")]),
            ("foo, bar", &[("foo", "1"), ("bar", "2")], &[("foo", "2"), ("bar", "1")]),
            ("cookie", &[("cookie", "a=1, 2")], &[("cookie", "a=1,2")]),
            ("cookie", &[("cookie", "a=1"), ("cookie", "b=2")], &[("cookie", "a=1, b=2")]),
            ("foo", &[("foo", "a,")], &[("foo", "a")]),
            ("foo", &[("foo", ",")], &[("foo", "")]),
            ("origin", &[("origin", "https://a ,")], &[("origin", "https://a")]),
            ("accept", &[("accept", "text/html, text/plain")], &[("accept", "text/plain, text/html")]),
            ("accept-encoding", &[("accept-encoding", "gzip;q=0")], &[("accept-encoding", "gzip")]),
        ] {
            assert!(!match_each_other(vary, one, other), "{vary} {one:?} {other:?}");
        }
    }

    #[test]
    fn a_star_anywhere_and_headers_that_are_not_passed_on_as_sent_match_nothing() {
        for lines in [
            &["*"][..],
            &["*, *"],
            &["*", "*"],
            &[", *"],
            &["", "*"],
            &["*, foo"],
            &["foo, *"],
            &["X-Forwarded-For"],
            &["a b"],
            &["\"a"],
        ] {
            let lines: Vec<_> = lines.iter().map(|line| ("vary", *line)).collect();
            assert_eq!(Vary::of(&headers(&lines), &HeaderMap::new()), None, "{lines:?}");
        }
    }
}
