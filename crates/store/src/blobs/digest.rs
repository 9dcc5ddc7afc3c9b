//! Digests of bytes, all computed in one pass.

use md5::Md5;
use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};
use std::fmt::{self, Write as _};

/// The SHA-256 of bytes: the name of a blob.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl std::str::FromStr for Digest {
    type Err = NotHex;

    fn from_str(text: &str) -> Result<Self, NotHex> {
        unhex(text).map(Self)
    }
}

impl TryFrom<String> for Digest {
    type Error = NotHex;

    fn try_from(text: String) -> Result<Self, NotHex> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// A text is not hexadecimal or has the wrong length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not hexadecimal digits of the right length")]
pub struct NotHex;

pub(crate) fn unhex<const N: usize>(text: &str) -> Result<[u8; N], NotHex> {
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return Err(NotHex);
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| NotHex)?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| NotHex)?;
    }
    Ok(bytes)
}

/// The digests that clients may request, all computed in one pass while the bytes arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hashes {
    /// The name of the blob.
    pub sha256: Digest,
    /// SHA-512, hexadecimal.
    pub sha512: String,
    /// SHA-1, hexadecimal.
    pub sha1: String,
    /// MD5, hexadecimal.
    pub md5: String,
    /// The number of bytes.
    pub size_bytes: u64,
}

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
