//! The compact index of a hosted repository, from rows and journaled lines.

use super::Hosted;
use crate::work::aside;
use crate::{Error, Found, Index, Visible, visible};
use format::gem::{self, Package, info::FormatVersion};
use store::{Entry, Lane, Seq, Stamp, Unit};
use telemetry::{Event, Millis, Op};

/// Rows asked of the store at once.
const PAGE: usize = 10_000;

/// `/info/NAME`. A gem whose versions were all yanked is still there, with none: Bundler 2.4 to 4.0 drops the whole
/// index when a name in `/versions` has no `/info`.
pub(crate) async fn info(hosted: Hosted<'_>, name: &str, now: Millis, event: &mut Event) -> Result<Found, Error> {
    let unit = hosted.store.unit(hosted.repository.id, name, Lane::Index, event).await?;
    if unit.entries.is_empty() {
        return Err(Error::NoSuchPackage);
    }
    let (rows, repository) = (unit.entries.len(), hosted.repository.clone());
    let render = move || render_info(visible(&unit.entries, repository.view(now)), repository.info_format());
    make(hosted, rows, event, render).await.map(Found::Index)
}

/// Renders an index of `rows` rows, and hashes it.
pub(super) async fn make(
    hosted: Hosted<'_>,
    rows: usize,
    event: &mut Event,
    render: impl FnOnce() -> Result<Vec<u8>, Error> + Send + 'static,
) -> Result<Index, Error> {
    aside(hosted.workers, (Lane::Index, Op::IndexRender), rows, event, move || render().map(Index::of)).await
}

/// The body of `/info/NAME` that offers exactly `seen`.
pub(super) fn render_info<'a>(
    seen: impl Iterator<Item = Visible<'a>>,
    format: FormatVersion,
) -> Result<Vec<u8>, Error> {
    let mut versions = seen.map(|seen| Ok((facts(seen.entry())?, seen.entry()))).collect::<Result<Vec<_>, Error>>()?;
    // By milliseconds, though seconds are shown: a push appends, also the second one of a second, so ranges fit.
    versions.sort_by(|a, b| gem::info::order(&a.0, a.1.published.0).cmp(&gem::info::order(&b.0, b.1.published.0)));
    Ok(gem::info::render(versions.iter().map(|(package, entry)| {
        gem::info::line(package, &entry.hashes.sha256.to_string(), entry.published.seconds(), format)
    })))
}

/// What was taken out of the package when it was pushed.
pub(super) fn facts(entry: &Entry) -> Result<Package, Error> {
    serde::Deserialize::deserialize(&entry.facts).map_err(|source| Error::Unreadable { key: entry.key.clone(), source })
}

/// `/versions`: every change so far, a line each, as it was rendered when it was made.
pub(crate) async fn versions(hosted: Hosted<'_>, now: Millis, event: &mut Event) -> Result<Found, Error> {
    let make = async {
        // In pages as they were read: what is long is put together elsewhere.
        let mut pages: Vec<Vec<(Seq, String)>> = Vec::new();
        loop {
            let after = pages.last().and_then(|page| page.last()).map_or(Seq(0), |(seq, _)| *seq);
            pages.push(hosted.store.lines(hosted.repository.id, after, PAGE, event).await?);
            if pages.last().is_none_or(|page| page.len() < PAGE) {
                break;
            }
        }
        let (rows, created) = (pages.iter().map(Vec::len).sum(), hosted.repository.record.created.seconds());
        let render = move || Ok(gem::versions::render(created, pages.iter().flatten().map(|(_, line)| line)));
        make(hosted, rows, event, render).await
    };
    let (holds, stamp) = freshness(hosted, now);
    hosted.repository.shared.versions.get(holds, stamp, make).await.map(Found::Index)
}

/// `/names`: every gem that has a version to offer.
pub(crate) async fn names(hosted: Hosted<'_>, now: Millis, event: &mut Event) -> Result<Found, Error> {
    let make = async {
        let mut pages: Vec<Vec<String>> = Vec::new();
        loop {
            let after = pages.last().and_then(|page| page.last()).cloned().unwrap_or_default();
            pages.push(hosted.store.units(hosted.repository.id, &after, PAGE, event).await?);
            if pages.last().is_none_or(|page| page.len() < PAGE) {
                break;
            }
        }
        let rows = pages.iter().map(Vec::len).sum();
        make(hosted, rows, event, move || Ok(gem::names::render(pages.iter().flatten()))).await
    };
    let (holds, stamp) = freshness(hosted, now);
    hosted.repository.shared.names.get(holds, stamp, make).await.map(Found::Index)
}

/// Whether an index of the whole repository still holds, and the stamp of one that is about to be made.
fn freshness(hosted: Hosted<'_>, now: Millis) -> (impl Fn(&Stamp) -> bool + '_, impl FnOnce() -> Option<Stamp> + '_) {
    let (revisions, id) = (hosted.store.revisions(), hosted.repository.id);
    (move |stamp: &Stamp| revisions.holds(stamp, now), move || revisions.stamp(&[Unit::All(id)], Millis(i64::MAX)))
}
