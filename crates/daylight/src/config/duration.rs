//! Durations as people write them, such as `30d` and `12h`: in settings, flags and the API.

use std::time::Duration;

/// The form of a duration, after the word "expects" in messages.
pub(crate) const EXPECTS: &str = "a number and `s`, `m`, `h`, `d`, `w` or `y`, such as `30d`, up to 100 years";

const DAY: u64 = 86_400;

/// Reads a number and a unit: `s` seconds, `m` minutes, `h` hours, `d` days, `w` weeks, `y` years of 365 days; at most 100 years.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    read(text).ok_or_else(|| format!("expected {EXPECTS}"))
}

fn read(text: &str) -> Option<Duration> {
    let unit = text.chars().next_back()?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => DAY,
        'w' => 7 * DAY,
        'y' => 365 * DAY,
        _ => return None,
    };
    let number = text[..text.len() - unit.len_utf8()].parse::<u64>().ok()?;
    let all = number.checked_mul(seconds)?;
    (all <= 100 * 365 * DAY).then(|| Duration::from_secs(all))
}

/// The duration as [`parse`] reads it, in the largest unit up to days that it is a whole number of.
pub(crate) fn show(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let units = [(DAY, 'd'), (3600, 'h'), (60, 'm')];
    match units.into_iter().find(|(unit, _)| seconds > 0 && seconds.is_multiple_of(*unit)) {
        Some((unit, letter)) => format!("{}{letter}", seconds / unit),
        None => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit_are_a_duration_and_nothing_else_is() {
        assert_eq!(parse("30d").unwrap().as_secs(), 30 * 86_400);
        assert_eq!(parse("12h").unwrap().as_secs(), 12 * 3600);
        assert_eq!(parse("45s").unwrap().as_secs(), 45);
        assert_eq!(parse("0s").unwrap(), Duration::ZERO);
        assert_eq!(parse("100y").unwrap().as_secs(), 100 * 365 * 86_400);
        for wrong in ["", "d", "30", "-1d", "1.5h", "101y", "99999999999999999999d", "3é", "30 d", "30D"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_duration_is_shown_as_it_is_read() {
        for text in ["400d", "7d", "24h", "90m", "61s", "0s"] {
            let shown = show(parse(text).unwrap());
            assert_eq!(parse(&shown).unwrap(), parse(text).unwrap(), "{shown}");
        }
        assert_eq!(
            ["400d", "36h", "1w", "60s", "0d"].map(|text| show(parse(text).unwrap())),
            ["400d", "36h", "7d", "1m", "0s"]
        );
    }
}
