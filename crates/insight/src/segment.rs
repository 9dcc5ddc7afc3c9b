//! Segments: files of events that do not change. A segment is a Parquet file with one row group, which other engines read as it is.
//!
//! Between the rows and the footer of Parquet there is an index of our own ([`index`]) with a checksum of each column. A part of a file is
//! decoded only after its checksum was compared, so damage is found and never decoded.

mod bits;
mod encode;
mod index;
mod not_written;
mod numbers;
mod open;
mod order;
mod runs;
mod schema;
mod texts;
mod write;

pub use not_written::NotWritten;
pub use open::Segment;
pub use write::write;

/// The version of the form of segments. A reader refuses newer ones.
const FORM: u32 = 1;

#[cfg(test)]
mod tests;
