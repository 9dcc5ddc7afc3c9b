//! Checks blobs in object storage: whether it has each of them, with which size, and with `--verify` with which bytes.

use crate::blobs::digest::{Digest, hex};
use crate::error::Result;
use crate::journal::record::Seq;
use crate::objects::Objects;
use crate::objects::blobs::PART_BYTES;
use crate::objects::calls::{ObjectCalls, Piece};
use crate::objects::keys::ObjectBlob;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

/// Object storage that is checked. Blobs are asked for in the order of their digests.
pub(super) struct CheckedObjects {
    calls: Arc<ObjectCalls>,
    /// The first byte of the listed ones.
    first: Option<u8>,
    listed: HashMap<(Digest, Seq), u64>,
}

impl CheckedObjects {
    pub(super) fn new(objects: &Objects) -> Self {
        Self { calls: ObjectCalls::silent(objects), first: None, listed: HashMap::new() }
    }

    /// The size of a blob there; `None`: it is not there.
    pub(super) fn size(&mut self, digest: &Digest, generation: Seq) -> Result<Option<u64>> {
        let first = digest.0[0];
        if self.first != Some(first) {
            let calls = self.calls.clone();
            let listed = self.calls.wait(async move { calls.list(calls.objects.blobs(first)).await })?;
            let blobs = listed.iter().filter_map(|meta| self.calls.objects.read_blob(meta));
            let sizes = blobs.map(|ObjectBlob { digest, generation, size_bytes }| ((digest, generation), size_bytes));
            (self.listed, self.first) = (sizes.collect(), Some(first));
        }
        Ok(self.listed.get(&(*digest, generation)).copied())
    }

    /// The SHA-256 of the bytes there, hexadecimal.
    pub(super) fn sha256(&self, digest: &Digest, generation: Seq, size_bytes: u64) -> Result<String> {
        let (calls, key) = (self.calls.clone(), self.calls.objects.blob(digest, generation));
        self.calls.wait(async move {
            let (mut hash, mut at) = (Sha256::new(), 0);
            while at < size_bytes {
                let length = PART_BYTES.min(size_bytes - at);
                let range = (length < size_bytes).then_some(at..at + length);
                match calls.get(key.clone(), range, length).await? {
                    Some(Piece { bytes, .. }) if bytes.len() as u64 == length => hash.update(&bytes),
                    // The digest tells that it is not whole.
                    _ => break,
                }
                at += length;
            }
            Ok(hex(&hash.finalize()))
        })
    }
}
