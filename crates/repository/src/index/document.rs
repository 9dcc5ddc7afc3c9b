//! A rendered index: its bytes, and the digests that clients compare.

use crate::content::Freshness;
use bytes::Bytes;
use md5::Md5;
use std::sync::Arc;
use telemetry::Millis;

/// A complete index, with the digests that clients compare. Clones share the bytes.
#[derive(Debug, Clone)]
pub struct Index {
    /// The bytes, in consecutive pieces.
    pub pieces: Arc<[Bytes]>,
    /// The same bytes as one gzip stream, if the index was made with one.
    pub gzip: Option<Arc<[Bytes]>>,
    /// The MD5 of the bytes, hexadecimal.
    pub md5: String,
    /// The SHA-256 of the bytes.
    pub sha256: [u8; 32],
    /// The MD5 state after each prefix whose length is a multiple of [`crate::PIECE`] bytes.
    pub states: Arc<[Md5]>,
    /// When the policy may show other content without any change.
    pub fresh_until: Option<Millis>,
    /// Why it is stale, if it is an upstream's.
    pub freshness: Option<Freshness>,
}
