//! The lines of an upstream's `/info` as the input of a policy.

use crate::format::Format;
use crate::gem::upstream::listing::{Listed, ListedVersion};
use crate::policy::package_version::{PackageVersion, Since};
use crate::visible::Row;
use format::gem::upstream::full_name::content_address;
use format::gem::upstream::{Checksum, Info, Line};
use format::gem::{Package, Platform};
use std::collections::HashMap;
use store::State;
use telemetry::Millis;

/// A line of `/info`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InfoRow {
    pub(crate) name: String,
    /// `1.0`, `1.0-java`.
    pub(crate) token: String,
    /// The version without the platform.
    number: String,
    /// The line, without its newline.
    pub(crate) line: String,
    /// The dependencies, in the form of [`format::gem::dependencies::brief`].
    pub(crate) brief: String,
    /// The SHA-256 of the package.
    pub(crate) checksum: Option<Checksum>,
    /// The publication date in the line, in seconds since the epoch.
    pub(crate) created_at: Option<i64>,
    /// The date that its age counts from.
    pub(crate) since: Since,
}

impl Row for InfoRow {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        let since = self.moment();
        (State::Live, since, since)
    }

    fn coordinates(&self, format: Format) -> Option<PackageVersion<'_>> {
        let (package, version) = (self.name.as_str().into(), self.number.as_str().into());
        Some(PackageVersion { format, package, version, since: self.since, upstream: true })
    }
}

impl InfoRow {
    /// Whether a package belongs to this line. The line may spell the platform in another way, and a content address
    /// has no platform.
    pub(crate) fn is_of(&self, package: &Package) -> bool {
        let platform = self.token.split_once('-').map_or("ruby", |(_, platform)| platform);
        let is_of_platform = content_address(&self.token).is_some()
            || platform == package.platform
            || Platform::read(platform) == Platform::read(&package.platform);
        self.name == package.name && self.number == package.number.as_str() && is_of_platform
    }

    /// The date that its age counts from.
    pub(crate) fn moment(&self) -> Millis {
        match self.since {
            Since::Moment(since) | Since::By(since) | Since::FirstSeen(since) => since,
            Since::Always | Since::Unknown => Millis(0),
        }
    }
}

/// Parses the lines of a body of `/info`. A version that the index does not list yet was first seen at `now`.
pub(crate) fn read(name: &str, info: &Info, listed: &Listed, now: Millis) -> Vec<InfoRow> {
    let listed: HashMap<&str, &ListedVersion> =
        listed.versions.iter().map(|version| (version.token.as_str(), version)).collect();
    let row = |line: Line<'_>| InfoRow {
        name: name.to_owned(),
        token: line.token.to_owned(),
        number: line.number().to_owned(),
        line: line.text.to_owned(),
        brief: line.brief(),
        checksum: line.checksum(),
        created_at: line.created_at(),
        since: listed.get(line.token).map_or(Since::FirstSeen(now), |version| version.age()),
    };
    info.lines().map(row).collect()
}
