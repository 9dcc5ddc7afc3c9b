//! Reads of the entries that keep a blob, and of deleted blobs.

use crate::blobs::digest::Digest;
use crate::blobs::life::BlobUse;
use crate::error::Result;
use crate::journal::record::{RepositoryId, Seq};
use std::collections::BTreeSet;
use telemetry::Millis;

/// Reads of the uses of blobs.
pub trait BlobReads {
    /// The uses of the blobs from `from` through `through`, ordered by digest. A blob without uses was never named, or is
    /// deleted.
    fn blob_uses(&mut self, from: &Digest, through: &Digest) -> Result<Vec<(Digest, BlobUse)>>;

    /// The uses of a blob by entries other than `except`, each of which is a repository and a key.
    fn blob_uses_except(&mut self, digest: &Digest, except: &BTreeSet<(RepositoryId, String)>) -> Result<Vec<BlobUse>>;

    /// The blobs that an entry names or named and whose bytes are not deleted, with their sizes, ordered by digest.
    fn blobs_of_entry(&mut self, repository: RepositoryId, key: &str) -> Result<Vec<(Digest, u64)>>;

    /// The repositories with a live entry that names the blob, in the order of their ids.
    fn named_by(&mut self, digest: &Digest) -> Result<Vec<RepositoryId>>;

    /// When the bytes of a blob were deleted, if they were and were not published again.
    fn collected(&mut self, digest: &Digest) -> Result<Option<Millis>>;

    /// The size of a blob that an entry names or named and whose bytes are not deleted.
    fn blob_size(&mut self, digest: &Digest) -> Result<Option<u64>>;

    /// The generations of the blobs from `from` through `through`, ordered by digest: the number of the last change that says that
    /// the bytes of the blob were deleted, whether they were published again or not. A blob without one has generation 0.
    fn generations(&mut self, from: &Digest, through: &Digest) -> Result<Vec<(Digest, Seq)>>;

    /// The generation of one blob.
    fn generation(&mut self, digest: &Digest) -> Result<Seq> {
        Ok(self.generations(digest, digest)?.first().map_or(Seq(0), |(_, generation)| *generation))
    }
}
