//! Reads `X-Request-Start`: when a proxy got the request. nginx sends `t=SECONDS.MILLIS`, HAProxy and Heroku send milliseconds, others
//! microseconds.

use http::HeaderMap;
use telemetry::Millis;

const X_REQUEST_START: &str = "x-request-start";
const NANOS: u128 = 1_000_000_000;
/// The longest value: 17 digits, a point and 9 digits.
const LEN_MAX: usize = 27;
/// Requests do not wait longer than this. A proxy that says so has a wrong clock.
const QUEUED_MAX: u128 = 3600 * NANOS;

/// How long a request that arrived at `now` had waited, in nanoseconds. 0: it is unknown, or less than a millisecond. `now` is in whole
/// milliseconds, so a start within that millisecond is not in the future. The nearest proxy adds the last line.
pub(super) fn queued(headers: &HeaderMap, now: Millis) -> u64 {
    let last = headers.get_all(X_REQUEST_START).iter().next_back();
    let start = last.and_then(|line| nanos(line.to_str().ok()?.trim()));
    let now = u128::try_from(now.0).unwrap_or(0) * (NANOS / 1000);
    let waited = start.and_then(|start| now.checked_sub(start)).filter(|waited| *waited <= QUEUED_MAX);
    waited.and_then(|waited| u64::try_from(waited).ok()).unwrap_or(0)
}

/// Nanoseconds since 1970. The unit follows from the size of the number: seconds have 10 digits until the year 2286.
fn nanos(text: &str) -> Option<u128> {
    let text = text.strip_prefix("t=").unwrap_or(text);
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if text.len() > LEN_MAX || !digits(whole) || !digits(part) {
        return None;
    }
    let number: u128 = whole.parse().ok()?;
    let unit = match number {
        0..100_000_000_000 => NANOS,
        100_000_000_000..100_000_000_000_000 => NANOS / 1000,
        100_000_000_000_000..100_000_000_000_000_000 => NANOS / 1_000_000,
        _ => return None,
    };
    let below = part.parse::<u128>().ok()? * unit / 10_u128.pow(part.len() as u32);
    Some(number * unit + below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    /// 2026-11-01T12:00:00.250Z.
    const NOW: Millis = Millis(1_793_534_400_250);

    fn queued_of(lines: &[&str]) -> u64 {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(X_REQUEST_START, HeaderValue::from_str(line).unwrap());
        }
        queued(&headers, NOW)
    }

    #[test]
    fn the_unit_follows_from_the_size_of_the_number() {
        for (line, waited) in [
            ("1793534400", 250_000_000),
            ("t=1793534400.150", 100_000_000),
            ("t=1793534400.1501234", 99_876_600),
            ("1793534400150", 100_000_000),
            ("1793534400150.5", 99_500_000),
            ("t=1793534400150500", 99_500_000),
            (" 1793534400150 ", 100_000_000),
            ("1793534400250", 0),
        ] {
            assert_eq!(queued_of(&[line]), waited, "{line}");
        }
        assert_eq!(queued_of(&["1793534400100", "1793534400150"]), 100_000_000, "the nearest proxy wrote the last");
    }

    #[test]
    fn a_start_in_the_future_or_long_ago_or_unreadable_is_ignored() {
        for line in [
            "1793534401",
            "1793534400251",
            "t=1793530800.249",
            "1",
            "0",
            "",
            "t=",
            ".5",
            "5.",
            "-1793534400",
            "+1793534400",
            "t=t=1793534400",
            "1e9",
            "1793534400,1793534400",
            "1793534400150000000",
            "1793534400.1234567890123456789",
            "99999999999999999999999999999999999999999",
        ] {
            assert_eq!(queued_of(&[line]), 0, "{line}");
        }
        assert_eq!(queued_of(&["t=1793530800.250"]), 3_600_000_000_000, "an hour is the most");
        assert_eq!(queued_of(&[]), 0);
    }
}
