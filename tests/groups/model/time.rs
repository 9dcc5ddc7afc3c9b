//! The clock, in seconds of a year in the future.

use jiff::Timestamp;

/// The beginning of the year 2030, in seconds since 1970.
const BEGINS: i64 = 1_893_456_000;

fn moment(seconds: u64) -> Timestamp {
    Timestamp::from_second(BEGINS + i64::try_from(seconds).unwrap()).unwrap()
}

/// In the form of URLs and settings (RFC 3339).
pub(super) fn text(seconds: u64) -> String {
    moment(seconds).to_string()
}

/// In the form of `Last-Modified`.
pub(super) fn in_headers(seconds: u64) -> String {
    moment(seconds).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// In the form of metadata.
pub(super) fn in_metadata(seconds: u64) -> String {
    moment(seconds).strftime("%Y%m%d%H%M%S").to_string()
}
