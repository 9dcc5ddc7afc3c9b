//! A file of a repository that is a tree of files: its bytes, wherever they are by now, and what is known of them.

use bytes::Bytes;
use format::tree::Checksum;
use std::fs::File;
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
