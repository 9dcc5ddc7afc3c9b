//! All digests of bytes, computed in one pass.

use crate::digest::{Digest, Hashes};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};
use std::fmt::Write as _;

/// The digests of the bytes so far.
#[derive(Clone, Default)]
pub struct Hashing {
    sha256: Sha256,
    sha512: Sha512,
    sha1: Sha1,
    md5: Md5,
    pub(crate) size_bytes: u64,
}

impl Hashing {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        self.sha512.update(bytes);
        self.sha1.update(bytes);
        self.md5.update(bytes);
        self.size_bytes += bytes.len() as u64;
    }

    pub(crate) fn sha256(&self) -> Digest {
        Digest(self.sha256.clone().finalize().into())
    }

    /// The digests of all bytes.
    pub fn finish(self) -> Hashes {
        Hashes {
            sha256: Digest(self.sha256.finalize().into()),
            sha512: hex(&self.sha512.finalize()),
            sha1: hex(&self.sha1.finalize()),
            md5: hex(&self.md5.finalize()),
            size_bytes: self.size_bytes,
        }
    }
}

impl Hashes {
    /// All digests of bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hashing = Hashing::default();
        hashing.update(bytes);
        hashing.finish()
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
