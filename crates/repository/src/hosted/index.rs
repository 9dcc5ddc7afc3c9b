//! The compact index of a hosted repository, from rows and journaled lines.

use crate::{Error, Found, Index, Repository, Visible, visible};
use format::gem::{self, Package, info::FormatVersion};
use store::{Entry, Lane, Seq, Stamp, Store, Unit};
use telemetry::{Event, Millis, Op};

/// Rows asked of the store at once.
const PAGE: usize = 10_000;

/// `/info/NAME`. A gem whose versions were all yanked is still there, with none: Bundler 2.4 to 4.0 drops the whole
/// index when a name in `/versions` has no `/info`.
pub(crate) async fn info(
    store: &Store,
    repository: &Repository,
    name: &str,
    now: Millis,
    event: &mut Event,
) -> Result<Found, Error> {
    let unit = store.unit(repository.id, name, Lane::Index, event).await?;
    if unit.entries.is_empty() {
        return Err(Error::NoSuchPackage);
    }
    let render = || render_info(visible(&unit.entries, repository.view(now))).map(Index::of);
    Ok(Found::Index(event.time(Op::IndexRender, render)?))
}

/// The body of `/info/NAME` that offers exactly `seen`.
pub(super) fn render_info<'a>(seen: impl Iterator<Item = Visible<'a>>) -> Result<Vec<u8>, Error> {
    let mut versions = seen.map(|seen| Ok((facts(seen.entry())?, seen.entry()))).collect::<Result<Vec<_>, Error>>()?;
    // By milliseconds, though seconds are shown: a push appends, also the second one of a second, so ranges fit.
    versions.sort_by(|a, b| gem::info::order(&a.0, a.1.published.0).cmp(&gem::info::order(&b.0, b.1.published.0)));
    Ok(gem::info::render(versions.iter().map(|(package, entry)| {
        gem::info::line(package, &entry.hashes.sha256.to_string(), entry.published.seconds(), FormatVersion::V2)
    })))
}

/// What was taken out of the package when it was pushed.
pub(super) fn facts(entry: &Entry) -> Result<Package, Error> {
    serde::Deserialize::deserialize(&entry.facts).map_err(|source| Error::Unreadable { key: entry.key.clone(), source })
}

/// `/versions`: every change so far, a line each, as it was rendered when it was made.
pub(crate) async fn versions(
    store: &Store,
    repository: &Repository,
    now: Millis,
    event: &mut Event,
) -> Result<Found, Error> {
    let make = async {
        let mut all: Vec<(Seq, String)> = Vec::new();
        loop {
            let after = all.last().map_or(Seq(0), |(seq, _)| *seq);
            let lines = store.lines(repository.id, after, PAGE, event).await?;
            let full = lines.len() == PAGE;
            all.extend(lines);
            if !full {
                break;
            }
        }
        let lines = all.iter().map(|(_, line)| line);
        let created = repository.record.created.seconds();
        Ok(event.time(Op::IndexRender, || Index::of(gem::versions::render(created, lines))))
    };
    let (holds, stamp) = freshness(store, repository, now);
    repository.shared.versions.get(holds, stamp, make).await.map(Found::Index)
}

/// `/names`: every gem that has a version to offer.
pub(crate) async fn names(
    store: &Store,
    repository: &Repository,
    now: Millis,
    event: &mut Event,
) -> Result<Found, Error> {
    let make = async {
        let mut all: Vec<String> = Vec::new();
        loop {
            let after = all.last().cloned().unwrap_or_default();
            let names = store.units(repository.id, &after, PAGE, event).await?;
            let full = names.len() == PAGE;
            all.extend(names);
            if !full {
                return Ok(event.time(Op::IndexRender, || Index::of(gem::names::render(&all))));
            }
        }
    };
    let (holds, stamp) = freshness(store, repository, now);
    repository.shared.names.get(holds, stamp, make).await.map(Found::Index)
}

/// Whether an index of the whole repository still holds, and the stamp of one that is about to be made.
fn freshness(
    store: &Store,
    repository: &Repository,
    now: Millis,
) -> (impl Fn(&Stamp) -> bool, impl FnOnce() -> Option<Stamp>) {
    let (revisions, id) = (store.revisions(), repository.id);
    (move |stamp: &Stamp| revisions.holds(stamp, now), move || revisions.stamp(&[Unit::All(id)], Millis(i64::MAX)))
}
