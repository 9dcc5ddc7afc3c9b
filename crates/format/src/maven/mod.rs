//! Maven: where files are, in which order versions are, and the documents that say which there are.
//!
//! In reading order: [`path`] tells what a path is a file of, and [`snapshot`] which build of a snapshot that is.
//! [`Version`] has the order of versions.

pub mod path;
pub mod snapshot;
mod version;

pub use version::Version;
