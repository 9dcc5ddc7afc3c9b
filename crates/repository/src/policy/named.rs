//! What something in a repository is, as far as policy cares: a version of a package, since when it exists, and whose it is.

use crate::format::Format;
use crate::format::rules::Coordinates;
use std::borrow::Cow;
use std::fmt;
use telemetry::Millis;

/// What something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<'a> {
    /// The format that names it.
    pub format: Format,
    /// The package: Maven's `G:A`, a gem's name, the path of a raw file.
    pub package: Cow<'a, str>,
    /// The version; empty: it is about the package, whatever versions that has.
    pub version: Cow<'a, str>,
    /// Since when it exists.
    pub since: Since,
    /// Whether it is an upstream's.
    pub upstream: bool,
}

/// Since when something exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// It has no age of its own: it is no version.
    Always,
    /// This moment.
    Moment(Millis),
    /// Nobody knows how much longer than from this moment on, when it was first seen: it counts from then.
    FirstSeen(Millis),
    /// Nobody knows, so it counts as young.
    Unknown,
}

impl<'a> Named<'a> {
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
    pub(crate) fn summed(&self) -> Option<Named<'_>> {
        let file = self.format.rules().checksum_of(&self.package)?;
        let Self { format, since, upstream, .. } = *self;
        Some(Named { format, package: file.into(), version: "".into(), since, upstream })
    }

    /// The names that tell it from others, in the order in which patterns have them.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.format.rules().fields(&self.package, &self.version).into_iter().flatten()
    }
}

impl fmt::Display for Named<'_> {
    /// As patterns write it: `org.example:lamp:1.2`, `rack:3.0.0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.package)?;
        if self.version.is_empty() { Ok(()) } else { write!(f, ":{}", self.version) }
    }
}
