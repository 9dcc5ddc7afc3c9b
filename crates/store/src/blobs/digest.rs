//! Digests of bytes, all computed in one pass.
//!
//! Hosted files get all of them. Files of upstreams get SHA-256 and SHA-1 while they arrive, and the others when one is
//! needed: MD5 and SHA-512 cost most of the time of hashing, and few clients ask for them.

use md5::Md5;
use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};
use std::fmt::{self, Write as _};

/// The SHA-256 of bytes: the name of a blob.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The first and the last digest that start with this byte.
    pub(crate) fn beginning_with(first: u8) -> (Self, Self) {
        let of = |rest: u8| {
            let mut bytes = [rest; 32];
            bytes[0] = first;
            Self(bytes)
        };
        (of(0), of(u8::MAX))
    }

    /// The digest right before this one; `None`: it is the first.
    pub(crate) fn before(&self) -> Option<Self> {
        let mut bytes = self.0;
        for byte in bytes.iter_mut().rev() {
            let borrows = *byte == 0;
            *byte = byte.wrapping_sub(1);
            if !borrows {
                return Some(Self(bytes));
            }
        }
        None
    }
}

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

/// The digests that clients may request, computed in one pass while the bytes arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hashes {
    /// The name of the blob.
    pub sha256: Digest,
    /// SHA-512, hexadecimal. Only the cached file of an upstream may lack it, until it is needed.
    pub sha512: Option<String>,
    /// SHA-1, hexadecimal.
    pub sha1: String,
    /// MD5, hexadecimal. Only the cached file of an upstream may lack it, until it is needed.
    pub md5: Option<String>,
    /// The number of bytes.
    pub size_bytes: u64,
}

/// The digests that are computed besides SHA-256 and SHA-1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MoreDigests {
    /// Whether MD5 is.
    pub md5: bool,
    /// Whether SHA-512 is.
    pub sha512: bool,
}

impl MoreDigests {
    /// All that are known.
    pub const ALL: Self = Self { md5: true, sha512: true };

    /// These and the others.
    pub fn and(self, others: Self) -> Self {
        Self { md5: self.md5 || others.md5, sha512: self.sha512 || others.sha512 }
    }
}

/// The digests of the bytes so far.
#[derive(Clone)]
pub struct Hashing {
    sha256: Sha256,
    sha512: Option<Sha512>,
    sha1: Sha1,
    md5: Option<Md5>,
    pub(crate) size_bytes: u64,
}

impl Hashing {
    /// Digests of no bytes yet.
    pub fn new(more: MoreDigests) -> Self {
        Self {
            sha256: Sha256::default(),
            sha512: more.sha512.then(Sha512::default),
            sha1: Sha1::default(),
            md5: more.md5.then(Md5::default),
            size_bytes: 0,
        }
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        self.sha1.update(bytes);
        if let Some(sha512) = &mut self.sha512 {
            sha512.update(bytes);
        }
        if let Some(md5) = &mut self.md5 {
            md5.update(bytes);
        }
        self.size_bytes += bytes.len() as u64;
    }

    pub(crate) fn sha256(&self) -> Digest {
        Digest(self.sha256.clone().finalize().into())
    }

    /// The digests of all bytes that were added.
    pub fn finish(self) -> Hashes {
        Hashes {
            sha256: Digest(self.sha256.finalize().into()),
            sha512: self.sha512.map(|sha512| hex(&sha512.finalize())),
            sha1: hex(&self.sha1.finalize()),
            md5: self.md5.map(|md5| hex(&md5.finalize())),
            size_bytes: self.size_bytes,
        }
    }
}

impl Hashes {
    /// All digests of bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self::with(bytes, MoreDigests::ALL)
    }

    /// SHA-256, SHA-1 and `more` of bytes in memory.
    pub fn with(bytes: &[u8], more: MoreDigests) -> Self {
        let mut hashing = Hashing::new(more);
        hashing.update(bytes);
        hashing.finish()
    }

    /// Which digests there are besides SHA-256 and SHA-1.
    pub fn more(&self) -> MoreDigests {
        MoreDigests { md5: self.md5.is_some(), sha512: self.sha512.is_some() }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
