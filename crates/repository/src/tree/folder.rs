//! A change of files that are there, a folder at a time: decided by all that the folder holds, and again when that changed
//! meanwhile.

use crate::actor::Actor;
use crate::error::Error;
use crate::maven::listing_changes::ListingChanges;
use crate::tree::TRIES;
use crate::tree::Tree;
use std::future::poll_fn;
use std::task::Poll;
use store::{Change, CommitError, Conflict, Entry, Expect, Lane};
use telemetry::{Event, Millis};

/// Folders that are changed at a time. Each has its rows in memory.
const AT_ONCE: usize = 32;

/// Which files of a folder a change is decided by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Read {
    /// Those that are there. A folder of snapshots may have had many thousands more.
    Live,
    /// Those that were withdrawn, too.
    All,
}

/// Changes files of `folder`: `which` returns the files that change, as they are afterwards. Returns how many there are.
pub(crate) async fn change(
    tree: Tree<'_>,
    folder: &str,
    read: Read,
    which: impl Fn(&[Entry]) -> Vec<Entry>,
    by: Actor<'_>,
    at: Millis,
    event: &mut Event,
) -> Result<u64, Error> {
    let (store, repository) = (tree.store, tree.repository);
    let id = repository.id;
    for _ in 0..TRIES {
        let unit = match read {
            Read::Live => store.live_unit(id, folder, Lane::Change, event).await?,
            Read::All => store.unit(id, folder, Lane::Change, event).await?,
        };
        let changed = which(&unit.entries);
        let Some(first) = changed.first() else { return Ok(0) };
        let mut listing = repository.file(&first.key).following(tree, &unit.entries, &changed, at, event).await?;
        let count = changed.len() as u64;
        listing.expect.push(Expect::RepositoryLives(id));
        listing.expect.push(Expect::UnitAt { repository: id, unit: folder.to_owned(), seq: unit.seq });
        listing.changes.extend(changed.into_iter().map(|entry| Change::Entry { repository: id, entry }));
        let ListingChanges { expect, changes } = listing;
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

/// Does `one` for each folder, some at a time, and says what that comes to. Each is a change of its own, so a tree of any size can
/// change; those that wait together the writer takes into one transaction. Where some fail, the others are done all the same.
pub(crate) async fn each(
    folders: &[String],
    one: impl AsyncFn(&str, &mut Event) -> Result<u64, Error>,
    event: &mut Event,
) -> Result<u64, Error> {
    let (mut sum, mut failed) = (0, None);
    for some in folders.chunks(AT_ONCE) {
        let begin = |folder| {
            let (one, mut event) = (&one, Event::job("folder", event.at));
            Box::pin(async move { (one(folder, &mut event).await, event) })
        };
        let (mut going, mut done): (Vec<_>, Vec<_>) = (some.iter().map(|folder| begin(folder)).collect(), Vec::new());
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
        for (said, told) in done {
            told.tallies().for_each(|(op, tally)| event.add_all(op, tally));
            match said {
                Ok(count) => sum += count,
                Err(error) => failed = failed.or(Some(error)),
            }
        }
    }
    failed.map_or(Ok(sum), Err)
}
