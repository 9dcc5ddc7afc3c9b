//! Changes existing files, one folder at a time. Each change is decided from the whole content of the folder, and
//! decided again if that changed meanwhile.

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::tree::TRIES;
use crate::tree::Tree;
use crate::tree::further_changes::FurtherChanges;
use std::future::poll_fn;
use std::task::Poll;
use store::{Change, CommitError, Conflict, Entry, Expect, Lane};
use telemetry::{Event, Millis, Op};

/// Number of folders that are changed concurrently. Each has its rows in memory.
const AT_ONCE: usize = 32;

/// Which files of a folder a change is decided from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Read {
    /// The live files. A folder of snapshots can have thousands of withdrawn ones.
    Live,
    /// All files, including withdrawn ones.
    All,
}

/// Changes files of `folder`: `which` returns the changed files in their new state, or refuses the change. Returns their number.
pub(crate) async fn change(
    tree: Tree<'_>,
    folder: &str,
    read: Read,
    which: impl Fn(&[Entry]) -> Result<Vec<Entry>>,
    by: Actor<'_>,
    at: Millis,
    event: &mut Event,
) -> Result<u64> {
    let (store, repository) = (tree.store, tree.repository);
    let id = repository.id;
    for _ in 0..TRIES {
        let unit = match read {
            Read::Live => store.live_unit(id, folder, Lane::Change, event).await?,
            Read::All => store.unit(id, folder, Lane::Change, event).await?,
        };
        let changed = which(&unit.entries)?;
        let Some(first) = changed.first() else { return Ok(0) };
        let mut listing = repository.file(&first.key).following(tree, &unit.entries, &changed, at, event).await?;
        let count = changed.len() as u64;
        listing.expect.push(Expect::RepositoryLives(id));
        listing.expect.push(Expect::UnitAt { repository: id, unit: folder.to_owned(), seq: unit.seq });
        listing.changes.extend(changed.into_iter().map(|entry| Change::Entry { repository: id, entry }));
        let FurtherChanges { expect, changes } = listing;
        let batch = by.batch(at, expect, changes);
        match store.commit(batch, event).await {
            Ok(_) => return Ok(count),
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::RepositoryLives(_)) => {
                return Err(Error::NoSuchRepository(repository.record.name.clone()));
            }
            Err(CommitError::Conflict(Conflict(Expect::BlobKept(digest)))) => {
                if let Some(at) = store.collected(digest, event).await? {
                    return Err(Error::BytesDeleted(folder.to_owned(), at));
                }
            }
            Err(CommitError::Conflict(_)) => {}
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(folder.to_owned()))
}

/// Runs `one` for each folder, several concurrently, and returns the sum of the results. Each folder is a change of its
/// own, so a tree of any size can be changed; the writer combines waiting changes in one transaction. If some fail, the
/// others are still made.
pub(crate) async fn each(
    folders: &[String],
    one: impl AsyncFn(&str, &mut Event) -> Result<u64>,
    event: &mut Event,
) -> Result<u64> {
    let (mut sum, mut failed) = (0, None);
    for some in folders.chunks(AT_ONCE) {
        let begin = |folder| {
            let (one, mut event) = (&one, Event::job("folder", event.at));
            Box::pin(async move { (one(folder, &mut event).await, event) })
        };
        let (mut going, mut done): (Vec<_>, Vec<_>) = (some.iter().map(|folder| begin(folder)).collect(), Vec::new());
        let changing = event.running(Op::FoldersChange);
        poll_fn(|cx| {
            going.retain_mut(|one| match one.as_mut().poll(cx) {
                Poll::Ready(said) => {
                    done.push(said);
                    false
                }
                Poll::Pending => true,
            });
            if going.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        drop(changing);
        for (said, told) in done {
            event.beside(&told);
            match said {
                Ok(count) => sum += count,
                Err(error) => failed = failed.or(Some(error)),
            }
        }
    }
    failed.map_or(Ok(sum), Err)
}
