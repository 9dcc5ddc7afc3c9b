//! Metadata that a deployer uploads. It is not kept; but it says that a version is complete, which is all there is to know of
//! one that was published without a POM.

use super::besides::Besides;
use super::listing::{self, Version};
use super::{TRIES, Tree};
use crate::{Actor, Error, visible};
use format::maven::metadata::Metadata;
use format::maven::{self, path};
use std::collections::HashSet;
use store::{Batch, Change, CommitError, Expect, Lane, Staged};
use telemetry::{Event, Millis, Op};

/// Most versions of one document that are looked at. A deployer adds one to those that are listed.
const VERSIONS: usize = 16;

/// Lists what `staged` names of the artifact of a folder, where there are files of it and nothing lists it.
pub(super) async fn take(
    tree: Tree<'_>,
    at: path::Metadata<'_>,
    staged: &Staged,
    (by, now): (Actor<'_>, impl Fn() -> Millis),
    event: &mut Event,
) -> Result<(), Error> {
    if at.artifact().is_none() || at.snapshot().is_some() {
        return Ok(());
    }
    let bytes = staged.beginning(maven::LONGEST as u64 + 1, event).await?;
    let read = move |(): &mut ()| Metadata::read(&bytes).map(|document| document.versions);
    let read = tree.keeper.workers.run(Lane::Change, (Op::WorkWait, Op::PackageRead), event, read).await?;
    // What cannot be read is as good a hint as none.
    let versions = read.unwrap_or_default();
    let listed = listing::read::<Version>(tree, at.folder, event).await?;
    let listed: HashSet<&str> =
        visible(&listed, tree.repository.view(now())).map(|seen| &*seen.entry().what.version).collect();
    let missing = versions.iter().filter(|version| !listed.contains(version.as_str()));
    for version in missing.rev().take(VERSIONS) {
        list(tree, (at.folder, version), (by, &now), event).await?;
    }
    Ok(())
}

/// Lists a version that has files.
async fn list(
    tree: Tree<'_>,
    (folder, version): (&str, &str),
    (by, now): (Actor<'_>, &impl Fn() -> Millis),
    event: &mut Event,
) -> Result<(), Error> {
    let (id, unit) = (tree.repository.id, format!("{folder}/{version}"));
    for _ in 0..TRIES {
        let at = now();
        let listed = Besides::listing(tree, (folder, version), at, event).await?;
        if listed.changes.is_empty() {
            return Ok(());
        }
        let files = tree.store.unit(id, &unit, Lane::Change, event).await?;
        if visible(&files.entries, tree.repository.view(at)).next().is_none() {
            return Ok(());
        }
        let mut expect = listed.expect;
        expect.extend([
            Expect::RepositoryLives(id),
            Expect::UnitAt { repository: id, unit: unit.clone(), seq: files.seq },
        ]);
        let changes: Vec<Change> = listed.changes;
        match tree.store.commit(Batch { by: by.name.to_owned(), at, expect, changes }, event).await {
            Ok(_) => return Ok(()),
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::RepositoryLives(_)) => {
                return Err(Error::NoSuchRepository(tree.repository.record.name.clone()));
            }
            Err(CommitError::Conflict(_)) => {}
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(folder.to_owned()))
}
