//! A path of a raw repository.

use format::tree;

/// A path, which may end with a query. A raw file has no other identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawPath<'a>(pub(crate) &'a str);

impl<'a> RawPath<'a> {
    /// The path without its query: policies and hosted repositories know no other.
    pub(crate) fn without_query(self) -> &'a str {
        tree::split_query(self.0).0
    }
}
