//! Blobs and derived files, on the blob threads.

use super::Store;
use crate::blobs::Blobs;
use crate::blobs::digest::{Digest, Hashes, MoreDigests};
use crate::blobs::staged::Staged;
use crate::error::{Error, Result};
use crate::journal::record::RepositoryId;
use crate::pool::lane::Lane;
use bytes::{Bytes, BytesMut};
use std::fs::File;
use std::sync::Arc;
use telemetry::{Event, Op};

impl Store {
    /// Starts an upload. It gets all digests.
    pub async fn stage(&self, event: &mut Event) -> Result<Staged> {
        self.stage_fetched(MoreDigests::ALL, event).await
    }

    /// Starts a file that an upstream sends. It gets SHA-256, SHA-1 and `more`.
    pub async fn stage_fetched(&self, more: MoreDigests, event: &mut Event) -> Result<Staged> {
        let stage = move |blobs: &mut Arc<Blobs>| blobs.stage(more);
        let temporary = self.blob_threads.run(Lane::Change, Op::BlobWrite, event, stage).await??;
        Ok(Staged::new(self.blob_threads.clone(), self.blobs.clone(), temporary))
    }

    /// The same with its first bytes, in one job. Also opens the file for reading, and returns `first` without its bytes.
    pub async fn stage_first(
        &self,
        more: MoreDigests,
        mut first: BytesMut,
        event: &mut Event,
    ) -> Result<(Staged, File, BytesMut)> {
        let stage = move |blobs: &mut Arc<Blobs>| -> Result<_> {
            let mut writing = blobs.stage(more)?;
            let file = blobs.open_staged(writing.path())?;
            writing.write(&first)?;
            first.clear();
            Ok((writing, file, first))
        };
        let (temporary, file, piece) = self.blob_threads.run(Lane::Change, Op::BlobWrite, event, stage).await??;
        Ok((Staged::new(self.blob_threads.clone(), self.blobs.clone(), temporary), file, piece))
    }

    /// Refers to bytes that an entry names as if they had just arrived, and holds them. `None`: there are none.
    pub async fn stage_published(&self, hashes: Hashes, event: &mut Event) -> Result<Option<Staged>> {
        let digest = hashes.sha256;
        let hold = move |blobs: &mut Arc<Blobs>| blobs.hold_published(hashes.clone());
        let mut kept = self.blob_threads.run(Lane::Change, Op::BlobOpen, event, hold.clone()).await??;
        if kept.is_none()
            && let Some(_brought) = Box::pin(self.bring(digest, event)).await?
        {
            kept = self.blob_threads.run(Lane::Change, Op::BlobOpen, event, hold).await??;
        }
        Ok(kept.map(|kept| Staged::kept(self.blob_threads.clone(), self.blobs.clone(), kept)))
    }

    /// Opens a blob. Also returns its size.
    pub async fn open_blob(&self, digest: Digest, event: &mut Event) -> Result<(File, u64)> {
        self.with_blob(Op::BlobOpen, digest, event, Blobs::open_blob).await
    }

    /// Reads a small blob into memory.
    pub async fn read_blob(&self, digest: Digest, event: &mut Event) -> Result<Bytes> {
        self.with_blob(Op::BlobRead, digest, event, Blobs::read_blob).await
    }

    /// Runs a read of a blob, again if the blob had to be brought to the disk.
    async fn with_blob<T: Send + 'static>(
        &self,
        op: Op,
        digest: Digest,
        event: &mut Event,
        read: fn(&Blobs, &Digest) -> Result<T>,
    ) -> Result<T> {
        let run = move |blobs: &mut Arc<Blobs>| read(blobs, &digest);
        let mut found = self.blob_threads.run(Lane::Single, op, event, run).await?;
        if matches!(found, Err(Error::BlobMissing(_)))
            && let Some(_brought) = Box::pin(self.bring(digest, event)).await?
        {
            found = self.blob_threads.run(Lane::Single, op, event, run).await?;
        }
        if found.is_ok() {
            self.missing.found(&digest);
        }
        found
    }

    /// Tells people that the bytes of a file are nowhere that is published and was asked for.
    pub fn tell_missing(&self, digest: &Digest) {
        self.missing.missed(digest);
    }

    /// The number of published files that were asked for and whose bytes are nowhere, at most 1,000.
    pub fn missing_files(&self) -> u64 {
        self.missing.count()
    }

    /// Writes a file that is derived from the truth, replacing an existing one. It is not synced: a crash may lose it or a part
    /// of it, which [`Store::derived`] detects.
    pub async fn keep_derived(
        &self,
        repository: RepositoryId,
        name: &'static str,
        parts: Vec<Bytes>,
        event: &mut Event,
    ) -> Result<()> {
        let keep = move |blobs: &mut Arc<Blobs>| blobs.keep_derived(repository, name, &parts);
        self.blob_threads.run(Lane::Index, Op::IndexKeep, event, keep).await?
    }

    /// Reads a file that [`Store::keep_derived`] wrote. `None`: there is none, or it is damaged and [forgotten](Store::forget_derived).
    pub async fn derived(
        &self,
        repository: RepositoryId,
        name: &'static str,
        event: &mut Event,
    ) -> Result<Option<Bytes>> {
        let read = move |blobs: &mut Arc<Blobs>| blobs.derived(repository, name);
        match self.blob_threads.run(Lane::Index, Op::IndexRead, event, read).await? {
            Ok(content) => Ok(content),
            Err(error) => {
                self.forget_derived(repository, name, error.to_string(), event).await?;
                Ok(None)
            }
        }
    }

    /// Logs that such a file cannot be used, and removes it: its data is computed again.
    pub async fn forget_derived(
        &self,
        repository: RepositoryId,
        name: &'static str,
        why: String,
        event: &mut Event,
    ) -> Result<()> {
        let path = self.layout.derived(repository, name).file;
        self.log.warn("a saved index is damaged and is made again", &[("file", &path.display()), ("why", &why)]);
        let forget = move |blobs: &mut Arc<Blobs>| blobs.forget_derived(repository, name);
        // The next one replaces a file that cannot be removed.
        let _ = self.blob_threads.run(Lane::Index, Op::IndexRead, event, forget).await?;
        Ok(())
    }
}
