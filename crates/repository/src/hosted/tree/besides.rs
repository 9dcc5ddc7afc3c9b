//! What a change of files brings and expects besides: a POM comes with what its folders list.

use super::Tree;
use super::listing::{self, Archetype, Item, Listed, Plugin, Version};
use super::place::{self, File, Place};
use crate::{Error, Format, visible};
use format::maven::path::Artifact;
use format::maven::pom::Pom;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Change, Entry, Expect, State};
use telemetry::{Event, Millis};

/// What there is besides.
#[derive(Debug, Default)]
pub(super) struct Besides {
    pub(super) expect: Vec<Expect>,
    pub(super) changes: Vec<Change>,
}

/// What a POM says that its folders list, beside the version: among the facts of its entry under `lists`, so that nobody
/// has to read it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Lists {
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<Plugin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archetype: Option<Archetype>,
}

impl Lists {
    /// What the POM of `artifact` says. A POM that cannot be read says nothing: it is published all the same.
    pub(super) fn of(artifact: Artifact<'_>, pom: &[u8]) -> Self {
        let Ok(pom) = Pom::read(pom) else { return Self::default() };
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

/// The artifact whose POM a path is.
pub(super) fn pom(path: &str) -> Option<Artifact<'_>> {
    file(path)?.pom()
}

fn artifact(path: &str) -> Option<Artifact<'_>> {
    file(path)?.artifact
}

fn file(path: &str) -> Option<File<'_>> {
    match place::read(Format::Maven, path)? {
        Place::File(file) => Some(file),
        _ => None,
    }
}

impl Besides {
    /// Lists what comes with the POM of `artifact`.
    pub(super) async fn publishing(
        tree: Tree<'_>,
        artifact: Artifact<'_>,
        lists: &Lists,
        at: Millis,
        event: &mut Event,
    ) -> Result<Self, Error> {
        let mut besides = Self::default();
        besides.set(tree, (artifact, lists, State::Live), at, event).await?;
        Ok(besides)
    }

    /// Lists a version of the artifact of a folder.
    pub(super) async fn listing(
        tree: Tree<'_>,
        (folder, version): (&str, &str),
        at: Millis,
        event: &mut Event,
    ) -> Result<Self, Error> {
        let (mut besides, version) = (Self::default(), Version { version: version.to_owned() });
        besides.list(tree, folder, (&version, State::Live), at, event).await?;
        Ok(besides)
    }

    /// Follows a change of a folder's files: of `before`, some become `changed`.
    pub(super) async fn following(
        tree: Tree<'_>,
        (before, changed): (&[Entry], &[Entry]),
        at: Millis,
        event: &mut Event,
    ) -> Result<Self, Error> {
        let mut besides = Self::default();
        let unchanged = before.iter().filter(|entry| changed.iter().all(|changed| changed.key != entry.key));
        let after: Vec<Entry> = unchanged.chain(changed).cloned().collect();
        let mut seen = visible(&after, tree.repository.view(at)).map(|seen| seen.entry());
        let poms = changed.iter().find_map(|entry| Some((pom(&entry.key)?, entry)));
        if let Some((artifact, entry)) = poms {
            let state = if seen.any(|entry| pom(&entry.key).is_some()) { State::Live } else { State::Withdrawn };
            besides.set(tree, (artifact, &Lists::read(entry)?, state), at, event).await?;
        } else if seen.next().is_none()
            && let Some(artifact) = changed.iter().find_map(|entry| artifact(&entry.key))
        {
            // One that was listed without a POM.
            besides.set(tree, (artifact, &Lists::default(), State::Withdrawn), at, event).await?;
        }
        Ok(besides)
    }

    async fn set(
        &mut self,
        tree: Tree<'_>,
        (artifact, lists, state): (Artifact<'_>, &Lists, State),
        at: Millis,
        event: &mut Event,
    ) -> Result<(), Error> {
        let id = tree.repository.id;
        let folder = format!("{}/{}", artifact.group, artifact.artifact);
        let version = Version { version: artifact.version.to_owned() };
        // Before the versions are read: who lists another one meanwhile changes the folder.
        let seq = tree.store.facts(id, &folder, event).await?.seq;
        self.list(tree, &folder, (&version, state), at, event).await?;
        if let Some(plugin) = &lists.plugin {
            let state = match state {
                State::Withdrawn => {
                    self.expect.push(Expect::UnitAt { repository: id, unit: folder.clone(), seq });
                    let versions = listing::read::<Version>(tree, &folder, event).await?;
                    let mut others = visible(&versions, tree.repository.view(at)).map(|seen| &seen.entry().what);
                    if others.any(|other| *other != version) { State::Live } else { state }
                }
                State::Live => state,
            };
            self.list(tree, artifact.group, (plugin, state), at, event).await?;
        }
        if let Some(archetype) = &lists.archetype {
            self.list(tree, "", (archetype, state), at, event).await?;
        }
        Ok(())
    }

    /// Has `folder` list something, or no longer.
    async fn list<T: Item>(
        &mut self,
        tree: Tree<'_>,
        folder: &str,
        (what, state): (&T, State),
        at: Millis,
        event: &mut Event,
    ) -> Result<(), Error> {
        let (repository, unit) = (tree.repository.id, listing::unit(folder, what));
        let known = tree.store.facts(repository, &unit, event).await?;
        // Expected also where nothing is to be changed: else somebody could take it from the list meanwhile.
        self.expect.push(Expect::UnitAt { repository, unit: unit.clone(), seq: known.seq });
        if let Some(listed) = Listed::after(Listed::read(&unit, known.facts)?, what, state, at) {
            let facts = serde_json::to_value(&listed);
            let facts = facts.map_err(|source| Error::Unreadable { key: unit.clone(), source })?;
            self.changes.push(Change::Unit { repository, unit, facts });
            // What is answered of the folder becomes another.
            self.changes.push(Change::Unit { repository, unit: folder.to_owned(), facts: Value::Null });
        }
        Ok(())
    }
}
