//! The additional changes and expectations of a change of files: a POM changes the lists of folders.

use crate::error::{Error, Result};
use crate::maven::layout::MavenPath;
use crate::maven::listing::{self, Archetype, Item, ListingRow, Plugin, Version};
use crate::tree::Tree;
use crate::tree::further_changes::FurtherChanges;
use crate::visible;
use format::maven::path::Artifact;
use format::maven::pom::Pom;
use format::tree as paths;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Change, Entry, EntryOrigin, Expect, State};
use telemetry::{Event, Millis};

/// The change of a listed item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Now {
    /// It is published. The date is that of the original publication elsewhere, if it is known.
    Published(Option<Millis>),
    /// Other files of it changed, and it is still listed.
    Offered,
    /// It is no longer listed.
    Gone,
}

/// The items that a POM adds to the lists of folders, besides its version. They stand among the facts of its entry
/// under `lists`, so the POM need not be parsed again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PomListings {
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<Plugin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archetype: Option<Archetype>,
}

impl PomListings {
    /// The items that the POM of `artifact` adds.
    pub(crate) fn of(artifact: Artifact<'_>, pom: Pom) -> Self {
        let plugin = pom.plugin().map(|plugin| Plugin {
            // The path decides the name.
            artifact: artifact.artifact.to_owned(),
            prefix: plugin.prefix,
            name: plugin.name,
        });
        let archetype = pom.is_archetype().then(|| Archetype {
            group: artifact.group_id(),
            artifact: artifact.artifact.to_owned(),
            version: artifact.version.to_owned(),
            description: pom.description.or(pom.name),
        });
        Self { plugin, archetype }
    }

    /// The items in the facts of the POM with this key.
    pub(crate) fn read(key: &str, facts: &Value) -> Result<Self> {
        let said = facts.get("lists").map(Deserialize::deserialize).transpose();
        Ok(said.map_err(|source| Error::Unreadable { key: key.to_owned(), source })?.unwrap_or_default())
    }
}

impl MavenPath<'_> {
    /// Adds the changes that follow from a change of a folder's files: `before` are all of them, and `changed` some in
    /// their new state.
    pub(crate) async fn following(
        &self,
        tree: Tree<'_>,
        before: &[Entry],
        changed: &[Entry],
        at: Millis,
        event: &mut Event,
    ) -> Result<FurtherChanges> {
        let mut changes = FurtherChanges::default();
        let unchanged = before.iter().filter(|entry| changed.iter().all(|changed| changed.key != entry.key));
        let after: Vec<Entry> = unchanged.chain(changed).cloned().collect();
        let mut seen = visible(&after, tree.repository.whole(at)).map(|seen| seen.entry());
        let poms = changed.iter().find_map(|entry| Some((MavenPath::read(&entry.key).pom()?, entry)));
        if let Some((artifact, entry)) = poms {
            let now =
                if seen.any(|entry| MavenPath::read(&entry.key).pom().is_some()) { Now::Offered } else { Now::Gone };
            changes.set(tree, (artifact, &PomListings::read(&entry.key, &entry.facts)?, now), at, event).await?;
        } else if seen.next().is_none()
            && let Some(artifact) = changed.iter().find_map(|entry| MavenPath::read(&entry.key).artifact())
        {
            // This version was listed without a POM.
            changes.set(tree, (artifact, &PomListings::default(), Now::Gone), at, event).await?;
        }
        Ok(changes)
    }
}

impl FurtherChanges {
    /// Adds the changes that the POM of `artifact` causes.
    pub(crate) async fn publishing(
        tree: Tree<'_>,
        artifact: Artifact<'_>,
        lists: &PomListings,
        origin: Option<&EntryOrigin>,
        at: Millis,
        event: &mut Event,
    ) -> Result<Self> {
        let mut changes = Self::default();
        let now = Now::Published(origin.map(|origin| origin.at));
        changes.set(tree, (artifact, lists, now), at, event).await?;
        Ok(changes)
    }

    /// Adds a version to the list of an artifact's folder.
    pub(crate) async fn listing(
        tree: Tree<'_>,
        folder: &str,
        version: &Version,
        at: Millis,
        event: &mut Event,
    ) -> Result<Self> {
        let mut changes = Self::default();
        changes.list(tree, folder, (version, Now::Published(None)), at, event).await?;
        Ok(changes)
    }

    /// Raises the revisions of a new name. The first file of a version may be the first under the name of its artifact.
    /// From then on the name belongs to the hosted repository, and the answers of groups about the artifact and about
    /// the plugins of its group change.
    pub(crate) fn claim(&mut self, tree: Tree<'_>, version: &str) {
        let (repository, artifact) = (tree.repository.id, paths::folder(version));
        for unit in [artifact, paths::folder(artifact)].into_iter().filter(|unit| !unit.is_empty()) {
            self.changes.push(Change::Unit { repository, unit: unit.to_owned(), facts: Value::Null });
        }
    }

    /// Changes the facts of a plugin in a folder's list, if they are still those `before`.
    pub(crate) async fn saying(
        &mut self,
        tree: Tree<'_>,
        folder: &str,
        (before, plugin): (&Plugin, &Plugin),
        at: Millis,
        event: &mut Event,
    ) -> Result<()> {
        let unit = listing::unit(folder, before);
        let known = tree.store.facts(tree.repository.id, &unit, event).await?;
        let listed = [ListingRow::<Plugin>::read(&unit, known.facts)?].into_iter().flatten().collect::<Vec<_>>();
        if visible(&listed, tree.repository.whole(at)).any(|seen| seen.entry().what == *before) {
            self.expect.push(Expect::UnitAt { repository: tree.repository.id, unit, seq: known.seq });
            self.list(tree, folder, (plugin, Now::Published(None)), at, event).await?;
        }
        Ok(())
    }

    async fn set(
        &mut self,
        tree: Tree<'_>,
        (artifact, lists, now): (Artifact<'_>, &PomListings, Now),
        at: Millis,
        event: &mut Event,
    ) -> Result<()> {
        let id = tree.repository.id;
        let folder = format!("{}/{}", artifact.group, artifact.artifact);
        let version = Version { version: artifact.version.to_owned() };
        // Taken before the versions are read: a concurrent addition changes the folder.
        let seq = tree.store.facts(id, &folder, event).await?.seq;
        self.list(tree, &folder, (&version, now), at, event).await?;
        if let Some(plugin) = &lists.plugin {
            let now = match now {
                Now::Gone => {
                    self.expect.push(Expect::UnitAt { repository: id, unit: folder.clone(), seq });
                    let versions = listing::read::<Version>(tree, &folder, event).await?;
                    let mut others = visible(&versions, tree.repository.whole(at)).map(|seen| &seen.entry().what);
                    if others.any(|other| *other != version) { Now::Offered } else { now }
                }
                // A plugin is listed for all its versions, and has no age.
                Now::Published(_) => Now::Published(None),
                Now::Offered => now,
            };
            self.list(tree, artifact.group, (plugin, now), at, event).await?;
        }
        if let Some(archetype) = &lists.archetype {
            self.list(tree, "", (archetype, now), at, event).await?;
        }
        Ok(())
    }

    /// Adds an item to the list of `folder`, or removes it.
    async fn list<T: Item>(
        &mut self,
        tree: Tree<'_>,
        folder: &str,
        (what, now): (&T, Now),
        at: Millis,
        event: &mut Event,
    ) -> Result<()> {
        let (repository, unit) = (tree.repository.id, listing::unit(folder, what));
        let known = tree.store.facts(repository, &unit, event).await?;
        // Expected even if nothing changes: otherwise a concurrent change could remove the item.
        self.expect.push(Expect::UnitAt { repository, unit: unit.clone(), seq: known.seq });
        let before = ListingRow::read(&unit, known.facts)?;
        let listed = match now {
            Now::Published(origin) => ListingRow::after(before, what, State::Live, origin, at),
            Now::Offered => {
                // The facts of the last publication count.
                let said = before.as_ref().map_or_else(|| what.clone(), |before| before.what.clone());
                ListingRow::after(before, &said, State::Live, None, at)
            }
            Now::Gone => ListingRow::after(before, what, State::Withdrawn, None, at),
        };
        if let Some(listed) = listed {
            let facts = serde_json::to_value(&listed);
            let facts = facts.map_err(|source| Error::Unreadable { key: unit.clone(), source })?;
            self.changes.push(Change::Unit { repository, unit, facts });
            // The answers about the folder change.
            self.changes.push(Change::Unit { repository, unit: folder.to_owned(), facts: Value::Null });
        }
        Ok(())
    }
}
