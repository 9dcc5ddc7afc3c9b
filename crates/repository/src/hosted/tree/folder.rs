//! A change of files that are there, a folder at a time: decided by all that the folder holds, and again when that changed
//! meanwhile.

use super::TRIES;
use super::Tree;
use super::besides::Besides;
use crate::{Actor, Error, Format};
use store::{Batch, Change, CommitError, Entry, Expect, Lane};
use telemetry::{Event, Millis};

/// Changes files of `folder`: `which` says, of all that it holds, what is to be how. Says how many that were.
pub(super) async fn change(
    tree: Tree<'_>,
    folder: &str,
    which: impl Fn(&[Entry]) -> Vec<Entry>,
    (by, at): (Actor<'_>, Millis),
    event: &mut Event,
) -> Result<u64, Error> {
    let (store, repository) = (tree.store, tree.repository);
    let id = repository.id;
    for _ in 0..TRIES {
        let unit = store.unit(id, folder, Lane::Change, event).await?;
        let changed = which(&unit.entries);
        if changed.is_empty() {
            return Ok(0);
        }
        let mut besides = match repository.format {
            Format::Maven => Besides::following(tree, (&unit.entries, &changed), at, event).await?,
            _ => Besides::default(),
        };
        let count = changed.len() as u64;
        besides.expect.push(Expect::RepositoryLives(id));
        besides.expect.push(Expect::UnitAt { repository: id, unit: folder.to_owned(), seq: unit.seq });
        besides.changes.extend(changed.into_iter().map(|entry| Change::Entry { repository: id, entry }));
        let Besides { expect, changes } = besides;
        let batch = Batch { by: by.name.to_owned(), at, expect, changes };
        match store.commit(batch, event).await {
            Ok(_) => return Ok(count),
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::RepositoryLives(_)) => {
                return Err(Error::NoSuchRepository(repository.record.name.clone()));
            }
            Err(CommitError::Conflict(_)) => {}
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(folder.to_owned()))
}
