//! Running digests of appended bytes, with saved MD5 states.

use crate::index::document::Index;
use crate::index::rope::PIECE;
use bytes::Bytes;
use md5::Md5;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use telemetry::give_way;

impl Index {
    /// An index of one piece.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        let mut sums = Sums::default();
        sums.add(&bytes);
        sums.index([Bytes::from(bytes)].into(), None)
    }
}

/// Digests that can be read at any time and continued.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    md5: Md5,
    sha256: Sha256,
    /// The state after each complete piece.
    states: Vec<Md5>,
    len: usize,
}

impl Sums {
    pub(crate) fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            give_way();
            let (now, rest) = bytes.split_at(bytes.len().min(PIECE - self.len % PIECE));
            self.sha256.update(now);
            self.md5.update(now);
            self.len += now.len();
            if self.len.is_multiple_of(PIECE) {
                self.states.push(self.md5.clone());
            }
            bytes = rest;
        }
    }

    /// The index of all appended bytes, which are those in `pieces`.
    pub(crate) fn index(&self, pieces: Arc<[Bytes]>, gzip: Option<Arc<[Bytes]>>) -> Index {
        let md5 = self.md5.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let (sha256, states) = (self.sha256.clone().finalize().into(), self.states.as_slice().into());
        Index { pieces, gzip, md5, sha256, states, fresh_until: None, freshness: None }
    }
}
