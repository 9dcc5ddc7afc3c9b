//! An index as it is answered with: its bytes, and the digests that clients compare.

use crate::content::Freshness;
use bytes::Bytes;
use md5::Md5;
use std::sync::Arc;
use telemetry::Millis;

/// An index, whole, with the digests that clients compare. Clones share the bytes.
#[derive(Debug, Clone)]
pub struct Index {
    /// The index, one piece after the other.
    pub pieces: Arc<[Bytes]>,
    /// The same as one gzip stream, where that was made with it.
    pub gzip: Option<Arc<[Bytes]>>,
    /// Its MD5, hexadecimal.
    pub md5: String,
    /// Its SHA-256.
    pub sha256: [u8; 32],
    /// The unfinished MD5 of each prefix that is a multiple of [`crate::PIECE`] bytes long.
    pub states: Arc<[Md5]>,
    /// The moment from which on policy may show something else.
    pub fresh_until: Option<Millis>,
    /// Why it is older than it should be, where it is an upstream's.
    pub freshness: Option<Freshness>,
}
