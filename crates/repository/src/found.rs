//! What a repository answers with.

use crate::content::{Content, Freshness, How, Source};
use crate::gem;
use telemetry::Millis;

/// What a repository answers with. Clones share the bytes.
#[derive(Debug, Clone)]
pub enum Found {
    /// The repository is there.
    Root,
    /// An answer of a repository of gems.
    Gem(gem::Found),
    /// A file of a tree.
    Content(Content),
    /// What was uploaded to a tree is there now; `true`: it was not before.
    Kept(bool),
    /// So many files of a tree were taken away.
    Removed(u64),
}

impl Found {
    /// The moment from which on the answer may be another, where that is known.
    pub fn fresh_until(&self) -> Option<Millis> {
        match self {
            Found::Content(content) => content.fresh_until,
            Found::Gem(found) => found.fresh_until(),
            Found::Root | Found::Kept(_) | Found::Removed(_) => None,
        }
    }

    /// The same for the next request, where it is a file, whole and open: nothing has to be done for it then.
    pub(crate) fn again(&self) -> Option<Found> {
        match self {
            Found::Gem(gem::Found::File { .. }) => Some(self.clone()),
            Found::Content(content) if matches!(content.source, Source::File(_)) && content.hashes.is_some() => {
                let freshness = content.freshness.map(|freshness| Freshness { how: How::Kept, ..freshness });
                Some(Found::Content(Content { freshness, ..content.clone() }))
            }
            _ => None,
        }
    }
}
