//! A cached file of an upstream, and what a lookup of a path finds.

use crate::blobs::TemporaryBlob;
use crate::blobs::digest::{Digest, Hashes};
use bytes::Bytes;
use std::fs::File;
use std::sync::Arc;
use telemetry::Millis;

/// The recorded facts about a cached file of an upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedFile {
    /// The digests of its bytes, as they arrived here.
    pub hashes: Hashes,
    /// The validator from the upstream. Opaque: it is sent back unchanged.
    pub validator: Option<String>,
    /// The `Last-Modified` from the upstream. Opaque: it is sent back unchanged.
    pub modified: Option<String>,
    /// When the path was first seen to exist.
    pub first_seen: Millis,
    /// When these bytes were fetched.
    pub fetched: Millis,
    /// When the upstream last proved that the file is unchanged.
    pub checked: Millis,
    /// Whether the upstream's own checksums match the bytes. `None`: not checked, or not recorded.
    pub verified: Option<bool>,
}

impl CachedFile {
    /// A file that was downloaded for the first time at this moment and has no validators.
    pub fn fetched(hashes: Hashes, at: Millis) -> Self {
        let (validator, modified, verified) = (None, None, None);
        Self { hashes, validator, modified, first_seen: at, fetched: at, checked: at, verified }
    }
}

/// What the cache has for a path of an upstream.
#[derive(Debug)]
pub enum CachedPath {
    /// A file, and its bytes.
    File(Arc<CachedFile>, Held),
    /// The path was proven missing, and counts as missing until this moment.
    MissingUntil(Millis),
}

/// The bytes of a cached file.
#[derive(Debug, Clone)]
pub enum Held {
    /// In memory, for a small file.
    Bytes(Bytes),
    /// An open file. Several readers share it, so none uses its cursor.
    File(Arc<File>),
}

/// The result of a lookup in the cache.
pub(crate) enum Lookup {
    /// The bytes may be used.
    Found(CachedPath),
    /// The bytes must be verified first: they were written in an earlier boot of the machine, or their last verification is long
    /// ago.
    Unverified(Unverified),
    /// The bytes did not match the digest. The file was dropped.
    Damaged(Digest),
}

/// A file whose bytes may not match its digest.
pub(crate) struct Unverified {
    pub(crate) known: CachedFile,
    pub(crate) file: File,
    /// It was written in an earlier boot of the machine. If its bytes are lost, that is expected and no damage.
    pub(crate) earlier_boot: bool,
}

/// Files up to this size are verified before they are served, larger ones afterwards.
pub(crate) const VERIFIED_FIRST_MAX: u64 = 16 << 20;

/// The bytes of a file that is to be cached.
#[derive(Debug)]
pub(crate) enum CacheInput {
    /// In memory.
    Bytes(Bytes),
    /// In a temporary file.
    File(Box<TemporaryBlob>),
}
