//! Lists of packages.

use crate::package::details::DeclaredDependency;

/// Packages that are described before other requests of the event loop go first.
pub(crate) const AT_ONCE: usize = 16;

/// A package in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPackage {
    /// Its name.
    pub package: String,
    /// The latest release that clients get; without one, the latest version. `None`: they get none, or it is not known here.
    pub latest: Option<String>,
    /// The number of its versions that clients get, if it is known here.
    pub visible: Option<usize>,
    /// The number of its versions that a policy hides.
    pub hidden: usize,
}

/// A package whose latest version depends on another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependent {
    /// Its name.
    pub package: String,
    /// Its latest version that clients get.
    pub version: String,
    /// What that version declares.
    pub dependency: DeclaredDependency,
}

/// A part of a search for dependents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependents {
    /// The dependents, in the order of the packages.
    pub rows: Vec<Dependent>,
    /// The number of packages that were examined.
    pub examined: usize,
    /// How many of these declare dependencies that are not known here.
    pub unknown: usize,
    /// The last package that was examined; `None`: all were.
    pub next: Option<String>,
}
