//! Large indexes as ropes. Pieces are encoded once and joined unchanged into a body and into one gzip stream.
//!
//! [`Log`] is a file that only grows: a change costs its own bytes. [`Chunks`] are files in the order of names: a
//! change costs the chunk of its name. Their data is saved in the data folder and read back ([`form`]), so that a start
//! reads files and no rows.

pub(crate) mod chunks;
pub(crate) mod coded;
pub(crate) mod form;
pub(crate) mod log;
pub(crate) mod log_end;
pub(crate) mod sums;

/// The size of a piece of a log, in bytes, and the distance between two saved MD5 states.
pub const PIECE: usize = 64 << 10;
