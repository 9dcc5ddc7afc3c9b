//! Lists of packages.

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
