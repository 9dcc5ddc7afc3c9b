//! The name of a file of counted rows. It says all that must be known before the file is read, and the checksum of its bytes.

use super::{HOUR, MINUTE};
use crate::disk::log_number;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

telemetry::closed_list! {
    /// How long the rows of a file last.
    #[derive(PartialOrd, Ord)]
    pub(crate) enum Level {
        /// A minute.
        Minutes = "minutes",
        /// An hour.
        Hours = "hours",
    }
}

impl Level {
    /// How long a row lasts, in milliseconds.
    pub(crate) fn millis(self) -> i64 {
        match self {
            Level::Minutes => MINUTE,
            Level::Hours => HOUR,
        }
    }
}

/// The name of a file of counted rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) level: Level,
    /// The numbers of the logs whose rows it has.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// When its first and its last minute or hour begin, in milliseconds since the epoch.
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) rows: u64,
    pub(crate) events: u64,
    /// Events of repositories that have no row of their own.
    pub(crate) folded: u64,
    /// Events of which only the minute is known.
    pub(crate) unknown: u64,
    /// The checksum of the bytes (CRC-32).
    pub(crate) crc: u32,
}

/// A minute, as names state it.
const TIME: &str = "%Y%m%dT%H%MZ";

impl Name {
    /// The name of the log with a number.
    pub(crate) fn log(number: u64) -> String {
        format!("log-{number:010}")
    }

    /// The number of a log.
    pub(crate) fn read_log(name: &str) -> Option<u64> {
        name.strip_prefix("log-").and_then(log_number)
    }

    /// The name as text.
    pub(crate) fn text(&self) -> String {
        let Name { first, last, rows, events, folded, unknown, crc, .. } = self;
        let (level, from, to) = (self.level.as_str(), time(self.from), time(self.to));
        format!("{level}-{first:010}-{last:010}-{from}-{to}-r{rows}-e{events}-f{folded}-u{unknown}-{crc:08x}.parquet")
    }

    /// The name that a text is.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut parts = text.strip_suffix(".parquet")?.split('-');
        let level = match parts.next()? {
            "minutes" => Level::Minutes,
            "hours" => Level::Hours,
            _ => return None,
        };
        let mut number = |prefix: &str| parts.next()?.strip_prefix(prefix).map(str::to_owned);
        let (first, last) = (log_number(&number("")?)?, log_number(&number("")?)?);
        let (from, to) = (read_time(&number("")?)?, read_time(&number("")?)?);
        let (rows, events) = (number("r")?.parse().ok()?, number("e")?.parse().ok()?);
        let (folded, unknown) = (number("f")?.parse().ok()?, number("u")?.parse().ok()?);
        let crc = u32::from_str_radix(&number("")?, 16).ok()?;
        let name = Self { level, first, last, from, to, rows, events, folded, unknown, crc };
        (name.text() == text).then_some(name)
    }

    /// Whether a row of it may begin in `from..to`.
    pub(crate) fn meets(&self, from: i64, to: i64) -> bool {
        self.from < to && from <= self.to
    }
}

fn time(millis: i64) -> String {
    Timestamp::from_millisecond(millis).unwrap_or_default().strftime(TIME).to_string()
}

fn read_time(text: &str) -> Option<i64> {
    let time = DateTime::strptime(TIME, text).ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(time.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written_and_other_texts_are_no_names() {
        let (from, to) = (1_793_534_400_000, 1_793_534_400_000 + 59 * MINUTE);
        let (first, last, rows, events) = (7, 7, 12, 345);
        let name =
            Name { level: Level::Minutes, first, last, from, to, rows, events, folded: 6, unknown: 1, crc: 0xab };
        let text = "minutes-0000000007-0000000007-20261101T1200Z-20261101T1259Z-r12-e345-f6-u1-000000ab.parquet";
        assert_eq!(name.text(), text);
        assert_eq!(Name::read(text), Some(name));
        assert_eq!([name.meets(to, to + 1), name.meets(to + 1, to + 2), name.meets(0, from)], [true, false, false]);
        for place in 0..text.len() {
            assert_eq!(Name::read(&text[..place]), None);
            assert_eq!(Name::read(&format!("{}é{}", &text[..place], &text[place..])), None);
        }
        assert_eq!(Name::read_log(&Name::log(12)), Some(12));
        assert_eq!(Name::read_log(text), None);
        assert_eq!(Name::read_log(&format!("log-{}", u64::MAX)), None);
        assert_eq!(Name::read(&text.replace("0000000007", &u64::MAX.to_string())), None);
    }
}
