//! What proves that a cached file is still what the upstream has.

use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::ttl::{Ttl, TtlState};
use store::{CachedFile, Digest};
use telemetry::Millis;

/// A file that is not the one that the index says is asked for again after so many milliseconds.
const AGAIN_MS: i64 = 5_000;

/// What proves that a cached file is still what the upstream has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof<'a> {
    /// That the upstream confirmed it a short time ago.
    Age,
    /// That an index of the upstream says this MD5 (hexadecimal) of it. The index may be ahead of the file, so bytes with another MD5 are
    /// answered with where the upstream fails.
    Md5(&'a str),
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
        let is_proven = match self {
            Proof::Age => return ttl.at(known.checked, now),
            Proof::Md5(md5) => known.hashes.md5 == md5,
            Proof::Sha256(sha256) => known.hashes.sha256 == sha256,
        };
        let soon = Millis(known.checked.0.saturating_add(AGAIN_MS));
        match is_proven {
            true => TtlState::Fresh(None),
            // The index is ahead of the file, or says a wrong digest.
            false if known.checked <= now && now < soon => TtlState::Fresh(Some(soon)),
            false => TtlState::Stale,
        }
    }

    /// The digests that a fetched file must have.
    pub(crate) fn digests(self) -> DeclaredDigests {
        match self {
            Proof::Sha256(sha256) => DeclaredDigests::indexed(sha256),
            Proof::Age | Proof::Md5(_) => DeclaredDigests::default(),
        }
    }
}
