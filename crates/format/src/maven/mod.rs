//! Maven: where files are, in which order versions are, and the documents that say which there are.
//!
//! In reading order: [`path`] tells what a path is a file of, and [`snapshot`] which build of a snapshot that is.
//! [`Version`] has the order of versions, [`metadata`] what there is at each level, and [`pom`] what an artifact says of itself.
//! [`catalog`], [`prefixes`] and [`settings`] are the documents at the root of a repository.

pub mod catalog;
pub mod metadata;
pub mod path;
pub mod pom;
pub mod prefixes;
pub mod settings;
pub mod snapshot;
mod version;
mod xml;

pub use version::Version;
pub use xml::{LONGEST, Unreadable};
