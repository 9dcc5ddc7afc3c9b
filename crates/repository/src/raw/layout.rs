//! A path of a raw repository: its name, and what that name says.

use crate::format::Format;
use crate::policy::package_version::{PackageVersion, Since};
use format::tree::{self, Checksum};

/// A path, which is all that a raw file is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawPath<'a>(pub(crate) &'a str);

impl<'a> RawPath<'a> {
    /// The file that this is a checksum of by its name.
    pub(crate) fn checksum(self) -> Option<(Self, Checksum)> {
        tree::checksum_of(self.0).map(|(of, checksum)| (Self(of), checksum))
    }

    /// The file as policy names it.
    pub(crate) fn named(self, since: Since) -> PackageVersion<'a> {
        let package = self.0.into();
        PackageVersion { format: Format::Raw, package, version: "".into(), since, upstream: false }
    }
}
