//! The directives of `Cache-Control`, of requests and of responses (RFC 9111, 5.2).
//!
//! A lifetime that cannot be read counts as 0, and so do two different ones: RFC 9111, 4.2.1 encourages both. A field whose quoted
//! string does not end might hide a `no-store`, so it counts as one.

use super::fields::{Fields, elements, joined};
use http::HeaderName;
use std::borrow::Cow;

/// The longest time that is told apart, in seconds: RFC 9111, 1.2.2 has this number for longer ones.
pub(crate) const LONGEST: u64 = 1 << 31;

/// The directives that a cache reads. Times are in seconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Directives {
    pub(crate) no_store: bool,
    /// Without field names.
    pub(crate) no_cache: bool,
    /// Without field names.
    pub(crate) private: bool,
    pub(crate) public: bool,
    pub(crate) must_revalidate: bool,
    pub(crate) proxy_revalidate: bool,
    pub(crate) must_understand: bool,
    pub(crate) only_if_cached: bool,
    pub(crate) max_age: Option<u64>,
    pub(crate) s_maxage: Option<u64>,
    /// Without a value: any staleness, [`LONGEST`].
    pub(crate) max_stale: Option<u64>,
    pub(crate) min_fresh: Option<u64>,
    /// RFC 5861, 3.
    pub(crate) stale_while_revalidate: Option<u64>,
    /// RFC 5861, 4.
    pub(crate) stale_if_error: Option<u64>,
    /// The fields that `no-cache` and `private` name.
    pub(crate) unstored: Vec<HeaderName>,
}

/// The argument of a directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Argument<'a> {
    /// There is none.
    None,
    /// A token, or a number.
    Token(&'a [u8]),
    /// A quoted string, which may also have a number (RFC 9111, 5.2).
    Quoted(Cow<'a, [u8]>),
    /// A string of a structured field, which is never a number (RFC 9213, 2.1).
    Text(Vec<u8>),
    /// White space around the `=`, a quote that does not end: nothing that can be read.
    Invalid,
}

impl Directives {
    /// Reads a field, all its lines together.
    pub(crate) fn of(fields: &dyn Fields, name: &str) -> Self {
        let mut directives = Self::default();
        let Some(list) = joined(fields, name) else { return directives };
        let Some(elements) = elements(&list) else {
            directives.no_store = true;
            return directives;
        };
        for element in elements {
            let (name, argument) = split(element);
            if let Ok(name) = std::str::from_utf8(name) {
                directives.set(&name.to_ascii_lowercase(), &argument);
            }
        }
        directives
    }

    /// Adds a directive.
    pub(crate) fn set(&mut self, name: &str, argument: &Argument<'_>) {
        let seconds = argument.seconds();
        match name {
            "no-store" => self.no_store = true,
            "public" => self.public = true,
            "must-revalidate" => self.must_revalidate = true,
            "proxy-revalidate" => self.proxy_revalidate = true,
            "must-understand" => self.must_understand = true,
            "only-if-cached" => self.only_if_cached = true,
            "no-cache" => match argument.names() {
                Some(names) => self.unstored.extend(names),
                None => self.no_cache = true,
            },
            "private" => match argument.names() {
                Some(names) => self.unstored.extend(names),
                None => self.private = true,
            },
            "max-age" => one(&mut self.max_age, seconds.unwrap_or(0)),
            "s-maxage" => one(&mut self.s_maxage, seconds.unwrap_or(0)),
            "max-stale" if *argument == Argument::None => self.max_stale = Some(LONGEST),
            "max-stale" => one(&mut self.max_stale, seconds.unwrap_or(0)),
            "min-fresh" => one(&mut self.min_fresh, seconds.unwrap_or(0)),
            "stale-while-revalidate" => one(&mut self.stale_while_revalidate, seconds.unwrap_or(0)),
            "stale-if-error" => one(&mut self.stale_if_error, seconds.unwrap_or(0)),
            _ => {}
        }
    }
}

/// Two different times are none.
fn one(time: &mut Option<u64>, next: u64) {
    *time = Some(if time.is_some_and(|time| time != next) { 0 } else { next });
}

/// The name of a directive and its argument.
fn split(element: &[u8]) -> (&[u8], Argument<'_>) {
    let Some(at) = element.iter().position(|byte| *byte == b'=') else { return (element, Argument::None) };
    let (name, argument) = (&element[..at], &element[at + 1..]);
    if name.last().is_some_and(u8::is_ascii_whitespace) || argument.first().is_some_and(u8::is_ascii_whitespace) {
        return (name.trim_ascii(), Argument::Invalid);
    }
    match argument {
        [b'"', text @ .., b'"'] => (name, Argument::Quoted(unescaped(text))),
        _ if argument.contains(&b'"') => (name, Argument::Invalid),
        token => (name, Argument::Token(token)),
    }
}

/// A quoted string without its backslashes (RFC 9110, 5.6.4).
fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\\') {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut escaped) = (Vec::with_capacity(text.len()), false);
    for byte in text {
        escaped = *byte == b'\\' && !escaped;
        if !escaped {
            plain.push(*byte);
        }
    }
    Cow::Owned(plain)
}

impl Argument<'_> {
    /// The seconds, at most [`LONGEST`].
    fn seconds(&self) -> Option<u64> {
        let digits = match self {
            Self::Token(digits) => digits,
            Self::Quoted(digits) => &**digits,
            Self::None | Self::Text(_) | Self::Invalid => return None,
        };
        seconds(digits)
    }

    /// The names of a list. `None`: there is no list, or not every element is a name, so the directive is about the whole response.
    fn names(&self) -> Option<Vec<HeaderName>> {
        let list = match self {
            Self::Quoted(list) => &**list,
            Self::Text(list) => list,
            Self::None | Self::Token(_) | Self::Invalid => return None,
        };
        let names =
            elements(list)?.into_iter().map(|name| HeaderName::from_bytes(name).ok()).collect::<Option<Vec<_>>>();
        names.filter(|names| !names.is_empty())
    }
}

/// Digits as seconds, at most [`LONGEST`].
pub(crate) fn seconds(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |sum: u64, digit: &u8| (sum * 10 + u64::from(digit - b'0')).min(LONGEST);
    Some(digits.iter().fold(0, add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;
    use proptest::prelude::*;

    fn read(lines: &[&str]) -> Directives {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("cache-control", line.parse().unwrap());
        }
        Directives::of(&headers, "cache-control")
    }

    #[test]
    fn names_have_no_case_and_unknown_directives_change_nothing() {
        let directives = read(&["MaX-aGe=3600, foobar, x=\"y\"", "No-StOrE"]);
        assert_eq!(directives, Directives { max_age: Some(3600), no_store: true, ..Directives::default() });
    }

    #[test]
    fn a_lifetime_is_digits_perhaps_in_double_quotes_and_anything_else_is_none() {
        for (text, seconds) in [
            ("max-age=3600", 3600),
            ("max-age=\"3600\"", 3600),
            ("max-age=003600", 3600),
            ("max-age=99999999999", LONGEST),
            ("max-age=99999999999999999999999999", LONGEST),
            ("max-age=2147483649", LONGEST),
            ("max-age='3600'", 0),
            ("max-age=-3600", 0),
            ("max-age=3600.0", 0),
            ("max-age=a3600", 0),
            ("max-age=3600a", 0),
            ("max-age =3600", 0),
            ("max-age= 3600", 0),
            ("max-age=", 0),
            ("max-age", 0),
            ("max-age=3600\"", 0),
            ("max-age=5, max-age=5", 5),
            ("max-age=1800, max-age=1", 0),
            ("extension=\"max-age=3600\", max-age=1", 1),
            ("max-age=1, extension=\"max-age=3600\"", 1),
        ] {
            let expected = if text.matches('"').count() % 2 == 1 { None } else { Some(seconds) };
            assert_eq!(read(&[text]).max_age, expected, "{text}");
        }
    }

    #[test]
    fn a_quote_without_an_end_hides_no_directive() {
        assert!(read(&["x=\"y, no-store, max-age=100"]).no_store);
    }

    #[test]
    fn fields_can_be_named_and_a_list_of_anything_else_is_the_whole_response() {
        let directives = read(&["no-cache=\"A, b\", private=\"c\""]);
        assert_eq!((directives.no_cache, directives.private), (false, false));
        assert_eq!(directives.unstored, ["a", "b", "c"].map(HeaderName::from_static));
        for text in ["no-cache=\"\"", "no-cache=\"a b\"", "no-cache=a", "no-cache", "no-cache =\"a\""] {
            assert!(read(&[text]).no_cache, "{text}");
        }
    }

    #[test]
    fn max_stale_without_a_value_is_any_staleness() {
        assert_eq!(read(&["max-stale"]).max_stale, Some(LONGEST));
        assert_eq!(read(&["max-stale=5"]).max_stale, Some(5));
    }

    proptest! {
        #[test]
        fn no_field_is_too_strange_and_no_store_alone_is_always_seen(text in "[ -~]{0,60}") {
            if let Ok(value) = text.parse::<http::HeaderValue>() {
                let mut headers = HeaderMap::new();
                headers.append("cache-control", value);
                headers.append("cache-control", "no-store".parse().unwrap());
                prop_assert!(Directives::of(&headers, "cache-control").no_store);
            }
        }
    }
}
