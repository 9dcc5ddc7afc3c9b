//! What the application says about storing a response: the first valid targeted field (RFC 9213), or `Cache-Control` and `Expires`.

use super::dates;
use super::dictionary::{self, Value};
use super::directives::{Argument, Directives};
use super::fields::joined;
use super::freshness::date;
use http::{HeaderMap, header};

/// The fields that are only for this cache or for ones like it, the first one first.
pub(crate) const TARGETED: [&str; 2] = [DAYLIGHT, "cdn-cache-control"];
/// The field for this cache alone. Clients do not get it.
pub(crate) const DAYLIGHT: &str = "daylight-cache-control";

/// What the application says about storing a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Policy {
    /// The directives that count.
    pub(crate) directives: Directives,
    /// How long the response is fresh, in seconds, if the application says so.
    pub(crate) lifetime: Option<i64>,
}

impl Policy {
    /// Reads the headers of a response that came at `answered`, in seconds since the epoch.
    pub(crate) fn of(headers: &HeaderMap, answered: i64) -> Self {
        // A targeted field replaces `Cache-Control` and `Expires` altogether (RFC 9213, 2.2).
        if let Some(directives) = TARGETED.into_iter().find_map(|name| targeted(headers, name)) {
            let lifetime = directives.s_maxage.or(directives.max_age).map(u64::cast_signed);
            return Self { directives, lifetime };
        }
        let directives = Directives::of(headers, header::CACHE_CONTROL.as_str());
        let told = directives.s_maxage.or(directives.max_age).map(u64::cast_signed);
        let lifetime = told.or_else(|| until_expiry(headers, answered));
        Self { directives, lifetime }
    }
}

/// The directives of a targeted field. `None`: there is none, or it is empty or no dictionary, and then it is ignored.
fn targeted(headers: &HeaderMap, name: &str) -> Option<Directives> {
    let field = joined(headers, name)?;
    let members = dictionary::parse(&field).filter(|members| !members.is_empty())?;
    let mut directives = Directives::default();
    for (key, value) in members {
        let digits;
        let argument = match value {
            Value::Flag(false) => continue,
            Value::Flag(true) => Argument::None,
            Value::Integer(number) => {
                digits = number.to_string();
                Argument::Token(digits.as_bytes())
            }
            Value::Text(text) => Argument::Text(text),
            Value::Other => Argument::Invalid,
        };
        directives.set(key, &argument);
    }
    Some(directives)
}

/// The seconds from `Date` to `Expires`. A date that cannot be read, and a second line, mean the past (RFC 9111, 5.3).
fn until_expiry(headers: &HeaderMap, answered: i64) -> Option<i64> {
    let mut lines = headers.get_all(header::EXPIRES).iter();
    let first = lines.next()?;
    let expires = dates::parse(first.as_bytes(), answered).filter(|_| lines.all(|line| line == first));
    Some(expires.map_or(0, |expires| expires - date(headers, answered).unwrap_or(answered)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;

    const NOW: i64 = 1_793_534_400;

    fn policy(lines: &[(&'static str, &str)]) -> Policy {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        Policy::of(&headers, NOW)
    }

    #[test]
    fn a_lifetime_for_shared_caches_comes_before_others_and_any_before_expires() {
        let (past, later) =
            (("expires", "Sun, 01 Nov 2020 12:00:00 GMT"), ("expires", "Sun, 01 Nov 2026 12:00:30 GMT"));
        let date = ("date", "Sun, 01 Nov 2026 12:00:10 GMT");
        for (lines, lifetime) in [
            (&[("cache-control", "max-age=5"), past][..], Some(5)),
            (&[("cache-control", "max-age=5, s-maxage=60")], Some(60)),
            (&[("cache-control", "s-maxage=0"), ("cache-control", "max-age=9")], Some(0)),
            (&[later], Some(30)),
            (&[later, date], Some(20)),
            (&[later, ("date", "foo")], Some(30)),
            (&[("expires", "0"), date], Some(0)),
            (&[later, past], Some(0)),
            (&[later, later], Some(30)),
            (&[("cache-control", "public")], None),
            (&[], None),
        ] {
            assert_eq!(policy(lines).lifetime, lifetime, "{lines:?}");
        }
        assert!(policy(&[past]).lifetime.unwrap() < 0);
    }

    #[test]
    fn a_valid_targeted_field_is_all_that_counts() {
        let (cdn, ours, control) = ("cdn-cache-control", "daylight-cache-control", "cache-control");
        let later = ("expires", "Sun, 01 Nov 2026 12:00:30 GMT");
        let said = |lines: &[(&'static str, &str)]| {
            let policy = policy(lines);
            (policy.lifetime, policy.directives.no_store || policy.directives.private || policy.directives.no_cache)
        };
        for (lines, expected) in [
            (&[(control, "no-store"), (cdn, "max-age=10")][..], (Some(10), false)),
            (&[(control, "max-age=10"), (cdn, "no-store"), later], (None, true)),
            (&[(control, "max-age=10"), (cdn, "private")], (None, true)),
            (&[(control, "max-age=10"), (cdn, "no-cache")], (None, true)),
            (&[(cdn, "max-age=10"), (ours, "max-age=20")], (Some(20), false)),
            (&[(cdn, "max-age=10"), (ours, "max-age=")], (Some(10), false)),
            (&[(cdn, "max-age=99999999999")], (Some(1 << 31), false)),
            (&[(cdn, "foo"), (control, "max-age=5"), later], (None, false)),
            (&[(control, "no-store"), (cdn, "max-age=10000, &&&&&")], (None, true)),
            (&[(control, "no-store"), (cdn, "max-age=\"10000\"")], (Some(0), false)),
            (&[(control, "max-age=5"), (cdn, "")], (Some(5), false)),
            (&[(control, "max-age=5"), (cdn, "max-age=1"), (cdn, "s-maxage=7, no-store=?0")], (Some(7), false)),
        ] {
            assert_eq!(said(lines), expected, "{lines:?}");
        }
    }
}
