//! Whether a response may be stored (RFC 9111, 3), more strictly than it must be: only with a lifetime that the application names, and
//! never with a cookie.

use super::asked::Asked;
use super::freshness::{Exchanged, Freshness};
use super::policy::Policy;
use super::tags::Tags;
use super::validation::has_validator;
use super::vary::Vary;
use http::{HeaderMap, StatusCode, header};
use telemetry::Millis;

telemetry::closed_list! {
    /// Why a response is not stored, as `detail` of `Cache-Status` has it.
    pub(crate) enum Unstorable {
        /// The request or the response says `no-store`.
        NoStore = "no-store",
        /// The response is for one user.
        Private = "private",
        /// The response sets a cookie.
        SetCookie = "set-cookie",
        /// The request had credentials, and the response does not allow them (RFC 9111, 3.5).
        Authorization = "authorization",
        /// It is a part, an answer to a condition, or about this request only.
        Status = "status",
        /// Anything may change it, or headers that do not reach the application as the client sent them.
        Vary = "vary",
        /// It names no lifetime.
        NoLifetime = "no-lifetime",
        /// It could not be used once.
        Stale = "stale",
        /// It has more tags than can be kept exactly.
        Tags = "tags",
        /// It is too large.
        Size = "size",
        /// Its body has no end, or is a file.
        Body = "body",
    }
}

/// Statuses whose meaning in a cache is known, for `must-understand` (RFC 9111, 5.2.2.3).
const UNDERSTOOD: [u16; 16] = [200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 404, 405, 410, 414, 451, 501];

/// Statuses that are about a part, a condition, a client or one request, and not about the URL.
const OF_ONE_REQUEST: [u16; 17] = [206, 304, 401, 407, 408, 411, 412, 413, 416, 417, 421, 425, 426, 428, 429, 431, 511];

/// All that is needed to store a response.
#[derive(Debug)]
pub(crate) struct Storable {
    pub(crate) policy: Policy,
    pub(crate) freshness: Freshness,
    pub(crate) vary: Vary,
    pub(crate) tags: Tags,
}

impl Storable {
    /// For a response that is made for one reply and is not stored.
    pub(crate) fn for_one(headers: &HeaderMap, at: Exchanged) -> Self {
        let freshness = Freshness::of(headers, 0, at);
        Self { policy: Policy::default(), freshness, vary: Vary::default(), tags: Tags::default() }
    }

    /// Whether requests that wait for the response can use it.
    pub(crate) fn is_shared(&self, now: Millis) -> bool {
        self.freshness.is_fresh(now) && !self.policy.directives.no_cache
    }
}

/// Decides about the response to a `GET`. `sent`: the headers that the application got.
pub(crate) fn storable(
    asked: &Asked,
    sent: &HeaderMap,
    status: StatusCode,
    headers: &HeaderMap,
    policy: Policy,
    at: Exchanged,
) -> Result<Storable, Unstorable> {
    let directives = &policy.directives;
    let understood = directives.must_understand && UNDERSTOOD.contains(&status.as_u16());
    if asked.directives.no_store || (directives.no_store && !understood) {
        return Err(Unstorable::NoStore);
    }
    if directives.must_understand && !understood {
        return Err(Unstorable::Status);
    }
    if status.is_informational() || OF_ONE_REQUEST.contains(&status.as_u16()) || asked.range {
        return Err(Unstorable::Status);
    }
    if directives.private {
        return Err(Unstorable::Private);
    }
    if headers.contains_key(header::SET_COOKIE) {
        return Err(Unstorable::SetCookie);
    }
    if asked.authorized && !(directives.public || directives.must_revalidate || directives.s_maxage.is_some()) {
        return Err(Unstorable::Authorization);
    }
    let vary = Vary::of(headers, sent).ok_or(Unstorable::Vary)?;
    let validated = has_validator(headers);
    let lifetime = match policy.lifetime {
        Some(lifetime) => lifetime,
        None if directives.no_cache && validated => 0,
        None => return Err(Unstorable::NoLifetime),
    };
    let freshness = Freshness::of(headers, lifetime, at);
    let is_fresh = freshness.is_fresh(at.answered) && !directives.no_cache;
    if !is_fresh && !validated && directives.stale_while_revalidate.max(directives.stale_if_error).unwrap_or(0) == 0 {
        return Err(Unstorable::Stale);
    }
    let tags = Tags::of(headers).ok_or(Unstorable::Tags)?;
    Ok(Storable { policy, freshness, vary, tags })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, Method};

    const AT: Exchanged = Exchanged { asked: Millis(1_793_534_400_000), answered: Millis(1_793_534_400_000) };

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    fn decide(
        request: &[(&'static str, &str)],
        status: u16,
        response: &[(&'static str, &str)],
    ) -> Result<(), Unstorable> {
        let (sent, headers) = (headers(request), headers(response));
        let asked = Asked::of(&Method::GET, &sent, false).unwrap();
        let policy = Policy::of(&headers, AT.answered.seconds());
        storable(&asked, &sent, StatusCode::from_u16(status).unwrap(), &headers, policy, AT).map(drop)
    }

    const FRESH: (&str, &str) = ("cache-control", "max-age=60");

    #[test]
    fn only_a_named_lifetime_is_stored_or_something_that_is_validated_each_time() {
        for (response, expected) in [
            (&[FRESH][..], Ok(())),
            (&[("expires", "Sun, 01 Nov 2026 12:00:30 GMT")], Ok(())),
            (&[("last-modified", "Sun, 01 Nov 2020 12:00:30 GMT"), ("etag", "\"x\"")], Err(Unstorable::NoLifetime)),
            (&[("cache-control", "public")], Err(Unstorable::NoLifetime)),
            (&[("cache-control", "no-cache")], Err(Unstorable::NoLifetime)),
            (&[("cache-control", "no-cache"), ("etag", "\"x\"")], Ok(())),
            (&[("cache-control", "max-age=0")], Err(Unstorable::Stale)),
            (&[FRESH, ("age", "60")], Err(Unstorable::Stale)),
            (&[("cache-control", "max-age=0"), ("etag", "\"x\"")], Ok(())),
            (&[("cache-control", "max-age=0, stale-while-revalidate=5")], Ok(())),
            (&[("cache-control", "max-age=60, no-cache")], Err(Unstorable::Stale)),
        ] {
            assert_eq!(decide(&[], 200, response), expected, "{response:?}");
        }
    }

    #[test]
    fn nothing_of_one_user_is_stored() {
        for (request, response, expected) in [
            (&[][..], &[FRESH, ("set-cookie", "a=b")][..], Err(Unstorable::SetCookie)),
            (&[], &[("cache-control", "max-age=60, private")], Err(Unstorable::Private)),
            (&[], &[("cache-control", "max-age=60, private=\"x\"")], Ok(())),
            (&[], &[("cache-control", "max-age=60, no-store")], Err(Unstorable::NoStore)),
            (&[("cache-control", "no-store")], &[FRESH], Err(Unstorable::NoStore)),
            (&[("cookie", "a=b")], &[FRESH], Ok(())),
            (&[("authorization", "x")], &[FRESH], Err(Unstorable::Authorization)),
            (&[("authorization", "x")], &[("cdn-cache-control", "max-age=60")], Err(Unstorable::Authorization)),
            (&[("authorization", "x")], &[("cache-control", "max-age=60, public")], Ok(())),
            (&[("authorization", "x")], &[("cache-control", "max-age=60, must-revalidate")], Ok(())),
            (&[("authorization", "x")], &[("cache-control", "s-maxage=60")], Ok(())),
            (&[], &[FRESH, ("vary", "a, *")], Err(Unstorable::Vary)),
        ] {
            assert_eq!(decide(request, 200, response), expected, "{request:?} {response:?}");
        }
    }

    #[test]
    fn statuses_about_one_request_are_not_stored_and_an_unknown_one_is_unless_it_must_be_understood() {
        for status in [200, 204, 299, 301, 302, 308, 400, 404, 410, 499, 500, 503, 599] {
            assert_eq!(decide(&[], status, &[FRESH]), Ok(()), "{status}");
        }
        for status in OF_ONE_REQUEST {
            assert_eq!(decide(&[], status, &[FRESH]), Err(Unstorable::Status), "{status}");
        }
        let must = [("cache-control", "max-age=60, no-store, must-understand")];
        assert_eq!((decide(&[], 200, &must), decide(&[], 599, &must)), (Ok(()), Err(Unstorable::NoStore)));
        assert_eq!(decide(&[("range", "bytes=0-1")], 200, &[FRESH]), Err(Unstorable::Status));
    }
}
