//! Documents of Maven's that are made from what was published: `maven-metadata.xml` at its three levels.

use super::listing::Listing;
use crate::hosted::Hosted;
use crate::work::aside;
use crate::{Content, Error, Repository, Source, visible};
use bytes::Bytes;
use format::maven::metadata::{self, Metadata, SnapshotFile};
use format::maven::path::{self, Kind};
use store::{Entry, Hashes, Lane};
use telemetry::{Event, Millis, Op};

/// A document.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) bytes: Bytes,
    pub(super) hashes: Hashes,
    /// When it last became another.
    pub(super) modified: Millis,
}

impl Made {
    /// The document as a file.
    pub(super) fn content(self) -> Content {
        Content {
            source: Source::Memory(self.bytes),
            hashes: Some(self.hashes),
            modified: Some(self.modified),
            media: "application/xml",
            lasting: false,
            fresh_until: None,
        }
    }
}

/// The document of this kind, as it is now; `None` where there is nothing to say.
pub(super) async fn make(
    hosted: Hosted<'_>,
    kind: Kind<'_>,
    now: Millis,
    event: &mut Event,
) -> Result<Option<Made>, Error> {
    match kind {
        Kind::Metadata(at) => metadata(hosted, at, now, event).await,
        _ => Ok(None),
    }
}

/// The metadata of a folder. A group and an artifact may have one folder, and then have one document.
async fn metadata(
    hosted: Hosted<'_>,
    at: path::Metadata<'_>,
    now: Millis,
    event: &mut Event,
) -> Result<Option<Made>, Error> {
    let (id, folder) = (hosted.repository.id, at.folder.to_owned());
    let repository = hosted.repository.clone();
    if at.snapshot().is_some() {
        let unit = hosted.store.unit(id, &folder, Lane::Index, event).await?;
        let rows = unit.entries.len();
        let render = move || Ok(render(of_builds(&folder, &unit.entries, &repository, now)));
        return aside(&hosted.keeper.workers, (Lane::Index, Op::IndexRender), rows, event, render).await;
    }
    let known = hosted.store.facts(id, &folder, event).await?;
    let listing = Listing::read(&folder, known.facts)?;
    let rows = listing.versions.len();
    let render = move || Ok(render(of_versions(&folder, &listing, &repository, now)));
    aside(&hosted.keeper.workers, (Lane::Index, Op::IndexRender), rows, event, render).await
}

fn render(document: Option<(Metadata, Millis)>) -> Option<Made> {
    let (document, modified) = document?;
    let bytes = Bytes::from(document.render());
    Some(Made { hashes: Hashes::of(&bytes), bytes, modified })
}

/// Which versions the artifact of this folder has.
fn of_versions(folder: &str, listing: &Listing, repository: &Repository, now: Millis) -> Option<(Metadata, Millis)> {
    let (group, artifact) = folder.rsplit_once('/')?;
    let seen: Vec<_> = visible(&listing.versions, repository.view(now)).map(|seen| seen.entry()).collect();
    if seen.is_empty() {
        return None;
    }
    // Taking one away is a change too.
    let changed = listing.versions.iter().map(|listed| listed.changed).max()?;
    let versions = seen.iter().map(|listed| listed.version.as_str());
    let document = metadata::versions((&group.replace('/', "."), artifact), versions, changed.0);
    Some((document, changed))
}

/// Which builds the snapshot of this folder has.
fn of_builds(folder: &str, rows: &[Entry], repository: &Repository, now: Millis) -> Option<(Metadata, Millis)> {
    let (above, version) = folder.rsplit_once('/')?;
    let (group, artifact) = above.rsplit_once('/')?;
    let seen = visible(rows, repository.view(now)).filter_map(|seen| {
        let Kind::Artifact(artifact) = path::read(&seen.entry().key)?.kind else { return None };
        Some(SnapshotFile {
            file_version: artifact.file_version,
            classifier: artifact.classifier,
            extension: artifact.extension,
            came: seen.entry().published.0,
        })
    });
    let files: Vec<_> = seen.collect();
    if files.is_empty() {
        return None;
    }
    let changed = rows.iter().map(|entry| entry.changed).max()?;
    Some((metadata::snapshot((&group.replace('/', "."), artifact, version), files), changed))
}
