//! The lines of `/info`, rendered from rows of a gem.

use crate::error::Error;
use crate::visible::Visible;
use format::gem::{self, Package, info::FormatVersion};
use store::{Entry, Hashes};
use telemetry::{Millis, give_way};

/// The body of `/info/NAME` that offers exactly `seen`.
pub(crate) fn render_info<'a>(
    seen: impl Iterator<Item = Visible<'a>>,
    format: FormatVersion,
) -> Result<Vec<u8>, Error> {
    Ok(gem::info::render(info_lines(seen, format)?.0))
}

/// What the last line of `/info` is ordered by: the moment, the number, the platform.
pub(crate) type Order = (i64, String, String);

/// The lines of `/info/NAME`, and what the last is ordered by.
pub(crate) fn info_lines<'a>(
    seen: impl Iterator<Item = Visible<'a>>,
    format: FormatVersion,
) -> Result<(Vec<String>, Option<Order>), Error> {
    let mut versions = seen.map(|seen| Ok((facts(seen.entry())?, seen.entry()))).collect::<Result<Vec<_>, Error>>()?;
    // By milliseconds, though seconds are shown: a push appends, also the second one of a second, so ranges fit.
    versions.sort_by(|a, b| gem::info::order(&a.0, a.1.published.0).cmp(&gem::info::order(&b.0, b.1.published.0)));
    let last = versions.last().map(|(package, entry)| {
        let (at, number, platform) = gem::info::order(package, entry.published.0);
        (at, number.to_owned(), platform.to_owned())
    });
    let line = |(package, entry): &(Package, &Entry)| {
        give_way();
        info_line(package, &entry.hashes, entry.first_published(), format)
    };
    Ok((versions.iter().map(line).collect(), last))
}

/// The line of one version, which was first published at `created`.
pub(crate) fn info_line(package: &Package, hashes: &Hashes, created: Millis, format: FormatVersion) -> String {
    gem::info::line(package, &hashes.sha256.to_string(), created.seconds(), format)
}

/// What was taken out of the package when it was pushed.
pub(crate) fn facts(entry: &Entry) -> Result<Package, Error> {
    serde::Deserialize::deserialize(&entry.facts).map_err(|source| Error::Unreadable { key: entry.key.clone(), source })
}
