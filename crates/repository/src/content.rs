//! A file of a tree: where its bytes are now, and its metadata.

use bytes::Bytes;
use format::tree::Checksum;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use store::{Hashes, Held};
use telemetry::{Millis, Reason};
use tokio::sync::watch;

/// A file of a tree and its metadata. Clones share the bytes.
#[derive(Debug, Clone)]
pub struct Content {
    /// Where the bytes are.
    pub source: Source,
    /// The digests. `None` while the file still arrives.
    pub hashes: Option<Hashes>,
    /// The time of the last change, if it is known.
    pub modified: Option<Millis>,
    /// The media type.
    pub media: &'static str,
    /// Whether this path will always have these bytes.
    pub lasting: bool,
    /// When the TTL of an upstream's file ends; `None`: the file never has to be fetched again.
    pub fresh_until: Option<Millis>,
    /// How an upstream's file was obtained; `None`: the file is published here.
    pub freshness: Option<Freshness>,
}

/// How an upstream's file was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freshness {
    /// The work that this request needed.
    pub how: How,
    /// Seconds since the upstream last confirmed the file.
    pub age_s: u64,
}

/// The work that the answer with an upstream's file needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// None: the file was in the cache and fresh.
    Kept,
    /// The file was fetched.
    Fetched,
    /// The file was in the cache, and the upstream confirmed that it has not changed.
    Confirmed,
    /// The request to the upstream failed, so the answer is the last good file.
    Stale(Reason),
}

/// The earlier of two optional moments.
pub(crate) fn soonest(one: Option<Millis>, other: Option<Millis>) -> Option<Millis> {
    one.into_iter().chain(other).min()
}

/// The digest of a file by one algorithm, in lower-case hexadecimal. `None`: it is that of an upstream's file, and nobody has needed it.
pub fn digits(hashes: &Hashes, checksum: Checksum) -> Option<String> {
    match checksum {
        Checksum::Md5 => hashes.md5.clone(),
        Checksum::Sha1 => Some(hashes.sha1.clone()),
        Checksum::Sha256 => Some(hashes.sha256.to_string()),
        Checksum::Sha512 => hashes.sha512.clone(),
    }
}

/// Bytes of a document that cost about as much work as one row.
const ROW_BYTES: u64 = 1024;

/// The number of rows that cost about as much work as a document of this size.
pub(crate) fn rows_of(size_bytes: u64) -> usize {
    usize::try_from(size_bytes / ROW_BYTES).unwrap_or(usize::MAX)
}

impl Content {
    /// The content of a text that was rendered for this request.
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

    /// A checksum as a file: its lower-case hexadecimal digits alone, without a file name or a line end. Every client
    /// reads this form.
    pub(crate) fn checksum(hashes: &Hashes, checksum: Checksum) -> Option<Self> {
        Some(Self::text(digits(hashes, checksum)?, "text/plain"))
    }

    /// All bytes; `None` while they arrive, or if they cannot be read. This may read from the disk.
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
    /// In a file that other requests read at the same time. Read it by offset, never with its cursor.
    File(Arc<File>),
    /// In a file that is still being written.
    Growing(Growing),
}

impl Source {
    /// The bytes, once all are there.
    pub(crate) fn held(&self) -> Option<Held> {
        match self {
            Self::Memory(bytes) => Some(Held::Bytes(bytes.clone())),
            Self::File(file) => Some(Held::File(file.clone())),
            Self::Growing(_) => None,
        }
    }
}

/// A file that is being written while requests read the part that is complete.
#[derive(Debug, Clone)]
pub struct Growing {
    /// The file. Other requests read it at the same time.
    pub file: Arc<File>,
    /// The announced length in bytes; `None`: the upstream announced none.
    pub len: Option<u64>,
    /// The number of bytes that may be read, and whether the file is complete.
    pub grown: watch::Receiver<Grown>,
    /// The expected digests, hexadecimal. The file becomes complete only if its bytes have them.
    pub promised: Arc<[(Checksum, String)]>,
}

/// The state of a [`Growing`] file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grown {
    /// This many bytes may be read; more will follow.
    Going(u64),
    /// The file is complete and verified; this is its length.
    Whole(u64),
    /// The file will never be complete. A client that received a part must see that the reply broke off.
    Broken,
}
