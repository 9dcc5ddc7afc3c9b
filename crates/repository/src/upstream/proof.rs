//! The rule that proves that a cached file equals the upstream's.

use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::placed::PlacedFile;
use crate::upstream::ttl::{Ttl, TtlState};
use std::sync::Arc;
use std::time::Duration;
use store::{CachedFile, Digest, MoreDigests};
use telemetry::Millis;

/// The rule that proves that a cached file equals the upstream's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof<'a> {
    /// The upstream confirmed it a short time ago.
    Age,
    /// An index of the upstream has this MD5 for it. The index may be ahead of the file, so bytes with another MD5 are
    /// still the answer if the upstream fails.
    Md5 {
        /// The MD5, hexadecimal.
        said: &'a str,
        /// Bytes with another MD5 are not fetched again before this moment.
        again: Option<Millis>,
        /// Maximum validity of the proof, if the MD5 does not come from the upstream itself.
        lasts: Option<Duration>,
    },
    /// An index of the upstream has this SHA-256 for it. Bytes with another SHA-256 are never the answer.
    Sha256(Digest),
    /// An index of the upstream has its place, its size and its digest.
    Placed {
        /// These.
        file: &'a PlacedFile,
        /// Whether bytes with another digest are never the answer.
        is_strict: bool,
    },
}

/// What an index of the upstream says of a file that is to be fetched.
#[derive(Debug, Clone, Default)]
pub(crate) struct IndexedFile {
    /// Bytes with other digests are always refused.
    pub(crate) digests: DeclaredDigests,
    /// Where it is, if its path at the upstream is another one than here.
    pub(crate) placed: Option<Arc<PlacedFile>>,
    /// The digests that later comparisons with the index need.
    pub(crate) more: MoreDigests,
}

impl Proof<'_> {
    /// Whether the cached bytes are proven to differ from the upstream's.
    pub(crate) fn refutes(self, known: &CachedFile) -> bool {
        match self {
            Proof::Sha256(sha256) => known.hashes.sha256 != sha256,
            Proof::Placed { file, is_strict } => file.refutes(is_strict, known),
            Proof::Age | Proof::Md5 { .. } => false,
        }
    }

    /// The state of the cached file at `now`.
    pub(crate) fn state(self, ttl: Ttl, known: &CachedFile, now: Millis) -> TtlState {
        match self {
            Proof::Age => ttl.at(known.checked, now),
            Proof::Md5 { said, lasts: None, .. } if known.hashes.md5.as_deref() == Some(said) => TtlState::Fresh(None),
            // The index is ahead of the file, or has a wrong digest.
            Proof::Md5 { again: Some(again), .. } if now < again => TtlState::Fresh(Some(again)),
            Proof::Md5 { said, lasts: Some(lasts), .. }
                if known.hashes.md5.as_deref() == Some(said)
                    && now >= known.checked
                    && now < known.checked.plus(lasts) =>
            {
                TtlState::Fresh(Some(known.checked.plus(lasts)))
            }
            Proof::Sha256(sha256) if known.hashes.sha256 == sha256 => TtlState::Fresh(None),
            Proof::Placed { .. } if !self.refutes(known) => TtlState::Fresh(None),
            Proof::Md5 { .. } | Proof::Sha256(_) | Proof::Placed { .. } => TtlState::Stale,
        }
    }

    /// What an index says of the file that is to be fetched.
    pub(crate) fn indexed(self) -> IndexedFile {
        match self {
            Proof::Sha256(sha256) => {
                IndexedFile { digests: DeclaredDigests::indexed(sha256), ..IndexedFile::default() }
            }
            Proof::Placed { file, .. } => {
                let more = file.digests.more();
                IndexedFile { placed: Some(Arc::new(file.clone())), more, ..IndexedFile::default() }
            }
            Proof::Md5 { .. } => {
                IndexedFile { more: MoreDigests { md5: true, sha512: false }, ..IndexedFile::default() }
            }
            Proof::Age => IndexedFile::default(),
        }
    }
}
