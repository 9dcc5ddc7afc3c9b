//! What a request says about stored responses (RFC 9111, 5.2.1 and 5.4), and whether it has to do with them at all.

use super::directives::Directives;
use super::fields::{Fields, has};
use http::{HeaderMap, Method, header};

/// Headers by which some frameworks choose the method. A response to such a request is not one to its URL.
const OVERRIDES: [&str; 3] = ["x-http-method-override", "x-method-override", "x-http-method"];

/// What a request says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The directives of `Cache-Control`; without that field `Pragma: no-cache` is one (RFC 9111, 5.4).
    pub(crate) directives: Directives,
    /// It is a `HEAD`.
    pub(crate) head: bool,
    /// It has credentials in `Authorization`.
    pub(crate) authorized: bool,
    /// It has `Cookie` or `Authorization`: the response may be for one user.
    pub(crate) personal: bool,
    /// It asks for a part.
    pub(crate) range: bool,
    /// It has conditions.
    pub(crate) conditional: bool,
}

impl Asked {
    /// Reads a request. `None`: the cache has nothing to do with it.
    pub(crate) fn of(method: &Method, headers: &HeaderMap, has_body: bool) -> Option<Self> {
        let reads = *method == Method::GET || *method == Method::HEAD;
        // To applications behind CGI or Rack, a name with `_` is the same as one with `-`, but not to `Vary`.
        let shadows = || headers.keys().any(|name| name.as_str().contains('_'));
        if !reads || has_body || overrides(headers) || shadows() {
            return None;
        }
        let authorized = headers.contains_key(header::AUTHORIZATION);
        Some(Self {
            directives: directives(headers),
            head: *method == Method::HEAD,
            authorized,
            personal: authorized || headers.contains_key(header::COOKIE),
            range: headers.contains_key(header::RANGE),
            conditional: [
                header::IF_NONE_MATCH,
                header::IF_MODIFIED_SINCE,
                header::IF_MATCH,
                header::IF_UNMODIFIED_SINCE,
            ]
            .iter()
            .any(|name| headers.contains_key(name)),
        })
    }
}

/// Whether the request names another method in a header.
pub(crate) fn overrides(fields: &dyn Fields) -> bool {
    OVERRIDES.iter().any(|name| has(fields, name))
}

/// The directives of a request.
pub(crate) fn directives(fields: &dyn Fields) -> Directives {
    let mut directives = Directives::of(fields, "cache-control");
    if !has(fields, "cache-control") {
        directives.no_cache = Directives::of(fields, "pragma").no_cache;
    }
    directives
}

/// Whether the request says nothing that a fresh response would have to be compared with: most requests have none of these headers.
pub(crate) fn is_silent(fields: &dyn Fields) -> bool {
    !has(fields, "cache-control") && !has(fields, "pragma")
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;

    fn asked(method: Method, lines: &[(&'static str, &str)]) -> Option<Asked> {
        let headers = lines.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        Asked::of(&method, &headers.collect(), false)
    }

    #[test]
    fn only_plain_reads_have_to_do_with_the_cache() {
        assert!(asked(Method::GET, &[]).is_some() && asked(Method::HEAD, &[]).unwrap().head);
        assert_eq!(asked(Method::POST, &[]), None);
        assert_eq!(asked(Method::GET, &[("x-http-method-override", "DELETE")]), None);
        assert_eq!(asked(Method::GET, &[("accept_language", "x")]), None);
        assert_eq!(Asked::of(&Method::GET, &HeaderMap::new(), true), None);
    }

    #[test]
    fn pragma_counts_only_without_cache_control() {
        let no_cache = |lines: &[(&'static str, &str)]| asked(Method::GET, lines).unwrap().directives.no_cache;
        assert!(no_cache(&[("pragma", "no-cache")]) && no_cache(&[("cache-control", "no-cache")]));
        assert!(!no_cache(&[("pragma", "no-cache"), ("cache-control", "x")]) && !no_cache(&[("pragma", "x")]));
    }

    #[test]
    fn a_cookie_is_personal_and_only_authorization_is_authorized() {
        let of = |name| asked(Method::GET, &[(name, "x")]).map(|asked| (asked.personal, asked.authorized));
        assert_eq!(
            [of("cookie"), of("authorization"), of("range")].map(Option::unwrap),
            [(true, false), (true, true), (false, false)]
        );
    }
}
