//! Documents of Maven's that are made from what was published: `maven-metadata.xml` at its three levels, the catalog of
//! archetypes, the beginnings of all paths.

use super::Tree;
use super::listing::{self, Archetype, Listed, Plugin, Version};
use crate::work::aside;
use crate::{Content, Error, Repository, Source, visible};
use bytes::Bytes;
use format::maven::catalog;
use format::maven::metadata::{self, Metadata, SnapshotFile};
use format::maven::path::{self, Kind};
use format::maven::prefixes::Prefixes;
use store::{Entry, Hashes, Lane};
use telemetry::{Event, Millis, Op};

/// Most beginnings that are looked for. Where there are more there is no list: one that lacks any makes clients refuse what is
/// there.
const PREFIXES: usize = 10_000;

/// A document.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) bytes: Bytes,
    pub(super) hashes: Hashes,
    /// When it last became another, where that is known.
    pub(super) modified: Option<Millis>,
    media: &'static str,
}

impl Made {
    fn of(text: String, modified: Option<Millis>, media: &'static str) -> Self {
        let bytes = Bytes::from(text);
        Self { hashes: Hashes::of(&bytes), bytes, modified, media }
    }

    /// The document as a file.
    pub(super) fn content(self) -> Content {
        Content {
            source: Source::Memory(self.bytes),
            hashes: Some(self.hashes),
            modified: self.modified,
            media: self.media,
            lasting: false,
            fresh_until: None,
            freshness: None,
        }
    }
}

/// The document of this kind, as it is now; `None` where there is nothing to say.
pub(super) async fn make(
    tree: Tree<'_>,
    kind: Kind<'_>,
    now: Millis,
    event: &mut Event,
) -> Result<Option<Made>, Error> {
    let xml = |(text, modified)| Made::of(text, Some(modified), "application/xml");
    let (id, repository) = (tree.repository.id, tree.repository.clone());
    match kind {
        Kind::Metadata(at) if at.snapshot().is_some() => {
            let folder = at.folder.to_owned();
            let unit = tree.store.unit(id, &folder, Lane::Index, event).await?;
            let rows = unit.entries.len();
            let render = move || of_builds(&folder, &unit.entries, &repository, now).map(xml);
            rendered(tree, rows, render, event).await
        }
        Kind::Metadata(at) => {
            let folder = at.folder.to_owned();
            let versions = listing::read(tree, at.folder, event).await?;
            let plugins = listing::read(tree, at.folder, event).await?;
            let rows = versions.len() + plugins.len();
            rendered(tree, rows, move || of_lists(&folder, &versions, &plugins, &repository, now).map(xml), event).await
        }
        Kind::Catalog => {
            let listed = listing::read(tree, "", event).await?;
            rendered(tree, listed.len(), move || of_archetypes(&listed, &repository, now).map(xml), event).await
        }
        Kind::Prefixes => {
            let prefixes = prefixes(tree, event).await?;
            Ok(prefixes.map(|prefixes| Made::of(prefixes.render(), None, "text/plain")))
        }
        Kind::Artifact(_) | Kind::Settings | Kind::Index => Ok(None),
    }
}

/// Makes a document of so many rows.
async fn rendered(
    tree: Tree<'_>,
    rows: usize,
    render: impl FnOnce() -> Option<Made> + Send + 'static,
    event: &mut Event,
) -> Result<Option<Made>, Error> {
    aside(&tree.keeper.workers, (Lane::Index, Op::IndexRender), rows, event, move || Ok(render())).await
}

/// Which versions the artifact of this folder has, and which plugins the group. They may have one folder, and then have one
/// document.
fn of_lists(
    folder: &str,
    versions: &[Listed<Version>],
    plugins: &[Listed<Plugin>],
    repository: &Repository,
    now: Millis,
) -> Option<(String, Millis)> {
    let view = repository.view(now);
    // Taking one away is a change too.
    let changed =
        versions.iter().map(|listed| listed.changed).chain(plugins.iter().map(|listed| listed.changed)).max()?;
    let plugins = visible(plugins, view).map(|seen| &seen.entry().what);
    let plugins = metadata::plugins(plugins.map(|plugin| metadata::Plugin {
        name: plugin.name.clone(),
        prefix: plugin.prefix.clone(),
        artifact: plugin.artifact.clone(),
    }));
    let mut seen = visible(versions, view).map(|seen| seen.entry().what.version.as_str()).peekable();
    let document = match (seen.peek(), folder.rsplit_once('/')) {
        (Some(_), Some((group, artifact))) => {
            let versions = metadata::versions((&group.replace('/', "."), artifact), seen, changed.0);
            Metadata { plugins: plugins.plugins, ..versions }
        }
        _ if plugins.plugins.is_empty() => return None,
        _ => plugins,
    };
    Some((document.render(), changed))
}

/// The archetypes of the repository.
fn of_archetypes(listed: &[Listed<Archetype>], repository: &Repository, now: Millis) -> Option<(String, Millis)> {
    let seen = visible(listed, repository.view(now)).map(|seen| &seen.entry().what);
    let archetypes: Vec<_> = seen
        .map(|archetype| catalog::Archetype {
            group: archetype.group.clone(),
            artifact: archetype.artifact.clone(),
            version: archetype.version.clone(),
            description: archetype.description.clone(),
        })
        .collect();
    let changed = listed.iter().map(|listed| listed.changed).max().filter(|_| !archetypes.is_empty())?;
    Some((catalog::render(archetypes), changed))
}

/// Which builds the snapshot of this folder has.
fn of_builds(folder: &str, rows: &[Entry], repository: &Repository, now: Millis) -> Option<(String, Millis)> {
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
    let document = metadata::snapshot((&group.replace('/', "."), artifact, version), files);
    Some((document.render(), changed))
}

/// The beginnings of all paths; `None` where there are too many, or none.
async fn prefixes(tree: Tree<'_>, event: &mut Event) -> Result<Option<Prefixes>, Error> {
    let (mut found, mut after) = (Vec::new(), String::new());
    while let Some(folder) = tree.store.units(tree.repository.id, &after, 1, event).await?.pop() {
        // On behind all that begins like this one; folders that are a beginning themselves stand before others of that.
        after = match folder.match_indices('/').nth(1) {
            Some((end, _)) => format!("{}/{}", &folder[..end], char::MAX),
            None => folder.clone(),
        };
        found.push(folder);
        if found.len() > PREFIXES {
            return Ok(None);
        }
    }
    Ok(Prefixes::of(found.iter().map(String::as_str)).filter(|_| !found.is_empty()))
}
