//! What a repository answers with, in the words of its format.

use crate::content::{Content, Freshness, How, Source};
use crate::{gem, tree};
use telemetry::Millis;

/// What a repository answers with. Clones share the bytes.
#[derive(Debug, Clone)]
pub enum Found {
    /// The repository is there.
    Root,
    /// The answer of a repository of gems.
    Gem(gem::Found),
    /// The answer of a repository that is a tree of files.
    Tree(tree::Found),
}

impl Found {
    /// The moment from which on the answer may be another, where that is known.
    pub fn fresh_until(&self) -> Option<Millis> {
        match self {
            Found::Tree(tree::Found::Content(content)) => content.fresh_until,
            Found::Gem(found) => found.fresh_until(),
            Found::Tree(tree::Found::Kept(_) | tree::Found::Removed(_)) | Found::Root => None,
        }
    }

    /// The same for the next request, where it is a file, whole and open: nothing has to be done for it then.
    pub(crate) fn again(&self) -> Option<Found> {
        match self {
            Found::Gem(gem::Found::File { .. }) => Some(self.clone()),
            Found::Tree(tree::Found::Content(content))
                if matches!(content.source, Source::File(_)) && content.hashes.is_some() =>
            {
                let freshness = content.freshness.map(|freshness| Freshness { how: How::Kept, ..freshness });
                Some(Found::Tree(tree::Found::Content(Content { freshness, ..content.clone() })))
            }
            _ => None,
        }
    }
}
