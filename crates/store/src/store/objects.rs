//! The store with object storage: blobs are sent before the transaction that names them, and fetched when they are not on the disk.

use super::Store;
use crate::blobs::digest::Digest;
use crate::blobs::holds::Hold;
use crate::blobs::staged::Staged;
use crate::blobs::{Blobs, KeptBlob};
use crate::error::{Error, Result};
use crate::journal::change::Change;
use crate::journal::entry::State;
use crate::journal::record::Seq;
use crate::objects::blobs::{NamedBlob, ObjectBlobs};
use crate::objects::keeper::Keeper;
use crate::objects::keys::ObjectBlob;
use crate::objects::state::ObjectsState;
use crate::pool::lane::Lane;
use crate::truth::catalog::{Batch, Catalog, CommitError, Conflict, Expect};
use crate::truth::postgres::DatabaseState;
use std::sync::Arc;
use telemetry::{Event, Op};

/// How often the blobs of a batch are sent again because the collector deleted their former objects meanwhile.
const ATTEMPTS: usize = 3;
/// The most blobs whose objects are listed at once. A call lists a thousand.
const FEW: u64 = 16_384;

/// The parts of a store that use object storage.
#[derive(Debug)]
pub(crate) struct StoreObjects {
    pub(crate) blobs: Arc<ObjectBlobs>,
    pub(crate) keeper: Keeper,
    /// The folder was empty at the start, and there is a database, which may lack changes that segments have. Nothing is written before
    /// they were looked at: it would take the numbers of these changes.
    pub(crate) was_lost: bool,
}

impl Store {
    /// The state of object storage; `None`: the disk keeps the blobs.
    pub fn objects(&self) -> Option<&ObjectsState> {
        self.objects.as_ref().map(|objects| &*objects.blobs.calls.state)
    }

    /// The number of requests that wait for a blob.
    #[cfg(test)]
    pub(crate) fn waiting_for(&self, digest: &Digest) -> usize {
        self.objects.as_ref().map_or(0, |objects| objects.blobs.waiting(digest))
    }

    /// Sends the blobs that a batch publishes, and then commits it, expecting that their objects are still the ones that a row refers
    /// to. A batch without new bytes needs no object storage.
    pub(super) async fn send_and_commit(
        &self,
        objects: &StoreObjects,
        batch: Batch,
        event: &mut Event,
    ) -> Result<Seq, CommitError> {
        let published = published(&batch);
        if published.is_empty() {
            if objects.was_lost {
                match self.may_send(objects, event).await {
                    // They have another history, so nothing of it is put back.
                    Ok(()) | Err(Error::ObjectsAhead { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            return self.writer.commit(batch, event).await;
        }
        self.may_send(objects, event).await?;
        for _ in 0..ATTEMPTS {
            let mut attempt = batch.clone();
            for (hold, size_bytes) in &published {
                let generation = match hold.sent() {
                    Some(generation) => generation,
                    None => self.send_blob(objects, hold, *size_bytes, event).await?,
                };
                attempt.expect.push(Expect::BlobAt { digest: hold.digest(), generation });
            }
            match self.writer.commit(attempt, event).await {
                Err(CommitError::Conflict(Conflict(Expect::BlobAt { digest, .. }))) => {
                    published
                        .iter()
                        .filter(|(hold, _)| hold.digest() == digest)
                        .for_each(|(hold, _)| hold.set_sent(None));
                }
                decided => return decided,
            }
        }
        Err(Error::Busy(telemetry::BoundName::TruthWriter).into())
    }

    /// An error unless bytes may be sent to object storage. Where the histories of this node and of the database have parted, object storage
    /// may have the other one, too, and the error is that they have parted.
    async fn may_send(&self, objects: &StoreObjects, event: &mut Event) -> Result<()> {
        let is_ours = || self.database().and_then(DatabaseState::parted).map_or(Ok(()), Err);
        is_ours()?;
        objects.keeper.may_write(event).await.or_else(|error| is_ours().and(Err(error)))
    }

    /// Makes the bytes of an upload durable, on the disk and in object storage: once this returns, a row may refer to them. The batch that names
    /// them is made afterwards, because sending takes long, and meanwhile others change what it would expect.
    pub async fn keep(&self, staged: Staged, event: &mut Event) -> Result<KeptBlob> {
        let kept = staged.keep(event).await?;
        if let Some(objects) = &self.objects {
            self.may_send(objects, event).await?;
            self.send_blob(objects, &kept.hold, kept.hashes.size_bytes, event).await?;
        }
        Ok(kept)
    }

    /// Brings bytes back that a row names and that were lost, from an upload of the same bytes. While object storage does not tell, it counts as
    /// having them.
    pub async fn bring_back(&self, staged: Staged, event: &mut Event) -> Result<()> {
        let (digest, size_bytes) = (staged.sha256()?, staged.size_bytes());
        let is_lost = match &self.objects {
            Some(objects) => {
                let generation =
                    self.read(Lane::Change, event, move |truth: &mut dyn Catalog| truth.generation(&digest)).await?;
                let there = objects.blobs.has(&NamedBlob { digest, size_bytes, generation }, event).await;
                matches!(there, Ok(false))
            }
            None => {
                let open = move |blobs: &mut Arc<Blobs>| blobs.open_blob(&digest).map(drop);
                let open = self.blob_threads.run(Lane::Change, Op::BlobOpen, event, open).await?;
                matches!(open, Err(Error::BlobMissing(_)))
            }
        };
        if is_lost {
            self.keep(staged, event).await?;
            self.missing.found(&digest);
        }
        Ok(())
    }

    /// Sends a blob, unless object storage has it. Returns the generation of its object, which stays until a row ends the generation.
    async fn send_blob(&self, objects: &StoreObjects, hold: &Hold, size_bytes: u64, event: &mut Event) -> Result<Seq> {
        let digest = hold.digest();
        let known =
            move |truth: &mut dyn Catalog| Ok((truth.generation(&digest)?, truth.blob_size(&digest)?.is_some()));
        let (generation, is_named) = self.read(Lane::Change, event, known).await?;
        let blob = NamedBlob { digest, size_bytes, generation };
        // If a row names it already, the object may have been lost nevertheless.
        if !is_named || !objects.blobs.has(&blob, event).await? {
            objects.blobs.send(&blob, event).await?;
        }
        hold.set_sent(Some(generation));
        Ok(generation)
    }

    /// Brings a blob to the disk if a row names it and object storage is used. It stays there until the returned value is dropped.
    /// `None`: there is nothing from which it could be brought.
    pub(super) async fn bring(&self, digest: Digest, event: &mut Event) -> Result<Option<Hold>> {
        let Some(objects) = &self.objects else { return Ok(None) };
        let named = move |truth: &mut dyn Catalog| NamedBlob::find(truth, &digest);
        match self.read(Lane::Single, event, named).await? {
            Some(blob) => objects.blobs.fetch(blob, event).await.map(Some),
            None => Ok(None),
        }
    }

    /// All objects of blobs, if they are so few that one list of them needs fewer calls than a list for each first byte.
    pub(super) async fn few_objects(&self, event: &mut Event) -> Result<Option<Vec<ObjectBlob>>> {
        let Some(StoreObjects { blobs, keeper, .. }) = &self.objects else { return Ok(None) };
        let named = self.read(Lane::Index, event, |truth| truth.blob_count()).await?;
        if named > FEW {
            return Ok(None);
        }
        keeper.may_write(event).await?;
        let objects = &blobs.calls.objects;
        // There may be others, which no row names.
        let listed = event.waited(Op::ObjectList, blobs.calls.list_few(objects.all_blobs(), 2 * FEW)).await?;
        Ok(listed.map(|listed| listed.iter().filter_map(|meta| objects.read_blob(meta)).collect()))
    }

    /// The objects whose digests start with this byte; `None`: object storage is not used.
    pub(super) async fn objects_beginning(&self, first: u8, event: &mut Event) -> Result<Option<Vec<ObjectBlob>>> {
        let Some(StoreObjects { blobs, keeper, .. }) = &self.objects else { return Ok(None) };
        keeper.may_write(event).await?;
        let objects = &blobs.calls.objects;
        let listed = event.waited(Op::ObjectList, blobs.calls.list(objects.blobs(first))).await?;
        Ok(Some(listed.iter().filter_map(|meta| objects.read_blob(meta)).collect()))
    }

    /// Deletes objects of generations that have ended. The remaining ones are deleted in a later round.
    pub(super) async fn delete_objects(&self, ended: Vec<(Digest, Seq)>, event: &mut Event) {
        let Some(StoreObjects { blobs, .. }) = &self.objects else { return };
        for (digest, generation) in ended {
            let key = blobs.calls.objects.blob(&digest, generation);
            if event.waited(Op::ObjectDelete, blobs.calls.delete(key)).await.is_err() {
                self.collector.next_looks.need_for(&digest, self.now().plus(super::collect::AGAIN_AFTER));
                return;
            }
        }
    }
}

/// The blobs that a batch holds and names, with their sizes. It expects of others that they exist.
fn published(batch: &Batch) -> Vec<(&Hold, u64)> {
    let size_bytes = |hold: &Hold| {
        batch.changes.iter().find_map(|change| match change {
            Change::Entry { entry, .. } if entry.state == State::Live && entry.hashes.sha256 == hold.digest() => {
                Some(entry.hashes.size_bytes)
            }
            _ => None,
        })
    };
    batch.holds.iter().filter_map(|hold| Some((hold, size_bytes(hold)?))).collect()
}
