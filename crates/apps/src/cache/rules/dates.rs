//! Dates of HTTP (RFC 9110, 5.6.7): the three forms that recipients must read, and nothing near them. Names of days, months and the zone
//! may be in any case.

const MONTHS: [&[u8; 3]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Seconds since the epoch. `now`, in the same unit, decides the century of a year of two digits: RFC 9110 has it in the past if it would
/// be more than 50 years ahead.
pub(crate) fn parse(text: &[u8], now: i64) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim_matches([' ', '\t']).to_ascii_lowercase();
    let parts: Vec<&str> = text.split(' ').collect();
    match parts[..] {
        // Sun, 06 Nov 1994 08:49:37 GMT
        [day, date, month, year, time, "gmt"] if day.len() == 4 && is_day(day.strip_suffix(',')?, false) => {
            seconds(digits(year, 4)?, month, digits(date, 2)?, time)
        }
        // Sunday, 06-Nov-94 08:49:37 GMT
        [day, date, time, "gmt"] if is_day(day.strip_suffix(',')?, true) => {
            let mut parts = date.split('-');
            let (date, month, year) = (parts.next()?, parts.next()?, parts.next().filter(|_| parts.next().is_none())?);
            let this = year_of(now);
            let mut year = digits(year, 2)? + this - this.rem_euclid(100);
            if year > this + 50 {
                year -= 100;
            }
            seconds(year, month, digits(date, 2)?, time)
        }
        // Sun Nov  6 08:49:37 1994
        [day, month, "", date, time, year] if is_day(day, false) => {
            seconds(digits(year, 4)?, month, digits(date, 1)?, time)
        }
        [day, month, date, time, year] if is_day(day, false) => {
            seconds(digits(year, 4)?, month, digits(date, 2)?, time)
        }
        _ => None,
    }
}

fn is_day(name: &str, whole: bool) -> bool {
    DAYS.iter().any(|day| if whole { *day == name } else { &day[..3] == name })
}

fn digits(text: &str, len: usize) -> Option<i64> {
    (text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn seconds(year: i64, month: &str, date: i64, time: &str) -> Option<i64> {
    let month = MONTHS.iter().position(|name| name[..] == *month.as_bytes())?;
    let mut parts = time.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next().filter(|_| parts.next().is_none())?);
    let (hour, minute, second) = (digits(hour, 2)?, digits(minute, 2)?, digits(second, 2)?);
    // A leap second is the next one.
    if hour > 23 || minute > 59 || second > 60 || date < 1 || date > length(year, month) {
        return None;
    }
    Some(((days_before(year, month) + date - 1) * 24 + hour) * 3600 + minute * 60 + second)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn length(year: i64, month: usize) -> i64 {
    match month {
        1 if is_leap(year) => 29,
        1 => 28,
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}

/// The days from the epoch to the first of this month.
fn days_before(year: i64, month: usize) -> i64 {
    let before = year - 1;
    let leaps = before / 4 - before / 100 + before / 400;
    let months: i64 = (0..month).map(|month| length(year, month)).sum();
    // 719162 days from the first of January of the year 1 to the epoch.
    before * 365 + leaps + months - 719_162
}

/// The year of a moment, in UTC.
fn year_of(now: i64) -> i64 {
    let day = now.div_euclid(86_400);
    let mut year = 1970 + day.div_euclid(366);
    while days_before(year + 1, 0) <= day {
        year += 1;
    }
    year
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::{Duration, UNIX_EPOCH};

    const NOW: i64 = 1_793_534_400;

    #[test]
    fn the_three_forms_are_one_moment_and_case_does_not_matter() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "SUN, 06 NOV 1994 08:49:37 gMT",
            " Sun, 06 Nov 1994 08:49:37 GMT ",
        ] {
            assert_eq!(parse(text.as_bytes(), NOW), Some(784_111_777), "{text}");
        }
        assert_eq!(parse(b"Thu Aug 18 02:01:18 2050", NOW), parse(b"Thursday, 18-Aug-50 02:01:18 GMT", NOW));
        assert_eq!(parse(b"Saturday, 31-Dec-77 23:59:60 GMT", NOW), Some(252_460_800));
    }

    #[test]
    fn anything_near_them_is_no_date() {
        for text in [
            "0",
            "foo",
            "",
            "Thu, 18 Aug 2050 02:01:18 UTC",
            "Thu, 18 Aug 2050 02:01:18 AEST",
            "Thu, 18 Aug 50 02:01:18 GMT",
            "Thu 18 Aug 2050 02:01:18 GMT",
            "Thu, 18  Aug  2050 02:01:18 GMT",
            "Thu, 18-Aug-2050 02:01:18 GMT",
            "Thu, 18 Aug 2050 02.01.18 GMT",
            "Thu, 18 Aug 2050 2:01:18 GMT",
            "Thu, 8 Aug 2050 02:01:18 GMT",
            "Thu, 30 Feb 2050 02:01:18 GMT",
            "Thu, 00 Aug 2050 02:01:18 GMT",
            "Thu, 18 Aug 2050 24:01:18 GMT",
            "Thu, 18 Aug 2050 02:01:18",
            "Xxx, 18 Aug 2050 02:01:18 GMT",
            "Thu, 18 Aug 2050 02:01:18:00 GMT",
        ] {
            assert_eq!(parse(text.as_bytes(), NOW), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_moment_is_read_as_it_was_written(at in 0_u64..250_000_000_000) {
            let text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(at));
            prop_assert_eq!(parse(text.as_bytes(), NOW), Some(at.cast_signed()));
        }

        #[test]
        fn a_year_is_that_of_its_dates(at in 0_i64..32_000_000_000) {
            let year = year_of(at);
            prop_assert!(days_before(year, 0) * 86_400 <= at && at < days_before(year + 1, 0) * 86_400);
        }
    }
}
