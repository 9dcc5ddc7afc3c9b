//! The rule that proves that a cached file equals the upstream's.

use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::ttl::{Ttl, TtlState};
use std::time::Duration;
use store::{CachedFile, Digest};
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
}

impl Proof<'_> {
    /// Whether the cached bytes are proven to differ from the upstream's.
    pub(crate) fn refutes(self, known: &CachedFile) -> bool {
        matches!(self, Proof::Sha256(sha256) if known.hashes.sha256 != sha256)
    }

    /// The state of the cached file at `now`.
    pub(crate) fn state(self, ttl: Ttl, known: &CachedFile, now: Millis) -> TtlState {
        match self {
            Proof::Age => ttl.at(known.checked, now),
            Proof::Md5 { said, lasts: None, .. } if known.hashes.md5 == said => TtlState::Fresh(None),
            // The index is ahead of the file, or has a wrong digest.
            Proof::Md5 { again: Some(again), .. } if now < again => TtlState::Fresh(Some(again)),
            Proof::Md5 { said, lasts: Some(lasts), .. }
                if known.hashes.md5 == said && now >= known.checked && now < known.checked.plus(lasts) =>
            {
                TtlState::Fresh(Some(known.checked.plus(lasts)))
            }
            Proof::Sha256(sha256) if known.hashes.sha256 == sha256 => TtlState::Fresh(None),
            Proof::Md5 { .. } | Proof::Sha256(_) => TtlState::Stale,
        }
    }

    /// The digests that a fetched file must have.
    pub(crate) fn digests(self) -> DeclaredDigests {
        match self {
            Proof::Sha256(sha256) => DeclaredDigests::indexed(sha256),
            Proof::Age | Proof::Md5 { .. } => DeclaredDigests::default(),
        }
    }
}
