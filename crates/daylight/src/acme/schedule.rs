//! When a certificate is renewed, and how long to wait after a failure.

use super::failure::Failure;
use client::Validity;
use std::time::Duration;
use telemetry::Millis;

/// A certificate is renewed when this part of its lifetime is left, as Let's Encrypt advises: 30 of 90 days.
const LEFT_PART: i64 = 3;
/// At most this part of the lifetime earlier, so that servers which began together do not renew together.
const EARLIER_PART: f64 = 24.0;
/// The pause after the first failure to reach the authority; it doubles with each further one.
const AWAY: Duration = Duration::from_secs(30);
/// The longest one.
const AWAY_MAX: Duration = Duration::from_secs(3600);
/// The pause after the first refusal. With the doubling no name is checked more than five times in an hour, which is Let's Encrypt's limit.
const REFUSED: Duration = Duration::from_secs(120);
/// The longest one.
const REFUSED_MAX: Duration = Duration::from_secs(6 * 3600);
/// The longest pause that the authority may ask for.
pub(super) const ASKED_MAX: Duration = Duration::from_secs(24 * 3600);
/// The shortest pause after a success, so that a certificate of a few seconds is not ordered again and again.
const REST: Duration = Duration::from_secs(60);
/// The pause after a success, as a part of the lifetime: with a clock that is far ahead each new certificate is to be renewed at once.
const REST_PART: i64 = 24;
/// More doublings than this change nothing.
const DOUBLINGS_MAX: u32 = 16;

/// When a certificate is renewed. `chance`: of this server, from 0 to 1.
pub(super) fn renews_at(validity: Validity, chance: f64) -> Millis {
    let lifetime = validity.ends.0.saturating_sub(validity.begins.0).max(0);
    let earlier = lifetime as f64 / EARLIER_PART * chance.clamp(0.0, 1.0);
    Millis(validity.ends.0.saturating_sub(lifetime / LEFT_PART).saturating_sub(earlier as i64))
}

/// How long to wait after a success: at most a day.
pub(super) fn rest(validity: Option<Validity>) -> Duration {
    let lifetime = validity.map_or(0, |validity| validity.ends.0.saturating_sub(validity.begins.0)).max(0);
    Duration::from_millis((lifetime / REST_PART).unsigned_abs()).clamp(REST, ASKED_MAX)
}

/// How long to wait after a failure, the `failures`th in a row, which happened at `now`.
pub(super) fn pause(failure: &Failure, failures: u64, now: Millis) -> Duration {
    let (first, most) = if failure.is_away { (AWAY, AWAY_MAX) } else { (REFUSED, REFUSED_MAX) };
    let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(DOUBLINGS_MAX).min(DOUBLINGS_MAX);
    let usual = first.saturating_mul(1 << doublings).min(most);
    let asked = failure.until.map_or(0, |until| until.0.saturating_sub(now.0)).max(0);
    usual.max(Duration::from_millis(asked.unsigned_abs()).min(ASKED_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    #[test]
    fn a_certificate_is_renewed_when_a_third_of_its_lifetime_is_left_or_a_little_earlier() {
        let at = |days: i64, chance: f64| {
            renews_at(Validity { begins: Millis(0), ends: Millis(days * DAY) }, chance).0 as f64 / DAY as f64
        };
        assert_eq!([at(90, 0.0), at(6, 0.0)], [60.0, 4.0]);
        assert_eq!([at(90, 1.0), at(6, 1.0)], [56.25, 3.75]);
        assert_eq!(at(90, 7.0), 56.25, "a chance beyond 1 is 1");
        assert_eq!(
            renews_at(Validity { begins: Millis(9), ends: Millis(3) }, 0.5),
            Millis(3),
            "it ends before it begins"
        );
    }

    #[test]
    fn a_certificate_that_a_wrong_clock_takes_for_an_old_one_is_not_ordered_each_minute() {
        let of = |ms: i64| rest(Some(Validity { begins: Millis(0), ends: Millis(ms) })).as_secs();
        assert_eq!([of(10_000), of(DAY), of(6 * DAY), of(90 * DAY)], [60, 3600, 6 * 3600, 24 * 3600]);
        assert_eq!([of(i64::MAX), of(-DAY), rest(None).as_secs()], [24 * 3600, 60, 60]);
    }

    fn pauses(is_away: bool, until: Option<Millis>) -> Vec<u64> {
        let failure = Failure { is_away, until, ..Failure::default() };
        [1, 2, 3, 7, 8, 9, 10, 11, u64::MAX].map(|failures| pause(&failure, failures, Millis(0)).as_secs()).into()
    }

    #[test]
    fn pauses_double_up_to_a_limit_and_are_never_shorter_than_the_authority_asks() {
        assert_eq!(pauses(true, None), [30, 60, 120, 1920, 3600, 3600, 3600, 3600, 3600]);
        assert_eq!(pauses(false, None), [120, 240, 480, 7680, 15_360, 21_600, 21_600, 21_600, 21_600]);
        assert_eq!(pauses(true, Some(Millis(1_000_000)))[..4], [1000, 1000, 1000, 1920]);
        assert_eq!(pauses(false, Some(Millis(i64::MAX)))[0], 86_400, "the authority cannot stop it permanently");
        assert_eq!(pauses(false, Some(Millis(-5)))[0], 120);
    }

    #[test]
    fn a_name_is_checked_at_most_five_times_in_an_hour() {
        let refused = Failure::default();
        let mut moments = vec![0];
        for failures in 1..=12 {
            moments.push(moments.last().unwrap() + pause(&refused, failures, Millis(0)).as_secs());
        }
        let within = |from: &u64| moments.iter().filter(|at| (*from..from + 3600).contains(at)).count();
        assert_eq!(moments.iter().map(within).max(), Some(5), "{moments:?}");
    }
}
