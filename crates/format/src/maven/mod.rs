//! Maven: where files are, in which order versions are, and the documents that say which there are.
//!
//! In reading order: [`path`] tells what a path is a file of, and [`snapshot`] which build of a snapshot that is.
//! [`Version`] has the order of versions,
//! [`metadata`] what there is at each level.

pub mod metadata;
pub mod path;
pub mod snapshot;
mod version;
mod xml;

pub use version::Version;
pub use xml::{LONGEST, Unreadable};
