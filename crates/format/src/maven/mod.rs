//! Maven: the layout of files, the order of versions, and the documents that list them.
//!
//! In reading order: [`path`] parses paths, and [`snapshot`] the builds of a snapshot. [`Version`] has the order of
//! versions, [`metadata`] the listing of each level, and [`pom`] the description of an artifact. [`catalog`],
//! [`prefixes`] and [`settings`] are the documents at the root of a repository. [`tracking`] is a file of clients.

pub mod catalog;
pub mod metadata;
pub mod path;
pub mod placeholder;
pub mod pom;
pub mod prefixes;
pub mod settings;
pub mod snapshot;
pub mod tracking;
mod version;
mod xml;

pub use version::Version;
pub use xml::{LONGEST, Unreadable};
