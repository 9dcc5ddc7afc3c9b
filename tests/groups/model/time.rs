//! The time of day, in seconds of a year that is still to come.

use jiff::Timestamp;

/// When the year 2030 begins, in seconds since 1970 began.
const BEGINS: i64 = 1_893_456_000;

fn moment(seconds: u64) -> Timestamp {
    Timestamp::from_second(BEGINS + i64::try_from(seconds).unwrap()).unwrap()
}

/// As URLs and settings have it (RFC 3339).
pub(super) fn text(seconds: u64) -> String {
    moment(seconds).to_string()
}

/// As `Last-Modified` has it.
pub(super) fn in_headers(seconds: u64) -> String {
    moment(seconds).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// As metadata has it.
pub(super) fn in_metadata(seconds: u64) -> String {
    moment(seconds).strftime("%Y%m%d%H%M%S").to_string()
}
