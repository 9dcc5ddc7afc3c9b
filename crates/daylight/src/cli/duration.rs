//! Reads durations such as `30d` and `12h`.

use std::time::Duration;

/// Reads a number and a unit: `m` minutes, `h` hours, `d` days, `w` weeks, `y` years of 365 days; at most 100 years.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a number and `m`, `h`, `d`, `w` or `y`, such as `30d`, up to 100 years".to_owned();
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let (day, number) = (86_400, &text[..text.len() - unit.len_utf8()]);
    let seconds: u64 = match unit {
        'm' => 60,
        'h' => 3600,
        'd' => day,
        'w' => 7 * day,
        'y' => 365 * day,
        _ => return Err(wrong()),
    };
    let all = number.parse::<u64>().ok().and_then(|number| number.checked_mul(seconds)).ok_or_else(wrong)?;
    if all == 0 || all > 100 * 365 * day { Err(wrong()) } else { Ok(Duration::from_secs(all)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit_are_a_duration_and_nothing_else_is() {
        assert_eq!(parse("30d").unwrap().as_secs(), 30 * 86_400);
        assert_eq!(parse("12h").unwrap().as_secs(), 12 * 3600);
        assert_eq!(parse("100y").unwrap().as_secs(), 100 * 365 * 86_400);
        for wrong in ["", "d", "30", "30s", "-1d", "0d", "1.5h", "101y", "99999999999999999999d", "3é", "30 d"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
