//! A version as a policy sees it: its package, its age, and whether it is an upstream's.

use crate::format::Format;
use crate::format::rules::Coordinates;
use std::borrow::Cow;
use std::fmt;
use telemetry::Millis;

/// A version, or a whole package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageVersion<'a> {
    /// The format that names it.
    pub format: Format,
    /// The package: Maven's `G:A`, a gem's name, the path of a raw file.
    pub package: Cow<'a, str>,
    /// The version; empty: the whole package.
    pub version: Cow<'a, str>,
    /// Since when it exists.
    pub since: Since,
    /// Whether it is an upstream's.
    pub upstream: bool,
}

/// Since when something exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// It is no version, and has no age.
    Always,
    /// This moment.
    Moment(Millis),
    /// Its age is unknown. It was first seen at this moment, and counts from then.
    FirstSeen(Millis),
    /// Its age is unknown, so it counts as too young.
    Unknown,
}

impl<'a> PackageVersion<'a> {
    /// What has these coordinates in a repository of this format.
    pub(crate) fn new(format: Format, coordinates: Coordinates<'a>, since: Since) -> Self {
        let Coordinates { package, version } = coordinates;
        Self { format, package, version, since, upstream: false }
    }

    /// The same, of an upstream.
    pub fn upstream(self) -> Self {
        Self { upstream: true, ..self }
    }

    /// The same, of that age.
    pub fn since(self, since: Since) -> Self {
        Self { since, ..self }
    }

    /// The file that this is a checksum of, by its name, where checksums are files of their own.
    pub(crate) fn summed(&self) -> Option<PackageVersion<'_>> {
        let file = self.format.rules().checksum_of(&self.package)?;
        let Self { format, since, upstream, .. } = *self;
        Some(PackageVersion { format, package: file.into(), version: "".into(), since, upstream })
    }

    /// The names that tell it from others, in the order in which patterns have them.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.format.rules().fields(&self.package, &self.version).into_iter().flatten()
    }
}

impl fmt::Display for PackageVersion<'_> {
    /// As patterns write it: `org.example:lamp:1.2`, `rack:3.0.0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.package)?;
        if self.version.is_empty() { Ok(()) } else { write!(f, ":{}", self.version) }
    }
}
