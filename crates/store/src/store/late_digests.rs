//! MD5 and SHA-512 of cached files, which are made after their arrival: where they are missing, and how they are kept.

use super::Store;
use crate::blobs::digest::Hashes;
use crate::cache::{Undigested, split};
use crate::error::Result;
use telemetry::{Event, Millis, Op};

impl Store {
    /// Some of the cached files that lack a digest and came before `fetched`, the earliest first.
    pub async fn undigested(&self, fetched: Millis, event: &mut Event) -> Result<Vec<Undigested>> {
        self.cached(Op::CacheRead, event, move |cache| cache.undigested(fetched)).await
    }

    /// Keeps the digests of all cached files with these bytes. Answers that were made without them are not used again. Returns the
    /// number of files; on a nearly full disk none is changed.
    pub async fn keep_digests(&self, made: Vec<Hashes>, event: &mut Event) -> Result<usize> {
        if made.is_empty() || self.space.check().is_err() {
            return Ok(0);
        }
        let changed = self.cached(Op::CacheWrite, event, move |cache| cache.add_digests(&made)).await?;
        changed.iter().for_each(|(id, path)| self.upstream_changed(*id, split(path).0));
        Ok(changed.len())
    }

    /// Removes a cached file whose bytes do not have its digest, unless another one came meanwhile.
    pub async fn drop_damaged(&self, file: Undigested, event: &mut Event) -> Result<()> {
        let (of, path, sha256) = (file.of, file.path.clone(), file.sha256);
        let is_damage = self.cached(Op::CacheWrite, event, move |cache| cache.drop_undigested(&file)).await?;
        self.upstream_changed(of.repository, split(&path).0);
        if is_damage {
            self.log_damage(&path, sha256, event);
        }
        Ok(())
    }
}
