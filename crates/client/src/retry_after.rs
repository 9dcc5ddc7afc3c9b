//! Reads `Retry-After` (RFC 9110 10.2.3) and other dates of HTTP.

use std::time::{Duration, UNIX_EPOCH};
use telemetry::Millis;

/// Seconds, or a date. `None` for anything else. A date in the past means no pause.
pub fn read(text: &str, now: Millis) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let left = moment(text)?.0.saturating_sub(now.0);
    Some(Duration::from_millis(u64::try_from(left).unwrap_or(0)))
}

/// A date as HTTP writes it, for example in `Last-Modified`. `None` for anything else, and for dates before 1970.
pub fn moment(text: &str) -> Option<Millis> {
    let since = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_moments_are_read_and_nothing_else() {
        let now = Millis(1_793_534_400_000);
        assert_eq!(read(" 120 ", now), Some(Duration::from_secs(120)));
        assert_eq!(read("Sun, 01 Nov 2026 12:01:00 GMT", now), Some(Duration::from_secs(60)));
        assert_eq!(read("Sun, 01 Nov 2020 12:01:00 GMT", now), Some(Duration::ZERO));
        for odd in ["", "soon", "-1", "1.5", "99999999999999999999999"] {
            assert_eq!(read(odd, now), None, "{odd}");
        }
    }
}
