//! Large indexes as ropes: pieces that are made once and joined, as they are, into a body and into one gzip stream.
//!
//! [`Log`] is a file that only grows: a change costs its own bytes. [`Chunks`] are files in the order of names: a change
//! costs the chunk that its name is in. What they are made of goes into the data folder and comes back from there
//! ([`form`]), so that a start reads files and no rows.

pub(crate) mod chunks;
pub(crate) mod coded;
pub(crate) mod form;
pub(crate) mod log;
pub(crate) mod log_end;
pub(crate) mod sums;

/// Bytes of a piece of a log, and between two MD5 states that prefixes are proven from.
pub const PIECE: usize = 64 << 10;
