//! Metadata that a client uploads. It is not stored, but two of its facts are recorded, because nothing else has them:
//! that a version without a POM is complete, and a plugin prefix that only the plugin's package contains.

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::maven::layout::MavenPath;
use crate::maven::listing::{self, Plugin, Version};
use crate::tree::further_changes::FurtherChanges;
use crate::tree::{TRIES, Tree};
use crate::visible;
use format::maven::metadata::{self, Metadata};
use format::maven::{self, pom};
use std::collections::{HashMap, HashSet};
use store::{CommitError, Expect, Lane, Staged};
use telemetry::{Event, Millis, Op};

/// Maximum number of new versions, and of new plugins, that are read from one document. A deploy adds one to the listed
/// ones.
const NEWS: usize = 16;

impl MavenPath<'_> {
    /// Records the new facts of the metadata that was uploaded to this path. The metadata itself is not stored.
    pub(crate) async fn take_metadata(
        &self,
        tree: Tree<'_>,
        staged: &Staged,
        (by, now): (Actor<'_>, impl Fn() -> Millis),
        event: &mut Event,
    ) -> Result<()> {
        let Some(at) = self.metadata().filter(|at| !at.folder.is_empty() && at.snapshot().is_none()) else {
            return Ok(());
        };
        let bytes = staged.beginning(maven::LONGEST as u64 + 1, event).await?;
        // Unreadable metadata adds nothing.
        let read = move |(): &mut ()| Metadata::read(&bytes).unwrap_or_default();
        let said = tree.context.workers.run(Lane::Change, Op::PackageRead, event, read).await?;
        if at.artifact().is_some() && !said.versions.is_empty() {
            versions(tree, at.folder, &said.versions, (by, &now), event).await?;
        }
        if !said.plugins.is_empty() {
            plugins(tree, at.folder, said.plugins, (by, &now), event).await?;
        }
        Ok(())
    }
}

/// Lists versions that have files in the artifact's folder and are not listed yet.
async fn versions(
    tree: Tree<'_>,
    folder: &str,
    said: &[String],
    (by, now): (Actor<'_>, &impl Fn() -> Millis),
    event: &mut Event,
) -> Result<()> {
    let listed = listing::read::<Version>(tree, folder, event).await?;
    let listed: HashSet<&str> =
        visible(&listed, tree.repository.whole(now())).map(|seen| &*seen.entry().what.version).collect();
    let missing = said.iter().filter(|version| !listed.contains(version.as_str()));
    for version in missing.rev().take(NEWS) {
        version_of(tree, (folder, version), (by, now), event).await?;
    }
    Ok(())
}

/// Lists a version that has files.
async fn version_of(
    tree: Tree<'_>,
    (folder, version): (&str, &str),
    (by, now): (Actor<'_>, &impl Fn() -> Millis),
    event: &mut Event,
) -> Result<()> {
    let (id, unit) = (tree.repository.id, format!("{folder}/{version}"));
    for _ in 0..TRIES {
        let at = now();
        let version = Version { version: version.to_owned() };
        let mut listed = FurtherChanges::listing(tree, folder, &version, at, event).await?;
        if listed.changes.is_empty() {
            return Ok(());
        }
        let files = tree.store.live_unit(id, &unit, Lane::Change, event).await?;
        if visible(&files.entries, tree.repository.whole(at)).next().is_none() {
            return Ok(());
        }
        listed.expect.push(Expect::UnitAt { repository: id, unit: unit.clone(), seq: files.seq });
        if commit(tree, listed, (by, at), event).await? {
            return Ok(());
        }
    }
    Err(Error::Contended(folder.to_owned()))
}

/// Changes the prefixes of plugins that are listed with the default prefix of their names. Maven itself reads the
/// prefix from the package (`META-INF/maven/plugin.xml`), because a parent POM may set it. A prefix in the plugin's own
/// POM takes precedence.
async fn plugins(
    tree: Tree<'_>,
    folder: &str,
    said: Vec<metadata::Plugin>,
    (by, now): (Actor<'_>, &impl Fn() -> Millis),
    event: &mut Event,
) -> Result<()> {
    let said: HashMap<String, metadata::Plugin> =
        said.into_iter().map(|plugin| (plugin.artifact.clone(), plugin)).collect();
    for _ in 0..TRIES {
        let at = now();
        let listed = listing::read::<Plugin>(tree, folder, event).await?;
        let seen = visible(&listed, tree.repository.whole(at)).map(|seen| &seen.entry().what);
        let guessed = seen.filter(|plugin| plugin.prefix == pom::default_prefix(&plugin.artifact));
        let told = guessed.filter_map(|plugin| {
            let prefix = &said.get(&plugin.artifact)?.prefix;
            (*prefix != plugin.prefix).then(|| (plugin, Plugin { prefix: prefix.clone(), ..plugin.clone() }))
        });
        let mut changes = FurtherChanges::default();
        for (before, plugin) in told.take(NEWS) {
            changes.saying(tree, folder, (before, &plugin), at, event).await?;
        }
        if changes.changes.is_empty() || commit(tree, changes, (by, at), event).await? {
            return Ok(());
        }
    }
    Err(Error::Contended(folder.to_owned()))
}

/// Commits. `false`: an expectation does not hold, and the caller tries again.
async fn commit(
    tree: Tree<'_>,
    FurtherChanges { mut expect, changes }: FurtherChanges,
    (by, at): (Actor<'_>, Millis),
    event: &mut Event,
) -> Result<bool> {
    expect.push(Expect::RepositoryLives(tree.repository.id));
    match tree.store.commit(by.batch(at, expect, changes), event).await {
        Ok(_) => Ok(true),
        Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::RepositoryLives(_)) => {
            Err(Error::NoSuchRepository(tree.repository.record.name.clone()))
        }
        Err(CommitError::Conflict(_)) => Ok(false),
        Err(CommitError::Error(error)) => Err(error.into()),
    }
}
