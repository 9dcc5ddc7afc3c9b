//! What proves that a cached file is still what the upstream has.

use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::ttl::{Ttl, TtlState};
use std::time::Duration;
use store::{CachedFile, Digest};
use telemetry::Millis;

/// What proves that a cached file is still what the upstream has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof<'a> {
    /// That the upstream confirmed it a short time ago.
    Age,
    /// That an index of the upstream says this MD5 of it. The index may be ahead of the file, so bytes with another MD5 are answered with
    /// where the upstream fails.
    Md5 {
        /// Hexadecimal.
        said: &'a str,
        /// What is not proven is not asked for again before.
        again: Option<Millis>,
        /// It is not the upstream that says it, so it proves nothing for longer than this.
        lasts: Option<Duration>,
    },
    /// That an index of the upstream says this SHA-256 of it. Bytes with another are never answered with.
    Sha256(Digest),
}

impl Proof<'_> {
    /// Whether the cached bytes are proven to be others than the upstream's.
    pub(crate) fn refutes(self, known: &CachedFile) -> bool {
        matches!(self, Proof::Sha256(sha256) if known.hashes.sha256 != sha256)
    }

    /// How good the cached file is at `now`.
    pub(crate) fn state(self, ttl: Ttl, known: &CachedFile, now: Millis) -> TtlState {
        match self {
            Proof::Age => ttl.at(known.checked, now),
            Proof::Md5 { said, lasts: None, .. } if known.hashes.md5 == said => TtlState::Fresh(None),
            // The index is ahead of the file, or says a wrong digest.
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
