//! The compact index of an upstream: what it said, what it says now, and whether the answer can be believed.
//!
//! In reading order: a [`Look`] reads an answer for `/versions` while it arrives, joins it to what was [`Kept`] and verifies the
//! whole.

pub mod checksum;
mod digests;
mod kept;
mod look;
mod refusal;
mod response;
#[cfg(test)]
mod tests;

pub use checksum::Checksum;
pub use digests::Verified;
pub use kept::Kept;
pub use look::{Begun, Look, Outcome, Seen};
pub use refusal::{Refusal, Tail};
pub use response::Response;

/// The most bytes of `/versions`. The largest public one had 23 MB in 2026.
pub const VERSIONS_BYTES: u64 = 256 << 20;
/// The most bytes before the line `---`.
pub const HEADER_BYTES: usize = 64 << 10;
