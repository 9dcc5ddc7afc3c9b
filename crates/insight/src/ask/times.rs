//! Moments and stretches of time in questions.

use telemetry::Millis;

/// The form of a stretch, for messages.
pub(super) const STRETCH: &str = "a number and `ms`, `s`, `m`, `h`, `d` or `w`, such as `90m`";
/// The form of a moment, for messages.
pub(super) const MOMENT: &str = "`now`, a time before now such as `-90m`, a day such as `2026-11-23`, or a moment such as \
                                 `2026-11-23T12:00:00Z`";

const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;
/// The units of stretches, in milliseconds, the longest first.
const UNITS: &[(&str, u64)] = &[("w", 7 * DAY), ("d", DAY), ("h", 60 * MINUTE), ("m", MINUTE), ("ms", 1), ("s", 1000)];
/// The longest stretch, in milliseconds: 100 years.
const LONGEST: u64 = 100 * 365 * DAY;
/// The length of a day: `2026-11-23`.
const DAY_LEN: usize = 10;
/// The last moment of a question: the end of the year 9999.
const LAST: i64 = 253_402_300_799_999;

/// Reads a stretch of time, in milliseconds. At most 100 years.
pub(super) fn stretch(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, millis) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let all = number.parse::<u64>().ok()?.checked_mul(*millis)?;
    (all <= LONGEST).then_some(all)
}

/// Writes a stretch as [`stretch`] reads it, in the largest unit up to days that it is a whole number of.
pub(super) fn write_stretch(millis: u64) -> String {
    let whole = |(unit, _): &&(&str, u64)| matches!(*unit, "d" | "h" | "m" | "s");
    let divides = |(_, size): &&(&str, u64)| millis > 0 && millis.is_multiple_of(*size);
    match UNITS.iter().filter(whole).find(divides) {
        Some((unit, size)) => format!("{}{unit}", millis / size),
        None => format!("{millis}ms"),
    }
}

/// Why a text in one of the forms of a moment is none, where that can be told.
pub(super) fn out_of_range(text: &str) -> Option<&'static str> {
    let before = text.strip_prefix('-').unwrap_or(text);
    let digits = before.bytes().take_while(u8::is_ascii_digit).count();
    let is_stretch = digits > 0 && UNITS.iter().any(|(unit, _)| *unit == &before[digits..]);
    if is_stretch && stretch(before).is_none() {
        return Some("is more than 100 years");
    }
    let is_day = text.len() == DAY_LEN && text.parse::<jiff::civil::Date>().is_ok();
    let is_date = is_day || text.parse::<jiff::Timestamp>().is_ok();
    (is_date && moment(text, Millis(0)).is_none()).then_some("is not within the years 1970 to 9999")
}

/// Reads a moment as questions have it. `now`: the present moment.
pub fn read_moment(text: &str, now: Millis) -> Result<Millis, String> {
    moment(text, now).ok_or_else(|| {
        let shown = super::names::clipped(text);
        match out_of_range(text) {
            Some(why) => format!("`{shown}` {why}"),
            None => format!("`{shown}` is no moment: write {MOMENT}"),
        }
    })
}

/// Reads a moment. `now`: the present moment.
pub(super) fn moment(text: &str, now: Millis) -> Option<Millis> {
    if text == "now" {
        return Some(now);
    }
    if let Some(before) = text.strip_prefix('-').and_then(stretch) {
        return Some(Millis(now.0.saturating_sub_unsigned(before).max(0)));
    }
    let at = match text.parse::<jiff::civil::Date>() {
        Ok(day) if text.len() == DAY_LEN => day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond(),
        _ => text.parse::<jiff::Timestamp>().ok()?.as_millisecond(),
    };
    (0..=LAST).contains(&at).then_some(Millis(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Millis = Millis(1_793_534_400_000);

    #[test]
    fn a_moment_is_absolute_or_before_now() {
        let read = |text| moment(text, NOON).map(|at| at.to_string());
        for (text, at) in [
            ("now", "2026-11-01T12:00:00.000Z"),
            ("-90m", "2026-11-01T10:30:00.000Z"),
            ("-1d", "2026-10-31T12:00:00.000Z"),
            ("-500ms", "2026-11-01T11:59:59.500Z"),
            ("-99y", ""),
            ("2026-11-01", "2026-11-01T00:00:00.000Z"),
            ("2026-11-01T13:00:00+01:00", "2026-11-01T12:00:00.000Z"),
            ("2026-11-01T12:00:00.001Z", "2026-11-01T12:00:00.001Z"),
            ("2026-11-01T12:00:00", ""),
            ("1969-12-31", ""),
            ("yesterday", ""),
            ("1h", ""),
            ("", ""),
        ] {
            assert_eq!(read(text).unwrap_or_default(), at, "{text}");
        }
        for (text, why) in [
            ("-6000w", Some("is more than 100 years")),
            ("6000w", Some("is more than 100 years")),
            ("-99999999999999999999s", Some("is more than 100 years")),
            ("1969-12-31", Some("is not within the years 1970 to 9999")),
            ("1969-12-31T00:00:00Z", Some("is not within the years 1970 to 9999")),
            ("2026-11-01T12:00:00", None),
            ("-99y", None),
            ("", None),
        ] {
            assert_eq!(out_of_range(text), why, "{text}");
        }
        assert_eq!(moment("-100w", Millis(5)), Some(Millis(0)), "no moment is before 1970");
    }

    #[test]
    fn a_stretch_is_written_as_it_is_read() {
        for text in ["1ms", "1500ms", "90s", "90m", "36h", "7d", "36500d"] {
            assert_eq!(write_stretch(stretch(text).unwrap()), text);
        }
        assert_eq!(write_stretch(stretch("2w").unwrap()), "14d");
        for wrong in ["", "h", "90", "-1h", "1.5h", "1 h", "1é", "36501d", "99999999999999999999d"] {
            assert_eq!(stretch(wrong), None, "{wrong}");
        }
    }
}
