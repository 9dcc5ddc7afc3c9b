//! The age of a response and the end of its freshness (RFC 9111, 4.2).

use super::{age, dates};
use http::{HeaderMap, header};
use telemetry::Millis;

/// When a response was requested and when its head came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchanged {
    /// When its request was sent.
    pub(crate) asked: Millis,
    /// When its head came.
    pub(crate) answered: Millis,
}

/// How old a response was when it came, and how long it is fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Freshness {
    answered: Millis,
    /// In milliseconds.
    initial_age: i64,
    /// In seconds.
    lifetime: i64,
}

impl Freshness {
    /// The freshness of a response with these headers. `lifetime` is in seconds.
    pub(crate) fn of(headers: &HeaderMap, lifetime: i64, at: Exchanged) -> Self {
        let answered = at.answered.seconds();
        let apparent = date(headers, answered).map_or(0, |date| (answered - date).max(0));
        let delay = at.answered.0.saturating_sub(at.asked.0).max(0);
        let told = age::of(headers).cast_signed().saturating_mul(1000).saturating_add(delay);
        let initial_age = apparent.saturating_mul(1000).max(told);
        Self { answered: at.answered, initial_age, lifetime }
    }

    /// When the response came.
    pub(crate) fn answered(&self) -> Millis {
        self.answered
    }

    /// The age in seconds.
    pub(crate) fn age(&self, now: Millis) -> u64 {
        self.age_millis(now).div_euclid(1000).cast_unsigned()
    }

    /// For how many more seconds it is fresh. 0 and less: it is stale for as long.
    pub(crate) fn left(&self, now: Millis) -> i64 {
        self.lifetime.saturating_mul(1000).saturating_sub(self.age_millis(now)).div_euclid(1000)
    }

    /// Whether it is fresh.
    pub(crate) fn is_fresh(&self, now: Millis) -> bool {
        self.lifetime.saturating_mul(1000) > self.age_millis(now)
    }

    fn age_millis(&self, now: Millis) -> i64 {
        self.initial_age.saturating_add(now.0.saturating_sub(self.answered.0).max(0))
    }
}

/// The `Date` of a response, in seconds since the epoch. `answered`: when it came, in the same unit.
pub(crate) fn date(headers: &HeaderMap, answered: i64) -> Option<i64> {
    dates::parse(headers.get(header::DATE)?.as_bytes(), answered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::{Duration, UNIX_EPOCH};

    const NOW: i64 = 1_793_534_400;

    fn headers(date: i64, age: u64) -> HeaderMap {
        let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(date.cast_unsigned()));
        HeaderMap::from_iter([(header::DATE, date.parse().unwrap()), (header::AGE, age.into())])
    }

    fn at(asked: i64, answered: i64) -> Exchanged {
        Exchanged { asked: Millis(NOW * 1000 + asked), answered: Millis(NOW * 1000 + answered) }
    }

    #[test]
    fn a_response_ages_from_its_date_or_from_its_age_with_the_time_that_it_took() {
        for (date, age, asked, initial) in
            [(0, 0, 0, 0), (-10, 3, 0, 10), (-10, 30, 0, 30), (10, 15, 0, 15), (0, 5, -2500, 7), (-3, 0, -9000, 9)]
        {
            let freshness = Freshness::of(&headers(NOW + date, age), 60, at(asked, 0));
            assert_eq!(freshness.age(Millis(NOW * 1000)), initial, "{date} {age} {asked}");
            assert_eq!(freshness.age(Millis(NOW * 1000 + 2999)), initial + if asked == -2500 { 3 } else { 2 });
        }
    }

    #[test]
    fn it_is_stale_from_the_end_of_its_lifetime_on() {
        let freshness = Freshness::of(&headers(NOW, 0), 2, at(0, 0));
        let told = [0, 1999, 2000, 5000].map(|after| {
            let now = Millis(NOW * 1000 + after);
            (freshness.is_fresh(now), freshness.left(now))
        });
        assert_eq!(told, [(true, 2), (true, 0), (false, 0), (false, -3)]);
    }

    proptest! {
        #[test]
        fn no_figure_overflows_and_no_age_is_negative(date in 0_i64..9_000_000_000_000, age in any::<u64>(), asked in any::<i64>(), now in any::<i64>(), life in any::<i64>()) {
            let date = date.min(200_000_000_000);
            let at = Exchanged { asked: Millis(asked), answered: Millis(NOW * 1000) };
            let freshness = Freshness::of(&headers(date, age), life, at);
            prop_assert!(freshness.age(Millis(now)).cast_signed() >= 0);
            prop_assert_eq!(freshness.is_fresh(Millis(now)) && freshness.left(Millis(now)) < 0, false);
        }
    }
}
