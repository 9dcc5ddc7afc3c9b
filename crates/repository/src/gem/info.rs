//! `/info` of the compact index of a hosted repository, from the rows of a gem.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::hosted::Hosted;
use crate::gem::rules::info_format;
use crate::gem::views::ViewPart;
use crate::index::document::Index;
use crate::repository::Repository;
use crate::visible;
use crate::visible::{Visible, turns};
use crate::workers::aside;
use format::gem::{self, Package, info::FormatVersion};
use store::{Entry, Hashes, Lane};
use telemetry::{Event, Millis, Op, give_way};

impl Repository {
    /// What the lines of its `/info` tell.
    pub fn info_format(&self) -> FormatVersion {
        info_format(&self.record)
    }
}

/// `/info/NAME`. A gem whose versions were all yanked is still there, with none: Bundler 2.4 to 4.0 drops the whole
/// index when a name in `/versions` has no `/info`.
pub(crate) async fn info(hosted: Hosted<'_>, name: &str, now: Millis, event: &mut Event) -> Result<Found, Error> {
    if !hosted.by_rows() {
        return Ok(Found::Index(info_of(hosted, name, now, event).await?));
    }
    let made = async |event: &mut Event| {
        let index = info_of(hosted, name, now, event).await?;
        let until = index.fresh_until;
        Ok((Found::Index(index).into(), until))
    };
    hosted.once(ViewPart::Info(name.to_owned()), now, event, made).await?.found()
}

async fn info_of(hosted: Hosted<'_>, name: &str, now: Millis, event: &mut Event) -> Result<Index, Error> {
    let entries = hosted.repository.unit(hosted.store, name, event).await?;
    if entries.is_empty() {
        return Err(Error::NoSuchPackage);
    }
    let (rows, repository) = (entries.len(), hosted.repository.clone());
    let fresh_until = turns(&entries, repository.view(now));
    let render = move || render_info(visible(&entries, repository.view(now)), repository.info_format());
    Ok(Index { fresh_until, ..make(hosted, rows, event, render).await? })
}

/// Renders an index of `rows` rows, and hashes it.
pub(crate) async fn make(
    hosted: Hosted<'_>,
    rows: usize,
    event: &mut Event,
    render: impl FnOnce() -> Result<Vec<u8>, Error> + Send + 'static,
) -> Result<Index, Error> {
    aside(&hosted.context.workers, (Lane::Index, Op::IndexRender), rows, event, move || render().map(Index::of)).await
}

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
        info_line(package, &entry.hashes, entry.published, format)
    };
    Ok((versions.iter().map(line).collect(), last))
}

/// The line of one version.
pub(crate) fn info_line(package: &Package, hashes: &Hashes, published: Millis, format: FormatVersion) -> String {
    gem::info::line(package, &hashes.sha256.to_string(), published.seconds(), format)
}

/// What was taken out of the package when it was pushed.
pub(crate) fn facts(entry: &Entry) -> Result<Package, Error> {
    serde::Deserialize::deserialize(&entry.facts).map_err(|source| Error::Unreadable { key: entry.key.clone(), source })
}
