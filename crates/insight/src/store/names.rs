//! The names of the files. They tell which rows a file has and which other files it replaces, so the folder needs no list of its files.

use crate::disk;
use std::fmt;
use telemetry::Millis;

/// The last moment that a name can have, in milliseconds: a day before the end of the year 9999.
const LAST: i64 = 253_402_207_200_000;

/// The name of a segment: `events_FROM_TO_ROWS_FIRST-LAST_THINNED.parquet`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SegmentName {
    /// When the first event began, in milliseconds.
    pub(super) from: i64,
    /// When the last event began.
    pub(super) to: i64,
    /// Rows.
    pub(super) rows: usize,
    /// The number of the first log whose rows it has.
    pub(super) first: u64,
    /// The number of the last one.
    pub(super) last: u64,
    /// How often it was thinned.
    pub(super) thinned: u8,
}

impl SegmentName {
    /// Reads a name. `None`: it is no segment.
    pub(super) fn read(name: &str) -> Option<Self> {
        let parts = name.strip_prefix("events_")?.strip_suffix(".parquet")?;
        let [from, to, rows, logs, thinned] = parts.split('_').collect::<Vec<_>>().try_into().ok()?;
        let (first, last) = logs.split_once('-')?;
        let name = Self {
            from: moment(from)?,
            to: moment(to)?,
            rows: rows.parse().ok()?,
            first: disk::log_number(first)?,
            last: disk::log_number(last)?,
            thinned: thinned.parse().ok()?,
        };
        (name.first <= name.last).then_some(name)
    }

    /// Whether it has the rows of all logs of another segment, so that the other is not needed.
    pub(super) fn replaces(&self, other: &Self) -> bool {
        let has = |number| (self.first..=self.last).contains(&number);
        let more = (self.last - self.first, self.thinned) > (other.last - other.first, other.thinned);
        has(other.first) && has(other.last) && more
    }
}

impl fmt::Display for SegmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, rows, first, last, thinned } = self;
        write!(f, "events_{}_{}_{rows}_{first}-{last}_{thinned}.parquet", Moment(*from), Moment(*to))
    }
}

/// The name of a log.
pub(super) fn log_name(number: u64) -> String {
    format!("events_{number}.log")
}

/// The number of a log. `None`: it is no log.
pub(super) fn log_number(name: &str) -> Option<u64> {
    disk::log_number(name.strip_prefix("events_")?.strip_suffix(".log")?)
}

/// A moment in a name: RFC 3339 without the punctuation that shells and other systems give a meaning.
struct Moment(i64);

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Millis(self.0.clamp(0, LAST)).to_string().replace(['-', ':'], ""))
    }
}

fn moment(text: &str) -> Option<i64> {
    text.is_ascii().then(|| text.parse::<jiff::Timestamp>().ok()).flatten().map(jiff::Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAME: &str = "events_20261101T120000.123Z_20261101T130000.000Z_262144_17-19_0.parquet";

    #[test]
    fn a_name_tells_times_rows_logs_and_thinning() {
        let name = SegmentName::read(NAME).unwrap();
        assert_eq!((name.from, name.to), (1_793_534_400_123, 1_793_538_000_000));
        assert_eq!((name.rows, name.first, name.last, name.thinned), (262_144, 17, 19, 0));
        assert_eq!(log_number(&log_name(7)), Some(7));
        for other in
            ["events.jsonl", "events_x.log", "events_1_2.parquet", "events_.log", &NAME.replace("17-19", "19-17")]
        {
            assert_eq!((SegmentName::read(other), log_number(other)), (None, None), "{other}");
        }
    }

    #[test]
    fn a_segment_with_more_logs_or_thinned_replaces_the_one_before() {
        let of = |logs: &str, thinned: &str| {
            SegmentName::read(&NAME.replace("17-19", logs).replace("_0.", &format!("_{thinned}."))).unwrap()
        };
        assert!(of("17-19", "0").replaces(&of("17-18", "0")));
        assert!(of("17-19", "1").replaces(&of("17-19", "0")));
        for (one, other) in [("17-19", "17-19"), ("17-18", "17-19"), ("17-18", "18-19"), ("1-2", "3-3")] {
            assert!(!of(one, "0").replaces(&of(other, "0")), "{one} {other}");
        }
        assert!(!of("17-19", "0").replaces(&of("17-19", "1")));
    }

    proptest! {
        #[test]
        fn a_written_name_reads_the_same(from in 0..LAST, long in 0i64..1 << 40, rows: usize, first: u32, more: u32, thinned: u8) {
            let to = (from + long).min(LAST);
            let (first, last) = (u64::from(first), u64::from(first) + u64::from(more));
            let name = SegmentName { from, to, rows, first, last, thinned };
            prop_assert_eq!(SegmentName::read(&name.to_string()), Some(name));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "events_.{0,60}(\\.parquet|\\.log)") {
            let _ = (SegmentName::read(&text), log_number(&text));
        }
    }
}
