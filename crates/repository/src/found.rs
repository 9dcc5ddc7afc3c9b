//! The answer of a repository, in the terms of its format.

use crate::content::{Content, Freshness, How, Source};
use crate::{gem, tree};
use telemetry::Millis;

/// The answer of a repository. Clones share the bytes.
#[derive(Debug, Clone)]
pub enum Found {
    /// The repository exists. This answers `/repository/NAME/`.
    Root,
    /// The answer of a repository of gems.
    Gem(gem::Found),
    /// The answer of a repository that is a tree of files.
    Tree(tree::Found),
}

impl Found {
    /// When the answer may change without any change of ours: a TTL or a cooldown ends.
    pub fn fresh_until(&self) -> Option<Millis> {
        match self {
            Found::Tree(tree::Found::Content(content)) => content.fresh_until,
            Found::Gem(found) => found.fresh_until(),
            Found::Tree(tree::Found::Folder(_) | tree::Found::Kept { .. } | tree::Found::Removed { .. })
            | Found::Root => None,
        }
    }

    /// The same answer for the next request, if it is a complete and open file: that request then does no work.
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
