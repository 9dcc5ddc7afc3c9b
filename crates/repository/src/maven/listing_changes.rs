//! What a change of files brings and expects changes: a POM comes with what its folders list.

use crate::error::Error;
use crate::maven::layout::MavenPath;
use crate::maven::listing::{self, Archetype, Item, ListingRow, Plugin, Version};
use crate::tree::Tree;
use crate::visible;
use format::maven::path::Artifact;
use format::maven::pom::Pom;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Change, Entry, EntryOrigin, Expect, State};
use telemetry::{Event, Millis};

/// What there is changes.
#[derive(Debug, Default)]
pub(crate) struct ListingChanges {
    pub(crate) expect: Vec<Expect>,
    pub(crate) changes: Vec<Change>,
}

/// What became of something that is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Now {
    /// It is published; at its origin it was at this moment, where that is known.
    Published(Option<Millis>),
    /// Other files of it changed, and it is offered.
    Offered,
    /// It is no longer offered.
    Gone,
}

/// What a POM says that its folders list, beside the version: among the facts of its entry under `lists`, so that nobody
/// has to read it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PomListings {
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<Plugin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archetype: Option<Archetype>,
}

impl PomListings {
    /// What the POM of `artifact` says.
    pub(crate) fn of(artifact: Artifact<'_>, pom: Pom) -> Self {
        let plugin = pom.plugin().map(|plugin| Plugin {
            // Where it is decides what it is called.
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

    fn read(entry: &Entry) -> Result<Self, Error> {
        let said = entry.facts.get("lists").map(Deserialize::deserialize).transpose();
        Ok(said.map_err(|source| Error::Unreadable { key: entry.key.clone(), source })?.unwrap_or_default())
    }
}

impl ListingChanges {
    /// Adds what comes with the POM of `artifact`.
    pub(crate) async fn publishing(
        tree: Tree<'_>,
        artifact: Artifact<'_>,
        lists: &PomListings,
        origin: Option<&EntryOrigin>,
        at: Millis,
        event: &mut Event,
    ) -> Result<Self, Error> {
        let mut changes = Self::default();
        let now = Now::Published(origin.map(|origin| origin.at));
        changes.set(tree, (artifact, lists, now), at, event).await?;
        Ok(changes)
    }

    /// Adds a version to the listing of the artifact of a folder.
    pub(crate) async fn listing(
        tree: Tree<'_>,
        folder: &str,
        version: &Version,
        at: Millis,
        event: &mut Event,
    ) -> Result<Self, Error> {
        let mut changes = Self::default();
        changes.list(tree, folder, (version, Now::Published(None)), at, event).await?;
        Ok(changes)
    }

    /// The first file of a version may be the first of its artifact's name, which is nobody else's from then on: what groups
    /// answer of the artifact, and of the plugins of its group, becomes another.
    pub(crate) fn claim(&mut self, tree: Tree<'_>, artifact: Artifact<'_>) {
        let repository = tree.repository.id;
        for unit in [format!("{}/{}", artifact.group, artifact.artifact), artifact.group.to_owned()] {
            self.changes.push(Change::Unit { repository, unit, facts: Value::Null });
        }
    }

    /// Says something else of a plugin that the group of a folder lists, if that is what it listed `before`.
    pub(crate) async fn saying(
        &mut self,
        tree: Tree<'_>,
        folder: &str,
        (before, plugin): (&Plugin, &Plugin),
        at: Millis,
        event: &mut Event,
    ) -> Result<(), Error> {
        let unit = listing::unit(folder, before);
        let known = tree.store.facts(tree.repository.id, &unit, event).await?;
        let listed = [ListingRow::<Plugin>::read(&unit, known.facts)?].into_iter().flatten().collect::<Vec<_>>();
        if visible(&listed, tree.repository.whole(at)).any(|seen| seen.entry().what == *before) {
            self.expect.push(Expect::UnitAt { repository: tree.repository.id, unit, seq: known.seq });
            self.list(tree, folder, (plugin, Now::Published(None)), at, event).await?;
        }
        Ok(())
    }

    /// Follows a change of a folder's files: of `before`, some become `changed`.
    pub(crate) async fn following(
        tree: Tree<'_>,
        before: &[Entry],
        changed: &[Entry],
        at: Millis,
        event: &mut Event,
    ) -> Result<Self, Error> {
        let mut changes = Self::default();
        let unchanged = before.iter().filter(|entry| changed.iter().all(|changed| changed.key != entry.key));
        let after: Vec<Entry> = unchanged.chain(changed).cloned().collect();
        let mut seen = visible(&after, tree.repository.whole(at)).map(|seen| seen.entry());
        let poms = changed.iter().find_map(|entry| Some((MavenPath::read(&entry.key).pom()?, entry)));
        if let Some((artifact, entry)) = poms {
            let now =
                if seen.any(|entry| MavenPath::read(&entry.key).pom().is_some()) { Now::Offered } else { Now::Gone };
            changes.set(tree, (artifact, &PomListings::read(entry)?, now), at, event).await?;
        } else if seen.next().is_none()
            && let Some(artifact) = changed.iter().find_map(|entry| MavenPath::read(&entry.key).artifact())
        {
            // One that was listed without a POM.
            changes.set(tree, (artifact, &PomListings::default(), Now::Gone), at, event).await?;
        }
        Ok(changes)
    }

    async fn set(
        &mut self,
        tree: Tree<'_>,
        (artifact, lists, now): (Artifact<'_>, &PomListings, Now),
        at: Millis,
        event: &mut Event,
    ) -> Result<(), Error> {
        let id = tree.repository.id;
        let folder = format!("{}/{}", artifact.group, artifact.artifact);
        let version = Version { version: artifact.version.to_owned() };
        // Before the versions are read: who lists another one meanwhile changes the folder.
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

    /// Has `folder` list something, or no longer.
    async fn list<T: Item>(
        &mut self,
        tree: Tree<'_>,
        folder: &str,
        (what, now): (&T, Now),
        at: Millis,
        event: &mut Event,
    ) -> Result<(), Error> {
        let (repository, unit) = (tree.repository.id, listing::unit(folder, what));
        let known = tree.store.facts(repository, &unit, event).await?;
        // Expected also where nothing is to be changed: else somebody could take it from the list meanwhile.
        self.expect.push(Expect::UnitAt { repository, unit: unit.clone(), seq: known.seq });
        let before = ListingRow::read(&unit, known.facts)?;
        let listed = match now {
            Now::Published(origin) => ListingRow::after(before, what, State::Live, origin, at),
            Now::Offered => {
                // What is said of it is what was published last.
                let said = before.as_ref().map_or_else(|| what.clone(), |before| before.what.clone());
                ListingRow::after(before, &said, State::Live, None, at)
            }
            Now::Gone => ListingRow::after(before, what, State::Withdrawn, None, at),
        };
        if let Some(listed) = listed {
            let facts = serde_json::to_value(&listed);
            let facts = facts.map_err(|source| Error::Unreadable { key: unit.clone(), source })?;
            self.changes.push(Change::Unit { repository, unit, facts });
            // What is answered of the folder becomes another.
            self.changes.push(Change::Unit { repository, unit: folder.to_owned(), facts: Value::Null });
        }
        Ok(())
    }
}
