//! Renders the lines of `/info` from the rows of a gem.

use crate::error::{Error, Result};
use crate::visible::Visible;
use format::gem::{self, Package, info::FormatVersion};
use store::{Entry, Hashes};
use telemetry::{Millis, give_way};

/// The body of `/info/NAME` with exactly the versions `seen`.
pub(crate) fn render_info<'a>(seen: impl Iterator<Item = Visible<'a>>, format: FormatVersion) -> Result<Vec<u8>> {
    Ok(gem::info::render(info_lines(seen, format)?.0))
}

/// The sort key of the last line: the date, the number, the platform.
pub(crate) type Order = (i64, String, String);

/// The lines of `/info/NAME`, and the sort key of the last.
pub(crate) fn info_lines<'a>(
    seen: impl Iterator<Item = Visible<'a>>,
    format: FormatVersion,
) -> Result<(Vec<String>, Option<Order>)> {
    let mut versions = seen.map(|seen| Ok((facts(seen.entry())?, seen.entry()))).collect::<Result<Vec<_>>>()?;
    // Sorted by milliseconds, although lines show seconds: so each push appends, even the second one within a second,
    // and range requests work.
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

/// The line of one version with the publication date `created`.
pub(crate) fn info_line(package: &Package, hashes: &Hashes, created: Millis, format: FormatVersion) -> String {
    gem::info::line(package, &hashes.sha256.to_string(), created.seconds(), format)
}

/// The line for `/versions` of a push, after which `/info` has this MD5.
pub(crate) fn versions_line(package: &Package, md5: &str) -> String {
    let (number, platform) = (package.number.as_str(), &package.platform);
    gem::versions::line(&package.name, gem::versions::Op::Push, number, platform, md5)
}

/// The facts that were extracted from the package when it was pushed.
pub(crate) fn facts(entry: &Entry) -> Result<Package> {
    serde::Deserialize::deserialize(&entry.facts).map_err(|source| Error::Unreadable { key: entry.key.clone(), source })
}
