//! The lines of an upstream's `/info`, as policy sees them.

use crate::format::Format;
use crate::gem::upstream::listing::Listed;
use crate::policy::package_version::{PackageVersion, Since};
use crate::visible::Row;
use std::collections::HashMap;
use store::State;
use telemetry::Millis;

/// A line of `/info`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InfoRow {
    pub(crate) name: String,
    /// `1.0`, `1.0-java`.
    pub(crate) token: String,
    /// The line, without its newline.
    pub(crate) line: String,
    pub(crate) since: Millis,
}

impl Row for InfoRow {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        (State::Live, self.since, self.since)
    }

    fn coordinates(&self, format: Format) -> Option<PackageVersion<'_>> {
        let number = self.token.split_once('-').map_or(self.token.as_str(), |(number, _)| number);
        let (package, version) = (self.name.as_str().into(), number.into());
        let row = PackageVersion { format, package, version, since: Since::FirstSeen(self.since), upstream: true };
        Some(row)
    }
}

/// The lines of a body of `/info`. A version that the index does not list yet was first seen at `now`.
pub(crate) fn read(name: &str, body: &str, listed: &Listed, now: Millis) -> Vec<InfoRow> {
    let since: HashMap<&str, Millis> = listed.versions.iter().map(|version| (&*version.token, version.since)).collect();
    let lines = body.lines().skip_while(|line| *line != "---").skip(1);
    let row = |line: &str| {
        let token = line.split(' ').next()?;
        let since = since.get(token).copied().unwrap_or(now);
        Some(InfoRow { name: name.to_owned(), token: token.to_owned(), line: line.to_owned(), since })
    };
    lines.filter_map(row).collect()
}

impl InfoRow {
    /// The SHA-256 of the package, hexadecimal, where the line says it.
    pub(crate) fn checksum(&self) -> Option<&str> {
        let (_, keys) = self.line.split_once('|')?;
        keys.split(',').find_map(|key| key.strip_prefix("checksum:"))
    }
}
