//! The cache of the rendered parts of the dependency API.

use crate::index::name_key::NameKey;
use crate::index::stamped_cache::{Stamped, StampedCache};
use format::gem::dependencies::{Form, Piece};
use std::sync::Arc;
use store::RepositoryId;
use telemetry::{Bound, BoundName};

/// Pieces of gems in memory, limited in bytes.
#[derive(Debug)]
pub(crate) struct Pieces(pub(crate) PieceCache);

type PieceKey = NameKey<(RepositoryId, Form)>;
type PieceCache = StampedCache<PieceKey, Arc<Piece>>;

impl Pieces {
    /// An estimate for the size of the table: the piece of a gem with eight versions, in bytes.
    const TYPICAL: u64 = 1 << 10;

    /// An empty cache of at most this number of bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let entries = usize::try_from(bytes / Self::TYPICAL).unwrap_or(usize::MAX);
        let weigh = |key: &PieceKey, piece: &Stamped<Arc<Piece>>| {
            (PieceCache::ENTRY + key.name.len() + piece.value.size()) as u64
        };
        Self(PieceCache::new(Bound::new(BoundName::Dependencies, "", bytes), entries, weigh))
    }

    /// The bound of the cache.
    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.0.bound()
    }
}
