//! A published file, or a checksum of one. Checksums are computed, whether or not somebody uploaded them.

use crate::content::{Content, Source};
use crate::error::{Error, Result};
use crate::late_digests::LateDigests;
use crate::policy::hidden::Hidden;
use crate::policy::rules::View;
use crate::tree::Tree;
use crate::tree::facts::Provenance;
use crate::tree::file::File;
use crate::tree::inventory::{Inventory, NAMES, Presence};
use crate::unreadable::unreadable;
use crate::visible::shown;
use format::tree::{self as paths, Checksum};
use std::sync::Arc;
use store::{Entry, Unit};
use telemetry::{Event, Millis};

/// Files up to this size, in bytes, are read into memory and answered from there the next time.
const SMALL: u64 = 64 * 1024;

/// Returns the file, a document generated at its path, or a checksum of either.
pub(crate) async fn fetch(
    tree: Tree<'_>,
    inventory: &Inventory,
    file: &File<'_>,
    now: Millis,
    event: &mut Event,
) -> Result<Content> {
    let missing = || Error::NoSuchFile(file.path.to_owned());
    let content = match file.provenance().ok_or_else(missing)? {
        Provenance::Uploaded => match published(tree, inventory, file, now, event).await {
            Ok(entry) => open(tree, entry, file.is_immutable_in(tree.repository), event).await?,
            Err(Error::NoSuchFile(_)) => {
                let (of, checksum) = file.kept_checksum().ok_or_else(missing)?;
                let entry = published(tree, inventory, &of, now, event).await.map_err(|error| match error {
                    Error::NoSuchFile(_) => missing(),
                    other => other,
                })?;
                checksum_of(&entry, checksum, of.is_immutable_in(tree.repository)).ok_or_else(missing)?
            }
            Err(error) => return Err(error),
        },
        Provenance::ChecksumOf(of, checksum) => {
            let of = file.at(of);
            match of.provenance() {
                Some(Provenance::Generated) => {
                    let document = Box::pin(of.generate(tree, now, event)).await?.ok_or_else(missing)?;
                    let late = LateDigests { workers: &tree.context.workers, store: tree.store };
                    document.sum(checksum, late, event).await?.ok_or_else(missing)?
                }
                Some(Provenance::Uploaded | Provenance::ChecksumOf(..)) | None => {
                    let entry = published(tree, inventory, &of, now, event).await?;
                    checksum_of(&entry, checksum, of.is_immutable_in(tree.repository)).ok_or_else(missing)?
                }
            }
        }
        Provenance::Generated => Box::pin(file.generate(tree, now, event)).await?.ok_or_else(missing)?,
    };
    Ok(content)
}

/// The `Last-Modified` of the file. A file that may be replaced has the date of its arrival here: new bytes with an
/// older date would look unchanged to a client that sends `If-Modified-Since`.
pub(crate) fn modified(entry: &Entry, lasting: bool) -> Millis {
    if lasting { entry.first_published() } else { entry.published }
}

fn checksum_of(entry: &Entry, checksum: Checksum, lasting: bool) -> Option<Content> {
    Some(Content { modified: Some(modified(entry, lasting)), ..Content::checksum(&entry.hashes, checksum)? })
}

/// The published file. If the names of its folder are in memory and it is not among them, the database is not queried.
async fn published(
    tree: Tree<'_>,
    inventory: &Inventory,
    file: &File<'_>,
    now: Millis,
    event: &mut Event,
) -> Result<Entry> {
    let (id, path, folder, revisions) = (tree.repository.id, file.path, file.folder, tree.store.revisions());
    // The names include withdrawn files, so a path that is not among them never existed.
    let presence = inventory.ask(id, folder, path, |stamp| revisions.holds(stamp, now));
    if presence == Presence::Missing {
        return Err(Error::NoSuchFile(path.to_owned()));
    }
    let stamp = revisions.stamp([Unit::Of(id, folder)], Millis(i64::MAX)); // before the work
    let found = find(tree, path, tree.repository.view(now), event).await;
    if let (Err(Error::NoSuchFile(_)), Presence::Unknown) = (&found, presence) {
        let before = event.runs_so_far();
        let paths = tree.store.keys(id, folder, NAMES + 1, event).await?;
        if paths.len() > NAMES {
            event.was_vain_since(&before);
        }
        inventory.keep(id, folder, paths.iter().map(String::as_str), stamp);
    }
    found
}

/// The published file at `path`, if it is visible.
pub(crate) async fn find(tree: Tree<'_>, path: &str, view: View<'_>, event: &mut Event) -> Result<Entry> {
    let entry = tree.repository.entry(tree.store, path, event).await?;
    let entry = entry.ok_or_else(|| Error::NoSuchFile(path.to_owned()))?;
    let unseen = |why: Option<Hidden>| why.map_or_else(|| Error::Removed(path.to_owned()), Error::from);
    if let Some(let_through) = shown(&entry, view).map_err(unseen)? {
        event.detail = let_through;
    }
    Ok(entry)
}

/// Opens the bytes of an entry. Small files are read into memory.
async fn open(tree: Tree<'_>, entry: Entry, lasting: bool, event: &mut Event) -> Result<Content> {
    tree.repository.refuse_purged(tree.store, &entry.key, event).await?;
    let digest = entry.hashes.sha256;
    let store = tree.store;
    let source = match entry.hashes.size_bytes {
        ..=SMALL => store.read_blob(digest, event).await.map(Source::Memory),
        _ => store.open_blob(digest, event).await.map(|(file, _)| Source::File(Arc::new(file))),
    };
    let source = match source {
        Ok(source) => source,
        Err(error) => return Err(unreadable(store, &entry, error, event).await),
    };
    Ok(Content {
        source,
        modified: Some(modified(&entry, lasting)),
        media: paths::media(&entry.key),
        lasting,
        fresh_until: None,
        freshness: None,
        hashes: Some(entry.hashes),
    })
}
