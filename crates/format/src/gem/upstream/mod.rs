//! The compact index of an upstream: its previous content, its current content, and whether a response can be trusted.
//!
//! In reading order: a [`Look`] reads a response for `/versions` while it arrives, joins it to the [`Kept`] state and
//! verifies the whole. [`Versions`] is such a file with a table of its names; [`Said`] is the state of one name after
//! all its lines. [`difference`] computes the lines that a log needs to list the same as another file. [`Info`] reads a
//! file of `/info`, and [`full_name::candidates`] finds the gems that a file name may mean.

pub mod checksum;
mod difference;
mod digests;
mod entry;
pub mod full_name;
mod info;
mod kept;
mod look;
mod package;
mod recent;
mod refusal;
mod response;
mod said;
mod splice;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod versions;

pub use checksum::Checksum;
pub use difference::{Change, Difference, append, begin, difference};
pub use digests::Verified;
pub use info::{Info, Line};
pub use kept::Kept;
pub use look::{Begun, Look, Outcome, Seen};
pub use package::package;
pub use refusal::{Refusal, Tail};
pub use response::Response;
pub use said::Said;
pub use splice::splice;
pub use text::Text;
pub use versions::Versions;

/// The most bytes of `/versions`. The largest public one had 23 MB in 2026.
pub const VERSIONS_BYTES: u64 = 256 << 20;
/// The most bytes of one `/info`. The largest public ones have some hundred KB.
pub const INFO_BYTES: usize = 16 << 20;
/// The most bytes of one line of `/versions`, which may list all versions of a gem.
pub const LINE_BYTES: usize = 1 << 20;
/// The most bytes of all lines of one name: they are read for each request about the name.
pub const NAME_BYTES: usize = 2 << 20;
/// The most names in `/versions`. The public index had 192,000 in 2026.
pub const NAMES_MAX: usize = 2_000_000;
/// The most names whose last line has no MD5 yet. Servers omit it for a moment after a push.
pub const HELD_MAX: usize = 10_000;
/// The most bytes before the line `---`.
pub const HEADER_BYTES: usize = 64 << 10;
