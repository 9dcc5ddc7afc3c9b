//! A file that was published, or the checksum of one: that is computed, whether or not somebody uploaded it.

use crate::content::{Content, Source};
use crate::error::Error;
use crate::format::Format;
use crate::found::Found;
use crate::maven::metadata;
use crate::policy::hidden::Hidden;
use crate::policy::rules::View;
use crate::tree::Tree;
use crate::tree::inventory::{Inventory, NAMES, Presence};
use crate::tree::place;
use crate::tree::place::Place;
use crate::visible::shown;
use format::tree as paths;
use std::sync::Arc;
use store::{Entry, Unit};
use telemetry::{Event, Millis};

/// Up to so many bytes a file is read into memory: what is asked for again is answered from there.
const SMALL: u64 = 64 * 1024;

/// The file at `path`.
pub(crate) async fn fetch(
    (tree, inventory): (Tree<'_>, &Inventory),
    path: &str,
    now: Millis,
    event: &mut Event,
) -> Result<Found, Error> {
    let missing = || Error::NoSuchFile(path.to_owned());
    let content = match place::read(tree.repository.format, path).ok_or_else(missing)? {
        Place::File(file) => match asked((tree, inventory), path, now, event).await {
            Ok(entry) => open(tree, entry, file.lasting(tree.repository), event).await?,
            Err(Error::NoSuchFile(_)) if tree.repository.format == Format::Raw => {
                let (file, checksum) = paths::checksum_of(path).ok_or_else(missing)?;
                let entry = asked((tree, inventory), file, now, event).await.map_err(|error| match error {
                    Error::NoSuchFile(_) => missing(),
                    other => other,
                })?;
                Content { modified: Some(entry.published), ..Content::checksum(&entry.hashes, checksum) }
            }
            Err(error) => return Err(error),
        },
        Place::Checksum(file, checksum) => match place::read(tree.repository.format, file) {
            Some(Place::Made(kind)) => {
                let made = Box::pin(metadata::make(tree, kind, now, event)).await?.ok_or_else(missing)?;
                made.sum(checksum).unwrap_or(made)
            }
            _ => {
                let entry = asked((tree, inventory), file, now, event).await?;
                Content { modified: Some(entry.published), ..Content::checksum(&entry.hashes, checksum) }
            }
        },
        Place::Made(kind) => Box::pin(metadata::make(tree, kind, now, event)).await?.ok_or_else(missing)?,
    };
    Ok(Found::Content(content))
}

/// What was published at `path`, where what is known of its folder does not say that there is nothing.
async fn asked(
    (tree, inventory): (Tree<'_>, &Inventory),
    path: &str,
    now: Millis,
    event: &mut Event,
) -> Result<Entry, Error> {
    let (id, folder, revisions) = (tree.repository.id, paths::folder(path), tree.store.revisions());
    // A path that is not there now, withdrawn ones counted, never was.
    let said = inventory.ask(id, (folder, path), |stamp| revisions.holds(stamp, now));
    if said == Presence::Missing {
        return Err(Error::NoSuchFile(path.to_owned()));
    }
    let stamp = revisions.stamp(&[Unit::Of(id, folder)], Millis(i64::MAX)); // before the work
    let found = find(tree, path, tree.repository.view(now), event).await;
    if let (Err(Error::NoSuchFile(_)), Presence::Nothing, Some(stamp)) = (&found, said, stamp) {
        let paths = tree.store.keys(id, folder, NAMES + 1, event).await?;
        inventory.keep(id, folder, paths.iter().map(String::as_str), stamp);
    }
    found
}

/// What was published at `path`, as far as it is to be seen.
pub(crate) async fn find(tree: Tree<'_>, path: &str, view: View<'_>, event: &mut Event) -> Result<Entry, Error> {
    let entry = tree.repository.entry(tree.store, path, event).await?;
    let entry = entry.ok_or_else(|| Error::NoSuchFile(path.to_owned()))?;
    let unseen = |why: Option<Hidden>| why.map_or_else(|| Error::Removed(path.to_owned()), Error::from);
    if let Some(let_through) = shown(&entry, view).map_err(unseen)? {
        event.detail = let_through;
    }
    Ok(entry)
}

/// The bytes of an entry: small ones in memory.
async fn open(tree: Tree<'_>, entry: Entry, lasting: bool, event: &mut Event) -> Result<Content, Error> {
    let digest = entry.hashes.sha256;
    let source = match entry.hashes.size_bytes {
        ..=SMALL => Source::Memory(tree.store.read_blob(digest, event).await?),
        _ => Source::File(Arc::new(tree.store.open_blob(digest, event).await?.0)),
    };
    Ok(Content {
        source,
        modified: Some(entry.published),
        media: paths::media(&entry.key),
        lasting,
        fresh_until: None,
        freshness: None,
        hashes: Some(entry.hashes),
    })
}
