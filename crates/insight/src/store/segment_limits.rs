//! How large segments are.

/// The rows of a full segment.
pub(super) const ROWS: usize = 256 * 1024;
/// A segment of so many rows is large enough: it is not joined with the next one.
pub(super) const ROWS_ENOUGH: usize = 64 * 1024;
/// The number of segments that fit into the disk for events at least, so that the oldest can make room.
pub(super) const SEGMENTS: u64 = 8;
/// Segments are joined if the result has the events of at most this many milliseconds.
pub(super) const JOINED_MILLIS: i64 = 24 * 60 * 60 * 1000;
