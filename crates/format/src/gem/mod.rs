//! RubyGems: the package, its names and versions, and the compact index.
//!
//! In reading order: an upload goes through [`package::read`], which extracts the [`Package`]: the facts that the
//! journal keeps and from which every index is rendered. A gem that was published elsewhere goes through
//! [`package::read_installable`]. [`info`], [`versions`] and [`names`] are the three files of
//! the compact index; [`specs`] and [`quick`] are of the index before it, in Ruby's [`marshal`]. [`path`] parses
//! requests, and [`spelling`] the possible meanings of a full name. [`upstream`] reads the compact index of another
//! server.

mod archive;
pub mod call;
pub mod content;
pub mod dependencies;
pub mod document;
mod facts;
#[cfg(test)]
mod fixture;
mod gemspec;
pub mod info;
mod invalid;
pub mod json;
mod limits;
pub mod listing;
pub mod lock;
pub mod marshal;
pub mod name;
pub mod names;
pub mod package;
pub mod path;
mod platform;
pub mod quick;
pub mod requirement;
pub mod settings;
pub mod specs;
pub mod spelling;
mod standard;
pub mod unmarshal;
pub mod upstream;
pub mod version;
pub mod versions;
mod yaml;

pub use call::{AccountCall, Call, Form};
pub use facts::{Dependency, Identity, Kind, Package, full_name};
pub use invalid::{Fault, Invalid};
pub use limits::Limits;
pub use platform::Platform;
pub use requirement::{Op, Requirement};
pub use version::Version;
