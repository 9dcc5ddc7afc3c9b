//! An upload on its way into the store: the public handle.

use crate::blobs::digest::{Digest, Hashes};
use crate::blobs::{Blobs, KeptBlob, TemporaryBlob};
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::pool::begun::Begun;
use crate::pool::lane::Lane;
use bytes::{Bytes, BytesMut};
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use telemetry::{Event, Op};

/// Bytes in a temporary file, which is removed when this is dropped, or one of its futures before completion; or bytes that are in the
/// store already.
#[derive(Debug)]
pub struct Staged {
    threads: Arc<Pool<Arc<Blobs>>>,
    blobs: Arc<Blobs>,
    /// `None` while a caller waits for a thread that uses it, and after a failure.
    bytes: Option<StagedBytes>,
    path: PathBuf,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all bytes arrive")]
enum StagedBytes {
    Arriving(TemporaryBlob),
    /// A thread writes a piece, and gives it back.
    Writing(Begun<Result<(TemporaryBlob, BytesMut)>>),
    Kept(KeptBlob),
}

impl Staged {
    pub(crate) fn new(threads: Arc<Pool<Arc<Blobs>>>, blobs: Arc<Blobs>, writing: TemporaryBlob) -> Self {
        let path = writing.path().to_owned();
        Self { threads, blobs, bytes: Some(StagedBytes::Arriving(writing)), path }
    }

    pub(crate) fn kept(threads: Arc<Pool<Arc<Blobs>>>, blobs: Arc<Blobs>, kept: KeptBlob) -> Self {
        let path = blobs.layout().blob(&kept.hashes.sha256).file;
        Self { threads, blobs, bytes: Some(StagedBytes::Kept(kept)), path }
    }

    /// The number of bytes so far. 0 while a piece is written, and after a failure.
    pub fn size_bytes(&self) -> u64 {
        match &self.bytes {
            Some(StagedBytes::Arriving(writing)) => writing.size_bytes(),
            Some(StagedBytes::Kept(kept)) => kept.hashes.size_bytes,
            Some(StagedBytes::Writing(_)) | None => 0,
        }
    }

    /// The SHA-256 of the bytes so far. An error after a failed write.
    pub fn sha256(&self) -> Result<Digest> {
        match self.bytes.as_ref().ok_or(Error::GivenUp)? {
            StagedBytes::Arriving(writing) => Ok(writing.sha256()),
            StagedBytes::Kept(kept) => Ok(kept.hashes.sha256),
            StagedBytes::Writing(_) => Err(Error::GivenUp),
        }
    }

    /// Appends bytes.
    pub async fn write(&mut self, bytes: Bytes, event: &mut Event) -> Result<()> {
        let Some(StagedBytes::Arriving(mut writing)) = self.bytes.take() else { return Err(Error::GivenUp) };
        let job = move |_: &mut _| writing.write(&bytes).map(|()| writing);
        let written = self.threads.run(Lane::Change, Op::BlobWrite, event, job).await??;
        self.bytes = Some(StagedBytes::Arriving(written));
        Ok(())
    }

    /// Appends `piece` while the caller goes on, after the piece before. As soon as it is written, its thread calls `then`.
    /// Returns a buffer for the next piece. After the last one, [`Staged::settle`] has to be called.
    pub async fn write_behind(
        &mut self,
        mut piece: BytesMut,
        then: impl FnOnce() + Send + 'static,
        event: &mut Event,
    ) -> Result<BytesMut> {
        let spare = self.settle(event).await?;
        let Some(StagedBytes::Arriving(mut writing)) = self.bytes.take() else { return Err(Error::GivenUp) };
        let job = move |_: &mut _| {
            writing.write(&piece)?;
            then();
            piece.clear();
            Ok((writing, piece))
        };
        self.bytes = Some(StagedBytes::Writing(self.threads.begin(Lane::Change, Op::BlobWrite, job)?));
        Ok(spare)
    }

    /// Waits until the last piece of [`Staged::write_behind`] is written, and returns its buffer.
    pub async fn settle(&mut self, event: &mut Event) -> Result<BytesMut> {
        match self.bytes.take() {
            Some(StagedBytes::Writing(writing)) => {
                let (written, piece) = writing.done(event).await??;
                self.bytes = Some(StagedBytes::Arriving(written));
                Ok(piece)
            }
            bytes => {
                self.bytes = bytes;
                Ok(BytesMut::new())
            }
        }
    }

    /// Opens the file for reading, from its start.
    pub fn open(&self) -> Result<File> {
        self.blobs.open_staged(&self.path)
    }

    /// All digests of the bytes so far. An error after a failed write.
    pub fn hashes(&self) -> Result<Hashes> {
        match self.bytes.as_ref().ok_or(Error::GivenUp)? {
            StagedBytes::Arriving(writing) => Ok(writing.hashes()),
            StagedBytes::Kept(kept) => Ok(kept.hashes.clone()),
            StagedBytes::Writing(_) => Err(Error::GivenUp),
        }
    }

    /// The temporary file, for another thread of the store.
    pub(crate) fn into_temporary(mut self) -> Result<TemporaryBlob> {
        match self.bytes.take() {
            Some(StagedBytes::Arriving(writing)) => Ok(writing),
            Some(StagedBytes::Kept(_) | StagedBytes::Writing(_)) | None => Err(Error::GivenUp),
        }
    }

    /// The first bytes, `limit` at most.
    pub async fn beginning(&self, limit: u64, event: &mut Event) -> Result<Vec<u8>> {
        let (path, blobs) = (self.path.clone(), self.blobs.clone());
        let read = move |_: &mut _| {
            let mut bytes = Vec::new();
            let file = blobs.open_staged(&path)?;
            file.take(limit).read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
            Ok(bytes)
        };
        self.threads.run(Lane::Change, Op::BlobRead, event, read).await?
    }

    /// Makes the bytes durable under their digest, on the disk ([`Store::keep`](crate::Store::keep)).
    pub(crate) async fn keep(mut self, event: &mut Event) -> Result<KeptBlob> {
        match self.bytes.take().ok_or(Error::GivenUp)? {
            StagedBytes::Arriving(writing) => {
                self.threads.run(Lane::Change, Op::BlobSync, event, |_| writing.keep()).await?
            }
            StagedBytes::Kept(kept) => Ok(kept),
            StagedBytes::Writing(_) => Err(Error::GivenUp),
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(StagedBytes::Arriving(writing)) = self.bytes.take() {
            self.threads.dispose(Lane::Change, writing);
        }
    }
}
