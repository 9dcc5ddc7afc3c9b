//! A path of a raw repository, and the facts that follow from it.

use crate::format::Format;
use crate::policy::package_version::{PackageVersion, Since};
use format::tree::{self, Checksum};

/// A path, which may end with a query. A raw file has no other identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawPath<'a>(pub(crate) &'a str);

impl<'a> RawPath<'a> {
    /// The path without its query: policies and hosted repositories know no other.
    pub(crate) fn without_query(self) -> Self {
        Self(tree::split_query(self.0).0)
    }

    /// The file whose checksum this path is, by its ending.
    pub(crate) fn checksum(self) -> Option<(Self, Checksum)> {
        tree::checksum_of(self.0).map(|(of, checksum)| (Self(of), checksum))
    }

    /// The name of the file in policies.
    pub(crate) fn named(self, since: Since) -> PackageVersion<'a> {
        let package = self.without_query().0.into();
        PackageVersion { format: Format::Raw, package, version: "".into(), since, upstream: false }
    }
}
