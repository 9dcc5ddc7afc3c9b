//! A version as the input of a policy: its package, its age, and whether it comes from an upstream.

use crate::format::Format;
use crate::format::rules::Coordinates;
use std::borrow::Cow;
use std::fmt;
use telemetry::Millis;

/// A version, or a whole package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageVersion<'a> {
    /// The format, which defines the names.
    pub format: Format,
    /// The package: Maven's `G:A`, a gem's name, the path of a raw file.
    pub package: Cow<'a, str>,
    /// The version; empty: the whole package.
    pub version: Cow<'a, str>,
    /// The date that its age counts from.
    pub since: Since,
    /// Whether it comes from an upstream.
    pub upstream: bool,
}

/// The date that an age counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The subject is not a version and has no age.
    Always,
    /// This moment.
    Moment(Millis),
    /// It existed by this moment. It may be older, and that cannot be proven.
    By(Millis),
    /// Its age is unknown. It was first seen at this moment, and counts from then.
    FirstSeen(Millis),
    /// Its age is unknown, so it counts as too young.
    Unknown,
}

impl<'a> PackageVersion<'a> {
    /// The package and version with these names in a repository of this format.
    pub(crate) fn new(format: Format, coordinates: Coordinates<'a>, since: Since) -> Self {
        let Coordinates { package, version } = coordinates;
        Self { format, package, version, since, upstream: false }
    }

    /// The same from an upstream.
    pub fn upstream(self) -> Self {
        Self { upstream: true, ..self }
    }

    /// The same with this age.
    pub fn since(self, since: Since) -> Self {
        Self { since, ..self }
    }

    /// The file whose checksum this is by its name, in formats where checksums are ordinary files.
    pub(crate) fn summed(&self) -> Option<PackageVersion<'_>> {
        let file = self.format.rules().checksum_of(&self.package)?;
        let Self { format, since, upstream, .. } = *self;
        Some(PackageVersion { format, package: file.into(), version: "".into(), since, upstream })
    }

    /// The fields that identify it, in the order of patterns.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.format.rules().fields(&self.package, &self.version).into_iter().flatten()
    }
}

impl fmt::Display for PackageVersion<'_> {
    /// The form of patterns: `org.example:lamp:1.2`, `rack:3.0.0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.package)?;
        if self.version.is_empty() { Ok(()) } else { write!(f, ":{}", self.version) }
    }
}
