//! Whether a stored response may be used for a request now (RFC 9111, 4; RFC 5861).

use super::directives::Directives;
use super::freshness::Freshness;
use telemetry::Millis;

/// How long a stale response hides that no backend answers, in seconds, if the application says nothing about it. RFC 9111, 4.2.4 allows
/// stale responses while the cache is disconnected.
pub(crate) const WITHOUT_ANSWER: i64 = 3600;

/// What may be done with a stored response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// It is the answer.
    Fresh,
    /// It is the answer, although it is stale: the client accepts that.
    Stale,
    /// It is the answer, and is to be fetched again in the background (RFC 5861, 3).
    WhileRevalidating,
    /// The application has to be asked.
    Validate,
}

/// Why the application gave no answer that could be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It answered with 500, 502, 503 or 504.
    Error,
    /// It gave no answer.
    NoAnswer,
}

/// The directives of a stored response that count when it is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Each use needs a validation.
    no_cache: bool,
    /// It is never used stale.
    must_revalidate: bool,
    /// It is not used stale unless the application named for how long (RFC 9111, 5.2.2.10).
    shared: bool,
    while_revalidating: i64,
    if_error: i64,
}

impl Terms {
    /// The terms in the directives of a response.
    pub(crate) fn of(directives: &Directives) -> Self {
        let window = |seconds: Option<u64>| seconds.unwrap_or(0).cast_signed();
        Self {
            no_cache: directives.no_cache,
            must_revalidate: directives.must_revalidate || directives.proxy_revalidate,
            shared: directives.s_maxage.is_some(),
            while_revalidating: window(directives.stale_while_revalidate),
            if_error: window(directives.stale_if_error),
        }
    }

    /// Whether each use needs a validation.
    pub(crate) fn needs_validation(&self) -> bool {
        self.no_cache
    }

    /// What may be done for a request with these directives.
    pub(crate) fn use_for(&self, freshness: &Freshness, asked: &Directives, now: Millis) -> Use {
        let too_old = |most: u64| most == 0 || freshness.age(now) > most;
        if self.no_cache || asked.no_cache || asked.max_age.is_some_and(too_old) {
            return Use::Validate;
        }
        let left = freshness.left(now);
        if freshness.is_fresh(now) {
            let enough = asked.min_fresh.is_none_or(|least| left >= least.cast_signed());
            return if enough { Use::Fresh } else { Use::Validate };
        }
        if self.must_revalidate || asked.min_fresh.is_some() {
            Use::Validate
        } else if -left <= self.while_revalidating && self.while_revalidating > 0 {
            Use::WhileRevalidating
        } else if !self.shared && asked.max_stale.is_some_and(|most| -left <= most.cast_signed()) {
            Use::Stale
        } else {
            Use::Validate
        }
    }

    /// Whether it is the answer although the application gave none.
    pub(crate) fn hides(&self, trouble: Trouble, freshness: &Freshness, asked: &Directives, now: Millis) -> bool {
        let stale = -freshness.left(now);
        if self.no_cache || self.must_revalidate || asked.no_cache {
            return false;
        }
        let silently = trouble == Trouble::NoAnswer && !self.shared && stale <= WITHOUT_ANSWER;
        silently || freshness.is_fresh(now) || (self.if_error > 0 && stale <= self.if_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::rules::freshness::Exchanged;
    use http::HeaderMap;

    const NOW: i64 = 1_793_534_400_000;

    fn directives(text: &str) -> Directives {
        let headers = HeaderMap::from_iter([(http::header::CACHE_CONTROL, text.parse().unwrap())]);
        Directives::of(&headers, "cache-control")
    }

    /// A response with a lifetime of 100 seconds, `age` seconds after it came.
    fn aged(age: i64) -> (Freshness, Millis) {
        let at = Exchanged { asked: Millis(NOW), answered: Millis(NOW) };
        (Freshness::of(&HeaderMap::new(), 100, at), Millis(NOW + age * 1000))
    }

    #[test]
    fn a_fresh_response_is_used_unless_the_client_or_the_application_wants_a_validation() {
        let (freshness, now) = aged(40);
        for (response, request, expected) in [
            ("max-age=100", "x", Use::Fresh),
            ("max-age=100, must-revalidate", "x", Use::Fresh),
            ("max-age=100, no-cache", "x", Use::Validate),
            ("max-age=100, no-cache=\"a\"", "x", Use::Fresh),
            ("max-age=100", "no-cache", Use::Validate),
            ("max-age=100", "max-age=0", Use::Validate),
            ("max-age=100", "max-age=39", Use::Validate),
            ("max-age=100", "max-age=40", Use::Fresh),
            ("max-age=100", "min-fresh=60", Use::Fresh),
            ("max-age=100", "min-fresh=61", Use::Validate),
        ] {
            let terms = Terms::of(&directives(response));
            assert_eq!(terms.use_for(&freshness, &directives(request), now), expected, "{response} {request}");
        }
    }

    #[test]
    fn a_stale_response_is_used_where_the_application_or_the_client_allows_it() {
        let (freshness, now) = aged(110);
        for (response, request, expected) in [
            ("max-age=100", "x", Use::Validate),
            ("max-age=100", "max-stale", Use::Stale),
            ("max-age=100", "max-stale=10", Use::Stale),
            ("max-age=100", "max-stale=9", Use::Validate),
            ("max-age=100, must-revalidate", "max-stale", Use::Validate),
            ("s-maxage=100", "max-stale", Use::Validate),
            ("max-age=100, stale-while-revalidate=10", "x", Use::WhileRevalidating),
            ("s-maxage=100, stale-while-revalidate=10", "x", Use::WhileRevalidating),
            ("max-age=100, stale-while-revalidate=9", "x", Use::Validate),
            ("max-age=100, proxy-revalidate, stale-while-revalidate=10", "x", Use::Validate),
            ("max-age=100, stale-while-revalidate=10", "max-age=50", Use::Validate),
        ] {
            let terms = Terms::of(&directives(response));
            assert_eq!(terms.use_for(&freshness, &directives(request), now), expected, "{response} {request}");
        }
    }

    #[test]
    fn a_stale_response_hides_trouble_as_long_as_the_application_says_or_an_hour_without_an_answer() {
        for (response, age, error, no_answer) in [
            ("max-age=100", 110, false, true),
            ("max-age=100", 100 + WITHOUT_ANSWER, false, true),
            ("max-age=100", 101 + WITHOUT_ANSWER, false, false),
            ("max-age=100, stale-if-error=10", 110, true, true),
            ("max-age=100, stale-if-error=9999", 101 + WITHOUT_ANSWER, true, true),
            ("s-maxage=100", 110, false, false),
            ("s-maxage=100, stale-if-error=10", 110, true, true),
            ("max-age=100, must-revalidate, stale-if-error=10", 110, false, false),
            ("max-age=100, no-cache", 110, false, false),
            ("max-age=100", 40, true, true),
        ] {
            let ((freshness, now), terms) = (aged(age), Terms::of(&directives(response)));
            let hides = |trouble| terms.hides(trouble, &freshness, &directives("x"), now);
            assert_eq!((hides(Trouble::Error), hides(Trouble::NoAnswer)), (error, no_answer), "{response} {age}");
        }
    }
}
