//! A file of a repository that is a tree of files: its bytes, wherever they are by now, and what is known of them.

use bytes::Bytes;
use format::tree::Checksum;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use store::Hashes;
use telemetry::{Millis, Reason};
use tokio::sync::watch;

/// A file of a tree, as far as it is known. Clones share the bytes.
#[derive(Debug, Clone)]
pub struct Content {
    /// Its bytes.
    pub source: Source,
    /// Their digests. `None` while they arrive.
    pub hashes: Option<Hashes>,
    /// When they were last changed, where that is known.
    pub modified: Option<Millis>,
    /// Their media type.
    pub media: &'static str,
    /// Whether the path will never have other bytes.
    pub lasting: bool,
    /// From when on it has to be asked for again, where somebody else may change it.
    pub fresh_until: Option<Millis>,
    /// How it came to be answered with, where it is somebody else's.
    pub freshness: Option<Freshness>,
}

/// How a file of an upstream came to be answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freshness {
    /// What was done for it.
    pub how: How,
    /// Seconds since the upstream last proved it.
    pub age_s: u64,
}

/// What was done to answer with a file of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Nothing: it was kept, and good.
    Kept,
    /// It was fetched.
    Fetched,
    /// The upstream was asked, and said that it is as it was.
    Confirmed,
    /// The upstream was asked and failed, so it is what was good last.
    Stale(Reason),
}

/// The earlier of two moments at which something may be otherwise, where there is one.
pub(crate) fn soonest(one: Option<Millis>, other: Option<Millis>) -> Option<Millis> {
    one.into_iter().chain(other).min()
}

/// The digest of a file by one algorithm, in small hexadecimal digits.
pub(crate) fn digits(hashes: &Hashes, checksum: Checksum) -> String {
    match checksum {
        Checksum::Md5 => hashes.md5.clone(),
        Checksum::Sha1 => hashes.sha1.clone(),
        Checksum::Sha256 => hashes.sha256.to_string(),
        Checksum::Sha512 => hashes.sha512.clone(),
    }
}

/// So many bytes of a document are about as much work as a row.
const ROW_BYTES: u64 = 1024;

/// About how many rows are as much work as a document of so many bytes.
pub(crate) fn rows_of(size_bytes: u64) -> usize {
    usize::try_from(size_bytes / ROW_BYTES).unwrap_or(usize::MAX)
}

impl Content {
    /// A text that was made just now.
    pub(crate) fn text(text: String, media: &'static str) -> Self {
        let bytes = Bytes::from(text);
        Self {
            hashes: Some(Hashes::of(&bytes)),
            source: Source::Memory(bytes),
            modified: None,
            media,
            lasting: false,
            fresh_until: None,
            freshness: None,
        }
    }

    /// A checksum as a file: its small hexadecimal digits and no more, which every client reads.
    pub(crate) fn checksum(hashes: &Hashes, checksum: Checksum) -> Self {
        Self::text(digits(hashes, checksum), "text/plain")
    }

    /// The checksum of this file, as good as the file; `None` while that arrives.
    pub(crate) fn sum(&self, checksum: Checksum) -> Option<Self> {
        let Self { source, hashes, media, .. } = Self::checksum(self.hashes.as_ref()?, checksum);
        Some(Self { source, hashes, media, ..self.clone() })
    }

    /// All of its bytes; `None` while they arrive, or where they cannot be read. It may read a file.
    pub(crate) fn bytes(&self) -> Option<Bytes> {
        match &self.source {
            Source::Memory(bytes) => Some(bytes.clone()),
            Source::File(file) => {
                let mut bytes = vec![0; usize::try_from(self.hashes.as_ref()?.size_bytes).ok()?];
                file.read_exact_at(&mut bytes, 0).ok()?;
                Some(bytes.into())
            }
            Source::Growing(_) => None,
        }
    }
}

/// Where the bytes of a [`Content`] are.
#[derive(Debug, Clone)]
pub enum Source {
    /// In memory.
    Memory(Bytes),
    /// In a file, which others read too: never by its cursor.
    File(Arc<File>),
    /// On their way.
    Growing(Growing),
}

/// A file that is written while others read it, up to where it has come.
#[derive(Debug, Clone)]
pub struct Growing {
    /// The file, read by others too.
    pub file: Arc<File>,
    /// How many bytes it will have, where that was announced.
    pub len: Option<u64>,
    /// How far it has come.
    pub grown: watch::Receiver<Grown>,
    /// Digests that are promised, hexadecimal. It becomes whole only if they are right.
    pub promised: Arc<[(Checksum, String)]>,
}

/// How far a [`Growing`] file has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grown {
    /// So many bytes may be read; more will come.
    Going(u64),
    /// So many bytes, and that is all of it, whole and verified.
    Whole(u64),
    /// It will not become whole: whoever was sent a part must not take it for the file.
    Broken,
}
