//! The documents that a hosted Maven repository generates: `maven-metadata.xml` at its three levels, and the catalog of
//! archetypes.

use crate::content::Content;
use crate::error::Result;
use crate::maven::layout::MavenPath;
use crate::maven::listing::{self, Archetype, Item, ListingRow, Plugin, Version};
use crate::policy::hidden::Hidden;
use crate::policy::rules::View;
use crate::tree::Tree;
use crate::visible;
use crate::visible::{hidden, next_change, shown};
use crate::workers::aside;
use format::maven::catalog;
use format::maven::metadata::{self, Metadata, SnapshotFile};
use format::maven::path::Kind;
use store::{Entry, Lane};
use telemetry::{Event, Millis, Op};

/// A document rendered from the rows of a view.
struct RenderedDocument {
    /// The document, and the date of the last change of its rows; `None`: it would be empty.
    document: Option<(String, Millis)>,
    /// When other rows become visible without a change.
    until: Option<Millis>,
}

impl MavenPath<'_> {
    /// The present document at this path; `None`: it would be empty.
    pub(crate) async fn generate(&self, tree: Tree<'_>, now: Millis, event: &mut Event) -> Result<Option<Content>> {
        let Some(kind) = self.kind() else { return Ok(None) };
        let repository = tree.repository.clone();
        match kind {
            Kind::Metadata(at) if at.snapshot().is_some() => {
                let folder = at.folder.to_owned();
                let entries = repository.live_unit(tree.store, &folder, event).await?;
                let rows = entries.len();
                let render = move || {
                    let view = repository.view(now);
                    RenderedDocument {
                        document: of_builds(&folder, &entries, view),
                        until: next_change(&entries, view),
                    }
                    .made(view)
                };
                rendered(tree, rows, render, event).await
            }
            Kind::Metadata(at) => {
                let folder = at.folder.to_owned();
                let versions = listing::read(tree, at.folder, event).await?;
                let plugins = listing::read(tree, at.folder, event).await?;
                let rows = versions.len() + plugins.len();
                describe_hidden(&versions, repository.view(now), event);
                let render = move || {
                    let view = repository.view(now);
                    let document = of_lists(&folder, &versions, &plugins, view);
                    RenderedDocument { document, until: next_change(&versions, view) }.made(view)
                };
                rendered(tree, rows, render, event).await
            }
            Kind::Catalog => {
                let listed = listing::read(tree, "", event).await?;
                let rows = listed.len();
                let render = move || {
                    let view = repository.view(now);
                    RenderedDocument { document: of_archetypes(&listed, view), until: next_change(&listed, view) }
                        .made(view)
                };
                rendered(tree, rows, render, event).await
            }
            Kind::Artifact(_) | Kind::Prefixes | Kind::Settings | Kind::Index => Ok(None),
        }
    }
}

/// Tells the event which versions a policy leaves out, and why.
fn describe_hidden(versions: &[ListingRow<Version>], view: View<'_>, event: &mut Event) {
    if view.rules.is_open() {
        return;
    }
    let left_out: Vec<Hidden> = hidden(versions, view).map(|(_, why)| why).collect();
    if !left_out.is_empty() {
        event.detail = Hidden::describe(visible(versions, view).count() + left_out.len(), &left_out);
    }
}

/// Renders a document of this number of rows.
async fn rendered(
    tree: Tree<'_>,
    rows: usize,
    render: impl FnOnce() -> Option<Content> + Send + 'static,
    event: &mut Event,
) -> Result<Option<Content>> {
    event.more_mut().sized(rows);
    aside(&tree.context.workers, Lane::Index, Op::IndexRender, rows, event, move || Ok(render())).await
}

impl RenderedDocument {
    /// If the policy hides rows, the document can change without a change of rows, so it has no date.
    fn made(self, view: View<'_>) -> Option<Content> {
        let (text, changed) = self.document?;
        let modified = view.rules.is_open().then_some(changed);
        Some(Content { modified, fresh_until: self.until, ..Content::text(text, "application/xml") })
    }
}

/// The dates of changes of a folder's list. A removal is a change. Hidden items are left out.
fn changes<T: Item>(listed: &[ListingRow<T>], view: View<'_>) -> impl Iterator<Item = Millis> {
    listed.iter().filter(move |one| view.rules.is_open() || shown(*one, view).is_ok()).map(|one| one.changed)
}

/// The versions of the artifact in this folder, and the plugins of the group. If both have the same folder, they share
/// one document.
fn of_lists(
    folder: &str,
    versions: &[ListingRow<Version>],
    plugins: &[ListingRow<Plugin>],
    view: View<'_>,
) -> Option<(String, Millis)> {
    let changed = changes(versions, view).chain(changes(plugins, view)).max().unwrap_or_default();
    let is_hidden = hidden(versions, view).next().is_some();
    let plugins = visible(plugins, view).map(|seen| &seen.entry().what);
    let plugins = plugins.map(|plugin| metadata::Plugin {
        name: plugin.name.clone(),
        prefix: plugin.prefix.clone(),
        artifact: plugin.artifact.clone(),
    });
    let seen = visible(versions, view).map(|seen| seen.entry().what.version.as_str());
    let document = metadata::listing(folder, seen, is_hidden, plugins, changed.0)?;
    Some((document.render(), changed))
}

/// The archetypes of the repository.
fn of_archetypes(listed: &[ListingRow<Archetype>], view: View<'_>) -> Option<(String, Millis)> {
    let seen = visible(listed, view).map(|seen| &seen.entry().what);
    let archetypes: Vec<_> = seen
        .map(|archetype| catalog::Archetype {
            group: archetype.group.clone(),
            artifact: archetype.artifact.clone(),
            version: archetype.version.clone(),
            description: archetype.description.clone(),
        })
        .collect();
    let changed = changes(listed, view).max().filter(|_| !archetypes.is_empty())?;
    Some((catalog::render(archetypes), changed))
}

/// The builds of the snapshot in this folder.
fn of_builds(folder: &str, rows: &[Entry], view: View<'_>) -> Option<(String, Millis)> {
    let (above, version) = folder.rsplit_once('/')?;
    let (group, artifact) = above.rsplit_once('/')?;
    let seen = visible(rows, view).filter_map(|seen| {
        let artifact = MavenPath::read(&seen.entry().key).artifact()?;
        Some(SnapshotFile {
            file_version: artifact.file_version,
            classifier: artifact.classifier,
            extension: artifact.extension,
            came: seen.entry().published.0,
        })
    });
    let files: Vec<_> = seen.collect();
    let group = group.replace('/', ".");
    if files.is_empty() {
        // A view of another moment shows that the snapshot exists, without its builds.
        hidden(rows, view).next()?;
        let (group, artifact, version) = (Some(group), Some(artifact.to_owned()), Some(version.to_owned()));
        return Some((Metadata { group, artifact, version, ..Metadata::default() }.render(), Millis(0)));
    }
    let rows = rows.iter().filter(|row| view.rules.is_open() || shown(*row, view).is_ok());
    let changed = rows.map(|entry| entry.changed).max()?;
    let document = metadata::snapshot(&group, artifact, version, files);
    Some((document.render(), changed))
}
