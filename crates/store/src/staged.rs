//! Bytes on their way into the store, as the one who brings them sees it.

use crate::blobs::{Blobs, Writing};
use crate::pool::Pool;
use crate::{Digest, Error, Hashes, Lane};
use bytes::Bytes;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use telemetry::{Event, Op};

/// Bytes in a temporary file. Dropping it, or a future of it before its end, removes them.
#[derive(Debug)]
pub struct Staged {
    threads: Arc<Pool<Arc<Blobs>>>,
    blobs: Arc<Blobs>,
    /// `None` while a thread has it, and after a failure.
    writing: Option<Writing>,
    path: PathBuf,
}

impl Staged {
    pub(crate) fn new(threads: Arc<Pool<Arc<Blobs>>>, blobs: Arc<Blobs>, writing: Writing) -> Self {
        let path = writing.path().to_owned();
        Self { threads, blobs, writing: Some(writing), path }
    }

    /// How many bytes are there.
    pub fn size_bytes(&self) -> u64 {
        self.writing.as_ref().map_or(0, Writing::size_bytes)
    }

    /// The digest of what is there so far. `None` after a failed write.
    pub fn sha256(&self) -> Option<Digest> {
        self.writing.as_ref().map(Writing::sha256)
    }

    /// Appends.
    pub async fn write(&mut self, bytes: Bytes, event: &mut Event) -> Result<(), Error> {
        let mut writing = self.writing.take().ok_or(Error::GivenUp)?;
        let job = move |_: &mut _| writing.write(&bytes).map(|()| writing);
        self.writing = Some(self.threads.run(Lane::Change, (Op::BlobWait, Op::BlobWrite), event, job).await??);
        Ok(())
    }

    /// Opens what is there for reading, from its start.
    pub fn open(&self) -> Result<File, Error> {
        self.blobs.open_staged(&self.path)
    }

    /// All digests of what is there so far. `None` after a failed write.
    pub fn hashes(&self) -> Option<Hashes> {
        self.writing.as_ref().map(Writing::hashes)
    }

    /// Gives the bytes to another thread of the store.
    pub(crate) fn hand_over(mut self) -> Result<Writing, Error> {
        self.writing.take().ok_or(Error::GivenUp)
    }

    /// What is there from its start, `limit` bytes at most.
    pub async fn beginning(&self, limit: u64, event: &mut Event) -> Result<Vec<u8>, Error> {
        let (path, blobs) = (self.path.clone(), self.blobs.clone());
        let read = move |_: &mut _| {
            let mut bytes = Vec::new();
            let file = blobs.open_staged(&path)?;
            file.take(limit).read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
            Ok(bytes)
        };
        self.threads.run(Lane::Change, (Op::BlobWait, Op::BlobRead), event, read).await?
    }

    /// Makes the bytes last under their digest: when this returns they are on disk, and a row may point at them.
    pub async fn keep(mut self, event: &mut Event) -> Result<Hashes, Error> {
        let writing = self.writing.take().ok_or(Error::GivenUp)?;
        self.threads.run(Lane::Change, (Op::BlobWait, Op::BlobSync), event, |_| writing.keep()).await?
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(writing) = self.writing.take() {
            self.threads.dispose(Lane::Change, writing);
        }
    }
}
